//! Formats names and values for display, truncated if they are long.

use super::leaf::Leaf;
use sluicegate_base::text;

/// Maximum number of characters of a name.
const NAME_WIDTH: usize = 200;

/// Number of characters that are shown before the first difference in a truncated value.
const LEAD: usize = 20;

/// Returns the name, truncated.
pub(super) fn named(name: &str) -> String {
    cut(name, 0, NAME_WIDTH)
}

/// Returns the value as people write it; a text that could be read as something else is quoted.
pub(super) fn value(leaf: &Leaf) -> String {
    let shown = leaf.to_string();
    let is_other = |text: &str| {
        text.trim() != text
            || matches!(text, "" | "null" | "true" | "false" | "[]" | "{}")
            || text.parse::<f64>().is_ok()
    };
    match leaf {
        Leaf::Text(text) if is_other(text) => format!("{text:?}"),
        _ => shown,
    }
}

/// Returns where the shown part of two values begins: at their start, or shortly before their first difference if that
/// would be cut off.
pub(super) fn cut_from(before: &str, after: &str, width: usize) -> usize {
    let same = before.chars().zip(after.chars()).take_while(|(a, b)| a == b);
    match same.count() {
        same if same + LEAD >= width => same.saturating_sub(LEAD),
        _ => 0,
    }
}

/// Returns up to `width` characters from `start` on, and the number of omitted ones.
pub(super) fn cut(value: &str, start: usize, width: usize) -> String {
    let length = value.chars().count();
    let shown: String = value.chars().skip(start).take(width).collect();
    let before = if start > 0 { "\u{2026}" } else { "" };
    match length.saturating_sub(start + width) {
        0 => format!("{before}{shown}"),
        omitted => format!("{before}{shown}\u{2026} ({})", text::format_more(omitted)),
    }
}
