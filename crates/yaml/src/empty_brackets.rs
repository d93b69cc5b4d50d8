//! Removes the brackets of an empty list, so that entries can be added on lines of their own.

use crate::document_text::Position;

/// Returns the document without the brackets of the empty list at this position. Comments stay; a line that contained
/// only the brackets is removed. Returns `None` if no pair of brackets begins there, or if something is between them.
pub fn remove_empty_brackets(document: &str, position: Position) -> Option<String> {
    // Positions do not count a byte order mark.
    let text = document.strip_prefix('\u{feff}').unwrap_or(document);
    let byte_order_mark = document.strip_suffix(text)?;
    let mut list = text.get(position.find_offset(text)?..)?;
    // The position of a list with an anchor or a tag is that of the anchor or tag.
    while list.starts_with(['&', '!']) {
        list = list.split_once(' ')?.1.trim_start_matches(' ');
    }
    let text_before = text.strip_suffix(list)?;
    let text_after = list.strip_prefix('[')?.trim_start().strip_prefix(']')?;
    let text_after = text_after.trim_start_matches(' ');
    let Some(next_lines) = strip_line_end(text_after) else {
        return Some(format!("{byte_order_mark}{text_before}{text_after}"));
    };
    let text_before = text_before.trim_end_matches(' ');
    if text_before.is_empty() || text_before.ends_with('\n') {
        Some(format!("{byte_order_mark}{text_before}{next_lines}"))
    } else {
        Some(format!("{byte_order_mark}{text_before}{text_after}"))
    }
}

/// Returns the text after a line end, or `None` if the text does not begin with one. The end of the text is a line end.
fn strip_line_end(text: &str) -> Option<&str> {
    if text.is_empty() {
        return Some(text);
    }
    text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remove(document: &str, line: u32, column: u32) -> Option<String> {
        remove_empty_brackets(document, Position { line, column })
    }

    #[test]
    fn brackets_at_position_are_removed() {
        for (document, line, column, expected) in [
            ("[]\n", 1, 1, ""),
            ("[]", 1, 1, ""),
            ("\u{feff}[ ]\r\n# x\r\n", 1, 1, "\u{feff}# x\r\n"),
            ("--- []\n", 1, 5, "---\n"),
            ("&a !!seq []\n", 1, 1, "&a !!seq\n"),
            ("# a: [] none\na: [] # yet\n", 2, 4, "# a: [] none\na: # yet\n"),
            ("\u{e9}: [\n]\nb: 1\n", 1, 4, "\u{e9}:\nb: 1\n"),
            ("a:\n  []\nb: 1\n", 2, 3, "a:\nb: 1\n"),
        ] {
            assert_eq!(
                remove(document, line, column).as_deref(),
                Some(expected),
                "{document}"
            );
        }
    }

    #[test]
    fn other_text_is_not_removed() {
        for (document, line, column) in [
            ("[1]\n", 1, 1),
            ("[ # none\n]\n", 1, 1),
            ("a: []\n", 1, 1),
            ("a: []\n", 9, 1),
            ("a: []\n", 1, 99),
        ] {
            assert_eq!(remove(document, line, column), None, "{document}");
        }
    }
}
