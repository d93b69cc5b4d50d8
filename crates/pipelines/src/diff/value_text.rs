//! Formats names and values for display, truncated if they are long.

use super::leaf::Leaf;
use sluicegate_base::text;

/// Maximum number of characters of a name.
const MAX_NAME_CHARS: usize = 200;

/// Number of characters that are shown before the first difference in a truncated value.
const LEADING_CHARS: usize = 20;

/// Returns the name, truncated to [`MAX_NAME_CHARS`] characters.
pub(super) fn truncate_name(name: &str) -> String {
    truncate(name, MAX_NAME_CHARS)
}

/// Formats a value without quotes. A text is quoted if it could be mistaken for another type of value, or if spaces at
/// its ends would not be seen.
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
/// omitted, and the number of characters omitted at the end.
pub(super) fn truncate_from(value: &str, start: usize, width: usize) -> String {
    let length = value.chars().count();
    let visible_part: String = value.chars().skip(start).take(width).collect();
    let ellipsis = if start > 0 { "\u{2026}" } else { "" };
    match length.saturating_sub(start + width) {
        0 => format!("{ellipsis}{visible_part}"),
        omitted_count => format!(
            "{ellipsis}{visible_part}\u{2026} ({})",
            text::format_more(omitted_count)
        ),
    }
}
