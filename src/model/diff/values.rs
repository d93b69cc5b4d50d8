//! Names and values as they are shown: as people write them, cut where they are long.

use super::leaf::Leaf;

/// Characters of a name.
const NAME_WIDTH: usize = 200;

/// Characters that stand before the first one that differs, where a value is cut.
const LEAD: usize = 20;

/// A name, cut.
pub(super) fn named(name: &str) -> String {
    cut(name, 0, NAME_WIDTH)
}

/// A value as people write it; a text that would read as something else is quoted.
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

/// Where the shown part of two values begins: at their start, or where they begin to differ, if that would be cut off.
pub(super) fn cut_from(before: &str, after: &str, width: usize) -> usize {
    let same = before.chars().zip(after.chars()).take_while(|(a, b)| a == b);
    match same.count() {
        same if same + LEAD >= width => same.saturating_sub(LEAD),
        _ => 0,
    }
}

/// So many characters from `start` on, and how many more there are.
pub(super) fn cut(value: &str, start: usize, width: usize) -> String {
    let length = value.chars().count();
    let shown: String = value.chars().skip(start).take(width).collect();
    let before = if start > 0 { "\u{2026}" } else { "" };
    match length.saturating_sub(start + width) {
        0 => format!("{before}{shown}"),
        more => format!("{before}{shown}\u{2026} ({more} more)"),
    }
}
