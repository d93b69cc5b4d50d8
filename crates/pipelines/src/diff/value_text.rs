//! Formats names and values for display, truncated if they are long.

use super::leaf::Leaf;
use sluicegate_base::text;
use std::borrow::Cow;

/// Maximum number of characters of a name.
const MAX_NAME_CHARS: usize = 200;

/// Number of characters that are shown before the first difference in a truncated value.
const LEADING_CHARS: usize = 20;

/// Returns the name, truncated to [`MAX_NAME_CHARS`] characters.
pub(super) fn truncate_name(name: &str) -> String {
    truncate(name, MAX_NAME_CHARS)
}

/// Formats a value without quotes. A text is quoted if it could be mistaken for another type of value, or if it has
/// characters that would not be seen, such as spaces at its ends; the quoted text shows these as escapes.
pub(super) fn format_value(leaf: &Leaf) -> String {
    match leaf {
        Leaf::Text(text) if is_ambiguous(text) => format!("{text:?}"),
        _ => leaf.to_string(),
    }
}

/// Returns whether the text, without quotes, could be mistaken for a number, a boolean, null or an empty value, or has
/// spaces at its ends that would not be seen.
fn is_ambiguous(text: &str) -> bool {
    text.trim() != text
        || matches!(text, "" | "null" | "true" | "false" | "[]" | "{}")
        || text.parse::<f64>().is_ok()
        || has_invisible(text)
}

/// Returns whether the text has a character that [`escape_invisible`] escapes.
fn has_invisible(text: &str) -> bool {
    matches!(escape_invisible(text), Cow::Owned(_))
}

/// Returns whether the character has no width, or looks like a space although it is none.
const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\r' | '\u{a0}' | '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{202f}' | '\u{2060}' | '\u{feff}'
    )
}

/// Returns whether the character is part of a joined emoji: a picture, a modifier of its color or of its form.
const fn is_emoji_part(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

/// Returns a line of a text with escapes in place of the characters that would not be seen. The characters that join
/// emojis are seen as one picture.
pub(super) fn escape_invisible(line: &str) -> Cow<'_, str> {
    if !line.contains(is_invisible) {
        return Cow::Borrowed(line);
    }
    let mut escaped_line = String::with_capacity(line.len());
    let mut previous = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let joins_emojis = c == '\u{200d}'
            && previous.is_some_and(is_emoji_part)
            && chars.peek().is_some_and(|next| is_emoji_part(*next));
        if is_invisible(c) && !joins_emojis {
            escaped_line.extend(c.escape_default());
        } else {
            escaped_line.push(c);
        }
        previous = Some(c);
    }
    if escaped_line == line {
        return Cow::Borrowed(line);
    }
    Cow::Owned(escaped_line)
}

/// Returns the position of the character at which the shown part of two values begins: 0 if both fit into `width`
/// characters, or [`LEADING_CHARS`] before their first difference if this is among the last [`LEADING_CHARS`] of
/// `width` characters, or after them.
pub(super) fn find_truncation_start(base: &str, head: &str, width: usize) -> usize {
    if base.chars().count() <= width && head.chars().count() <= width {
        return 0;
    }
    let shared_length = base.chars().zip(head.chars()).take_while(|(a, b)| a == b).count();
    if shared_length + LEADING_CHARS >= width {
        shared_length.saturating_sub(LEADING_CHARS)
    } else {
        0
    }
}

/// Returns up to `width` characters of the value. If more follow, adds an ellipsis and the number of omitted
/// characters.
pub(super) fn truncate(value: &str, width: usize) -> String {
    let start = 0;
    truncate_from(value, start, width)
}

/// Returns up to `width` characters of the value from position `start` on. Adds an ellipsis where characters are
/// omitted, and the number of characters omitted at the end. Omits none at the end if their number would take as much
/// space as they do.
pub(super) fn truncate_from(value: &str, start: usize, width: usize) -> String {
    let ellipsis = if start > 0 { "\u{2026}" } else { "" };
    let omitted_count = value.chars().count().saturating_sub(start + width);
    let omission = format!(
        "\u{2026} ({})",
        text::format_count(omitted_count, "more character")
    );
    if omitted_count <= omission.chars().count() {
        let end: String = value.chars().skip(start).collect();
        return format!("{ellipsis}{end}");
    }
    let visible_part: String = value.chars().skip(start).take(width).collect();
    format!("{ellipsis}{visible_part}{omission}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_truncated_only_if_this_saves_space() {
        let value = |length: usize| "x".repeat(length);
        assert_eq!(truncate(&value(100), 100), value(100));
        assert_eq!(truncate(&value(122), 100), value(122));
        let truncated_value = truncate(&value(123), 100);
        assert_eq!(
            truncated_value,
            format!("{}\u{2026} (23 more characters)", value(100))
        );
    }

    #[test]
    fn character_that_is_not_seen_is_shown_as_escape() {
        let shown = |text: &str| format_value(&Leaf::Text(text.to_owned()));
        assert_eq!(shown("a b"), "a b");
        assert_eq!(shown("a\u{a0}b"), r#""a\u{a0}b""#);
        assert_eq!(shown("a\u{200b}b"), r#""a\u{200b}b""#);
        assert_eq!(
            shown("a \u{1f468}\u{200d}\u{1f469}"),
            "a \u{1f468}\u{200d}\u{1f469}"
        );
        assert_eq!(shown("a\u{200d}b"), r#""a\u{200d}b""#);
        assert_eq!(escape_invisible("a b\r"), r"a b\r");
        assert_eq!(escape_invisible("é \t"), "é \t");
    }
}
