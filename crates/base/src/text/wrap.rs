//! Text in columns: lines broken between words, names shortened at their end or in the middle.

use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Replaces the removed part of a shortened text.
const ELLIPSIS: char = '…';

/// Returns the text in lines of at most `columns`, broken at blanks; a longer word gets its own line. The first
/// line begins with `first_indent`, the others with `next_indent`. A text that fits keeps its blanks.
pub fn wrap_lines(text: &str, first_indent: &str, next_indent: &str, columns: usize) -> Vec<String> {
    if first_indent.width() + text.width() <= columns {
        return vec![format!("{first_indent}{text}")];
    }
    let mut lines = Vec::new();
    let mut line = first_indent.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.width() + 1 + word.width() > columns {
            lines.push(std::mem::replace(&mut line, next_indent.to_owned()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

/// Truncates the text after `max_length` characters. An ellipsis marks the omitted end.
pub fn shorten_end(text: &str, max_length: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max_length) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}{ELLIPSIS}", text.get(..end).unwrap_or_default())),
    }
}

/// Shortens a name to at most `columns`. Keeps its start and its end, which distinguish one path from another.
pub fn shorten_middle(name: &str, columns: usize) -> String {
    if name.width() <= columns {
        return name.to_owned();
    }
    let available_columns = columns.saturating_sub(1);
    let start = take_columns(name.chars(), available_columns / 3);
    let reversed_end = take_columns(name.chars().rev(), available_columns - available_columns / 3);
    let end: String = reversed_end.chars().rev().collect();
    format!("{start}{ELLIPSIS}{end}")
}

/// Returns the first characters that fit into `columns`.
fn take_columns(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used_columns = 0;
    chars
        .take_while(|c| {
            used_columns += c.width().unwrap_or(0);
            used_columns <= columns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        let shown = wrap_lines("one two three four", "- ", "  ", 11);
        assert_eq!(shown, ["- one two", "  three", "  four"]);
        assert_eq!(wrap_lines("averylongword a", "", "", 5), ["averylongword", "a"]);
        assert_eq!(wrap_lines("a  b", "", "", 9), ["a  b"]);
        assert_eq!(wrap_lines("", "- ", "", 9), ["- "]);
    }

    #[test]
    fn shortened_path_keeps_its_start_and_its_end() {
        assert_eq!(shorten_middle("sales/load.orch.yaml", 20), "sales/load.orch.yaml");
        assert_eq!(
            shorten_middle("sales/eu/north/load.orch.yaml", 20),
            "sales/…oad.orch.yaml"
        );
        assert_eq!(shorten_middle("日本日本日本日本", 9).width(), 9);
        assert_eq!(shorten_middle("abc", 1), "…");
    }
}
