//! Texts of a picture: names in up to two lines, kinds of links, and the widths of texts.

use super::canvas::{Arrow, Canvas, Mark};
use sluicegate_base::text;
use std::collections::HashMap;

/// Width available for a line of a name, in pixels.
const NAME: i32 = 132;

/// Width available for the type of a component, in pixels.
const KIND: i32 = 136;

/// The width of a double-width letter, such as a Chinese character, in tenths of a pixel.
const WIDE: i32 = 130;

/// The lines of a name in a box: one or two.
pub(super) type NameLines = Vec<String>;

/// Returns the names of all boxes as displayed; they are unique.
pub(super) fn names(canvas: &Canvas) -> Vec<NameLines> {
    let mut seen: HashMap<NameLines, usize> = HashMap::new();
    let unique = |name: &str| {
        let lines = wrapped(&text::escape_line(name), "");
        let number = seen.entry(lines.clone()).or_default();
        *number += 1;
        if *number == 1 {
            return lines;
        }
        let mut number = *number;
        loop {
            let lines = wrapped(&text::escape_line(name), &format!(" ({number})"));
            if seen.insert(lines.clone(), 1).is_none() {
                return lines;
            }
            number += 1;
        }
    };
    let mut unique = unique;
    canvas.boxes.iter().map(|drawn| unique(&drawn.name)).collect()
}

/// Returns the type of a component, truncated to its width.
pub(super) fn kind(name: &str) -> String {
    cut(&text::escape_line(name), KIND)
}

/// Returns the label at the start of each link: the sign of its change and its kind; `None` if both are obvious.
pub(super) fn links(canvas: &Canvas) -> Vec<Option<String>> {
    let several = canvas.several_kinds();
    let label = |arrow: &Arrow| {
        let is_plain = matches!(arrow.kind.as_str(), "unconditional" | "source") && !several[arrow.from];
        let kind = text::escape_line(&arrow.kind);
        match (arrow.mark, is_plain) {
            (Mark::Same, true) => None,
            (mark, true) => Some(mark.sign().to_owned()),
            (Mark::Same, false) => Some(kind),
            (mark, false) => Some(format!("{} {kind}", mark.sign())),
        }
    };
    canvas.arrows.iter().map(label).collect()
}

/// Returns the approximate width of the text at 11 pixels.
pub(super) fn width(text: &str) -> i32 {
    tenths(text) * 11 / 120
}

/// Returns the width at 12 pixels, in tenths of a pixel, slightly more than common fonts need.
fn tenths(text: &str) -> i32 {
    let letter = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | '\'' | ':' | ';' | '|' | '!' => 32,
        'f' | 't' | 'r' | ' ' | '(' | ')' | '[' | ']' | '-' => 46,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 108,
        'A'..='Z' | '&' | '+' | '\u{2212}' | '~' => 84,
        c if c.is_ascii() => 70,
        c if unicode_width::UnicodeWidthChar::width(c) == Some(1) => 84,
        _ => WIDE,
    };
    text.chars().map(letter).sum()
}

/// Wraps the text into at most two lines with `suffix` at the end; a text that is too long is shortened in the middle.
fn wrapped(name: &str, suffix: &str) -> NameLines {
    let whole = format!("{name}{suffix}");
    if tenths(&whole) <= NAME * 10 {
        return vec![whole];
    }
    let (first, rest) = broken(&whole);
    if tenths(rest) <= NAME * 10 {
        return vec![first.to_owned(), rest.to_owned()];
    }
    let room = NAME * 10 - tenths(suffix) - WIDE;
    let mut tail: Vec<char> = Vec::new();
    let mut used = 0;
    for c in name.chars().rev() {
        used += tenths(c.encode_utf8(&mut [0; 4]));
        if used > room {
            break;
        }
        tail.push(c);
    }
    let tail: String = tail.into_iter().rev().collect();
    let start = cut(name, NAME);
    vec![
        start.trim_end_matches('\u{2026}').trim_end().to_owned(),
        format!("\u{2026}{}{suffix}", tail.trim_start()),
    ]
}

/// Returns the first line, broken after a word if one ends in its second half, and the rest.
fn broken(text: &str) -> (&str, &str) {
    let mut end = text.len();
    let mut used = 0;
    let mut word = None;
    for (at, c) in text.char_indices() {
        used += tenths(c.encode_utf8(&mut [0; 4]));
        if used > NAME * 10 {
            end = at;
            break;
        }
        if matches!(c, ' ' | '_' | '-' | '.' | '/') && used > NAME * 5 {
            word = Some(at + c.len_utf8());
        }
    }
    let (first, rest) = text.split_at(word.unwrap_or(end));
    (first.trim_end(), rest.trim_start())
}

/// Truncates the text to this number of pixels; a truncated text ends in `…`.
fn cut(text: &str, room: i32) -> String {
    if tenths(text) <= room * 10 {
        return text.to_owned();
    }
    let (mut used, mut shown) = (WIDE, String::new());
    for c in text.chars() {
        used += tenths(c.encode_utf8(&mut [0; 4]));
        if used > room * 10 {
            break;
        }
        shown.push(c);
    }
    shown + "\u{2026}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_has_two_lines_and_is_cut_in_its_middle() {
        assert_eq!(wrapped("Load orders", ""), ["Load orders"]);
        assert_eq!(
            wrapped("Load all orders of the last quarter", ""),
            ["Load all orders of", "the last quarter"]
        );
        assert_eq!(
            wrapped(
                "SF_REPLICATE_OPPORTUNITY_LINE_ITEMS_INTO_THE_SILVER_SCHEMA_2024",
                ""
            ),
            ["SF_REPLICATE_O", "…ER_SCHEMA_2024"]
        );
        assert_eq!(wrapped(&"x".repeat(300), " (2)")[1].chars().last(), Some(')'));
        assert_eq!(wrapped("名前の長いコンポーネントの名前の終わり", "").len(), 2);
    }
}
