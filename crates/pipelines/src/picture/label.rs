//! Texts of a picture: names in up to two lines, kinds of links, and the widths of texts.

use super::canvas::{Arrow, Canvas, ChangeMark};
use sluicegate_base::text;
use std::collections::HashMap;

/// Width available for a line of a name, in pixels.
const NAME_WIDTH: i32 = 132;

/// Width available for the type of a component, in pixels.
const KIND_WIDTH: i32 = 136;

/// The width of a double-width letter, such as a Chinese character, in tenths of a pixel.
const WIDE_CHAR_WIDTH: i32 = 130;

/// The lines of a name in a box: one or two.
pub(super) type NameLines = Vec<String>;

/// Returns the names of all boxes as displayed; they are unique.
pub(super) fn display_names(canvas: &Canvas) -> Vec<NameLines> {
    let mut used_lines: HashMap<NameLines, usize> = HashMap::new();
    canvas
        .boxes
        .iter()
        .map(|canvas_box| make_unique(&mut used_lines, &text::escape_line(&canvas_box.name)))
        .collect()
}

/// Returns the lines of a name, with the first number that makes them unique if the lines are in `used_lines`.
fn make_unique(used_lines: &mut HashMap<NameLines, usize>, name: &str) -> NameLines {
    let lines = wrap_name(name, "");
    let count = used_lines.entry(lines.clone()).or_default();
    *count += 1;
    if *count == 1 {
        return lines;
    }
    let mut number = *count;
    loop {
        let lines = wrap_name(name, &format!(" ({number})"));
        if used_lines.insert(lines.clone(), 1).is_none() {
            return lines;
        }
        number += 1;
    }
}

/// Returns the type of a component, truncated to its width.
pub(super) fn truncate_kind(name: &str) -> String {
    truncate(&text::escape_line(name), KIND_WIDTH)
}

/// Returns the label at the start of each link: the sign of its change and its kind; `None` if both are obvious.
pub(super) fn link_labels(canvas: &Canvas) -> Vec<Option<String>> {
    let has_several_kinds = canvas.boxes_with_several_link_kinds();
    canvas
        .arrows
        .iter()
        .map(|arrow| link_label(arrow, has_several_kinds[arrow.from_box]))
        .collect()
}

fn link_label(arrow: &Arrow, has_several_kinds: bool) -> Option<String> {
    let is_plain = matches!(arrow.kind.as_str(), "unconditional" | "source") && !has_several_kinds;
    let kind = text::escape_line(&arrow.kind);
    match (arrow.mark, is_plain) {
        (ChangeMark::Unchanged, true) => None,
        (mark, true) => Some(mark.sign().to_owned()),
        (ChangeMark::Unchanged, false) => Some(kind),
        (mark, false) => Some(format!("{} {kind}", mark.sign())),
    }
}

/// Returns the approximate width of the text at 11 pixels.
pub(super) fn text_width(text: &str) -> i32 {
    width_in_tenths(text) * 11 / 120
}

/// Returns the width at 12 pixels, in tenths of a pixel, slightly more than common fonts need.
fn width_in_tenths(text: &str) -> i32 {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> i32 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | '\'' | ':' | ';' | '|' | '!' => 32,
        'f' | 't' | 'r' | ' ' | '(' | ')' | '[' | ']' | '-' => 46,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 108,
        'A'..='Z' | '&' | '+' | '\u{2212}' | '~' => 84,
        c if c.is_ascii() => 70,
        c if unicode_width::UnicodeWidthChar::width(c) == Some(1) => 84,
        _ => WIDE_CHAR_WIDTH,
    }
}

/// Wraps the text into at most two lines with `suffix` at the end; a text that is too long is shortened in the middle.
fn wrap_name(name: &str, suffix: &str) -> NameLines {
    let full_text = format!("{name}{suffix}");
    if width_in_tenths(&full_text) <= NAME_WIDTH * 10 {
        return vec![full_text];
    }
    let (first_line, second_line) = break_line(&full_text);
    if width_in_tenths(second_line) <= NAME_WIDTH * 10 {
        return vec![first_line.to_owned(), second_line.to_owned()];
    }
    let remaining_width = NAME_WIDTH * 10 - width_in_tenths(suffix) - WIDE_CHAR_WIDTH;
    let mut tail: Vec<char> = Vec::new();
    let mut used_width = 0;
    for c in name.chars().rev() {
        used_width += width_in_tenths(c.encode_utf8(&mut [0; 4]));
        if used_width > remaining_width {
            break;
        }
        tail.push(c);
    }
    let tail: String = tail.into_iter().rev().collect();
    let shown_start = truncate(name, NAME_WIDTH);
    vec![
        shown_start.trim_end_matches('\u{2026}').trim_end().to_owned(),
        format!("\u{2026}{}{suffix}", tail.trim_start()),
    ]
}

/// Returns the first line, broken after a word if one ends in its second half, and the rest.
fn break_line(text: &str) -> (&str, &str) {
    let mut end = text.len();
    let mut used_width = 0;
    let mut word_end = None;
    for (index, c) in text.char_indices() {
        used_width += width_in_tenths(c.encode_utf8(&mut [0; 4]));
        if used_width > NAME_WIDTH * 10 {
            end = index;
            break;
        }
        if matches!(c, ' ' | '_' | '-' | '.' | '/') && used_width > NAME_WIDTH * 5 {
            word_end = Some(index + c.len_utf8());
        }
    }
    let (first_line, second_line) = text.split_at(word_end.unwrap_or(end));
    (first_line.trim_end(), second_line.trim_start())
}

/// Truncates the text to this number of pixels; a truncated text ends in `…`.
fn truncate(text: &str, max_width: i32) -> String {
    if width_in_tenths(text) <= max_width * 10 {
        return text.to_owned();
    }
    let (mut used_width, mut visible_text) = (WIDE_CHAR_WIDTH, String::new());
    for c in text.chars() {
        used_width += width_in_tenths(c.encode_utf8(&mut [0; 4]));
        if used_width > max_width * 10 {
            break;
        }
        visible_text.push(c);
    }
    visible_text + "\u{2026}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_name_has_two_lines_and_is_shortened_in_middle() {
        assert_eq!(wrap_name("Load orders", ""), ["Load orders"]);
        assert_eq!(
            wrap_name("Load all orders of the last quarter", ""),
            ["Load all orders of", "the last quarter"]
        );
        assert_eq!(
            wrap_name(
                "SF_REPLICATE_OPPORTUNITY_LINE_ITEMS_INTO_THE_SILVER_SCHEMA_2024",
                ""
            ),
            ["SF_REPLICATE_O", "…ER_SCHEMA_2024"]
        );
        assert_eq!(wrap_name(&"x".repeat(300), " (2)")[1].chars().last(), Some(')'));
        assert_eq!(wrap_name("名前の長いコンポーネントの名前の終わり", "").len(), 2);
    }
}
