//! Formats names and values for display, truncated if they are long.

use super::leaf::Leaf;
use sluicegate_base::text;
use std::borrow::Cow;

/// Maximum number of characters of a name.
const MAX_NAME_CHARS: usize = 200;

/// Maximum number of characters that are shown before the first difference in a truncated value.
const LEADING_CHARS: usize = 20;

/// Number of characters of a truncated value that are shown even in a narrow terminal.
const MIN_VISIBLE_CHARS: usize = 20;

/// Returns the name, truncated to [`MAX_NAME_CHARS`] characters.
pub(super) fn truncate_name(name: &str) -> String {
    truncate(name, MAX_NAME_CHARS)
}

/// Returns the new and the old name of a renamed component, truncated. Both are quoted if a reader would not see their
/// difference, because one of them has blanks at an end, several blanks in a row, or characters without a width.
pub(crate) fn format_renamed_names(name: &str, previous_name: &str) -> (String, String) {
    let (name, previous_name) = (truncate_name(name), truncate_name(previous_name));
    if has_unseen_character(&name) || has_unseen_character(&previous_name) {
        (format!("{name:?}"), format!("{previous_name:?}"))
    } else {
        (name, previous_name)
    }
}

/// Returns whether the name has blanks or other characters that would not be seen.
fn has_unseen_character(name: &str) -> bool {
    name.trim() != name || name.contains("  ") || has_invisible(name)
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

/// Returns both values, truncated to `width` characters. Both begin at the same position, from which their first
/// difference is visible.
pub(super) fn truncate_pair(base: &str, head: &str, width: usize) -> (String, String) {
    let start = find_truncation_start(base, head, width);
    (
        truncate_from(base, start, width),
        truncate_from(head, start, width),
    )
}

/// Returns the position of the character at which the shown part of two values begins: 0 if both fit into `width`
/// characters or if their first difference is among the first characters of a truncated value. Otherwise, up to
/// [`LEADING_CHARS`] characters before the difference are shown.
fn find_truncation_start(base: &str, head: &str, width: usize) -> usize {
    let longest_length = base.chars().count().max(head.chars().count());
    if longest_length <= width {
        return 0;
    }
    let visible_length = count_visible_chars(longest_length, width);
    let leading_length = LEADING_CHARS.min(visible_length / 2);
    let shared_length = base.chars().zip(head.chars()).take_while(|(a, b)| a == b).count();
    if shared_length + leading_length >= visible_length {
        shared_length.saturating_sub(leading_length)
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

/// Returns the value from position `start` on, in up to `width` characters. Adds an ellipsis where characters are
/// omitted, and the number of all omitted characters at the end. At least [`MIN_VISIBLE_CHARS`] characters of the value
/// are shown.
fn truncate_from(value: &str, start: usize, width: usize) -> String {
    let length = value.chars().count();
    if start == 0 && length <= width {
        return value.to_owned();
    }
    let visible_length = count_visible_chars(length, width);
    let visible_part: String = value.chars().skip(start).take(visible_length).collect();
    let omitted_count = length - visible_part.chars().count();
    let omission = format_omission(omitted_count);
    // In a narrow terminal, the number may take more space than the characters that it counts.
    if start == 0 && omitted_count <= omission.chars().count() {
        return value.to_owned();
    }
    let leading_ellipsis = if start > 0 { "\u{2026}" } else { "" };
    let trailing_ellipsis = if start + visible_length < length {
        "\u{2026}"
    } else {
        ""
    };
    format!("{leading_ellipsis}{visible_part}{trailing_ellipsis}{omission}")
}

/// Returns the number of characters of a truncated value of this length that are shown in `width` characters, together
/// with the ellipses and the number of omitted characters.
fn count_visible_chars(length: usize, width: usize) -> usize {
    let (ellipses_length, omission_length) = (2, format_omission(length).chars().count());
    width
        .saturating_sub(ellipses_length + omission_length)
        .max(MIN_VISIBLE_CHARS)
}

/// Returns the number of characters that are omitted from a value.
fn format_omission(omitted_count: usize) -> String {
    format!(" ({})", text::format_count(omitted_count, "more character"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_value_fits_width_together_with_its_count() {
        let value = |length: usize| "x".repeat(length);
        assert_eq!(truncate(&value(100), 100), value(100));
        for length in [101, 123, 4_000] {
            let truncated_value = truncate(&value(length), 100);
            let visible_count = truncated_value.matches('x').count();
            assert!(visible_count > 70 && truncated_value.chars().count() <= 100);
            let omission = text::format_count(length - visible_count, "more character");
            assert!(
                truncated_value.ends_with(&format!("x\u{2026} ({omission})")),
                "{truncated_value}"
            );
        }
        // The number would take more space than the omitted characters.
        assert_eq!(truncate(&value(30), 20), value(30));
    }

    #[test]
    fn truncated_values_differ_in_every_width() {
        let value = |end: &str| format!("select {}{end} from t", "x, ".repeat(30));
        for width in 0..130 {
            let (base, head) = truncate_pair(&value("a"), &value("b"), width);
            assert_ne!(base, head, "{width}");
            assert!(base.chars().count() <= width.max(45), "{width}: {base}");
        }
        let (base, _) = truncate_pair(&value("a"), &value("b"), 60);
        let omitted_count = value("a").len()
            - base
                .split(" (")
                .next()
                .unwrap_or_default()
                .replace('\u{2026}', "")
                .len();
        assert!(
            base.starts_with('\u{2026}') && base.ends_with(&format!(" ({omitted_count} more characters)")),
            "{base}"
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
