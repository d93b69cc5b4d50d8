//! Keeps names of right-to-left scripts apart, so that a path is read from its top directory to the file.
//!
//! Without isolation, a browser turns a row of such names around: a path would begin with the name of the file, its top
//! directory would be in front of `.orch.yaml`, and the arrow between two names would point to the wrong one. Messages
//! and values of the file stay in one piece: their sentences are read from right to left.

use sluicegate_base::text::escape_markup as escape;

/// Escapes a path, or a sentence that contains paths, with the right-to-left name of each directory and file in a `bdi`
/// element.
pub(super) fn escape_path(path: &str) -> String {
    isolate_parts(path, "/")
}

/// Escapes a line about a change, with the right-to-left text on each side of an arrow in a `bdi` element.
pub(super) fn escape_arrow_line(line: &str) -> String {
    isolate_parts(line, " -> ")
}

/// Escapes the text. Keeps the parts between the separators in their order.
fn isolate_parts(text: &str, separator: &str) -> String {
    if !text.contains(is_right_to_left) {
        return escape(text);
    }
    let parts: Vec<String> = text.split(separator).map(isolate_part).collect();
    parts.join(&escape(separator))
}

/// Escapes the text, with each right-to-left part of it in an element.
fn isolate_part(text: &str) -> String {
    let mut html = String::new();
    let mut remaining_text = text;
    while let Some(start) = remaining_text.find(is_right_to_left) {
        let (start_text, tail) = remaining_text.split_at(start);
        let (name, tail) = tail.split_at(find_right_to_left_end(tail));
        html.push_str(&escape(start_text));
        html.push_str("<bdi>");
        html.push_str(&escape(name));
        html.push_str("</bdi>");
        remaining_text = tail;
    }
    html + &escape(remaining_text)
}

/// Returns the length of the right-to-left part at the start of the text: up to the last such character before a letter
/// of another script, with a number that follows. The browser shows all of it from right to left in any case.
fn find_right_to_left_end(text: &str) -> usize {
    let mut end = 0;
    for (index, c) in text.char_indices() {
        if is_right_to_left(c) || (c.is_numeric() && text[end..index].chars().all(is_inside_name)) {
            end = index + c.len_utf8();
        } else if c.is_alphabetic() {
            break;
        }
    }
    end
}

/// Returns whether the character can be between the words and the numbers of one name.
const fn is_inside_name(c: char) -> bool {
    matches!(c, ' ' | '_' | '-')
}

/// Returns whether the character belongs to a script that is written from right to left, such as Arabic or Hebrew.
const fn is_right_to_left(c: char) -> bool {
    matches!(
        c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}' | '\u{10800}'..='\u{10fff}'
            | '\u{1e800}'..='\u{1efff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_a_path_is_isolated() {
        assert_eq!(
            escape_path("\u{5d0}\u{5d1}/\u{5d2} 5 \u{5d3}/\u{5d4} 5.yaml"),
            "<bdi>\u{5d0}\u{5d1}</bdi>/<bdi>\u{5d2} 5 \u{5d3}</bdi>/<bdi>\u{5d4} 5</bdi>.yaml"
        );
        // A quotation mark belongs to the word.
        assert_eq!(
            escape_path("\u{5d3}\u{5d5}\"\u{5d7}/a.yaml"),
            "<bdi>\u{5d3}\u{5d5}&#34;\u{5d7}</bdi>/a.yaml"
        );
        assert_eq!(
            escape_path("sales/\u{e9}t\u{e9} <5>.yaml"),
            escape("sales/\u{e9}t\u{e9} <5>.yaml")
        );
    }

    #[test]
    fn both_sides_of_an_arrow_are_isolated_and_a_sentence_stays_in_one_piece() {
        assert_eq!(
            escape_arrow_line("\u{5d0} -> \u{5d1} (a, 5)"),
            format!("<bdi>\u{5d0}</bdi>{}<bdi>\u{5d1}</bdi> (a, 5)", escape(" -> "))
        );
        assert_eq!(
            escape_arrow_line("note: \u{5d0}, \u{5d1}/\u{5d2}. \u{5d3} is \u{5d4}."),
            "note: <bdi>\u{5d0}, \u{5d1}/\u{5d2}. \u{5d3}</bdi> is <bdi>\u{5d4}</bdi>."
        );
    }
}
