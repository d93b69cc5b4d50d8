//! Compares two texts line by line.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Number of unchanged lines that are shown before and after a change.
const CONTEXT_LINES: usize = 1;

/// Maximum number of lines of each text that are compared one by one; in longer texts, the differing part is one piece.
/// The time of the search grows with the product of both numbers.
const MAX_COMPARED_LINES: usize = 5_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextLine<'a> {
    Unchanged(&'a str),
    Removed(&'a str),
    Added(&'a str),
    /// This number of equal lines is not shown.
    Omitted(usize),
}

#[cfg(test)]
thread_local! {
    /// The number of calls of [`compare_lines`]: a test checks that no more values are compared than are shown.
    pub(super) static COMPARISONS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Compares two texts and returns the lines that differ, with [`CONTEXT_LINES`] unchanged lines around them. Other
/// unchanged lines between two changes become one [`TextLine::Omitted`]; those before the first change and after the
/// last one are dropped.
pub(super) fn compare_lines<'a>(base_lines: &[&'a str], head_lines: &[&'a str]) -> Vec<TextLine<'a>> {
    // A test checks how many values are compared.
    #[cfg(test)]
    COMPARISONS.set(COMPARISONS.get() + 1);
    let mut lines = Vec::new();
    let mut base_index = 0;
    for group in group_diff_ops(find_diff_operations(base_lines, head_lines), CONTEXT_LINES) {
        let start = group.first().map_or(base_index, |op| op.old_range().start);
        if start > base_index && base_index > 0 {
            lines.push(TextLine::Omitted(start - base_index));
        }
        for operation in group {
            push_operation_lines(&mut lines, operation, base_lines, head_lines);
            base_index = operation.old_range().end;
        }
    }
    lines
}

/// Adds the lines of one operation of the comparison: unchanged lines once, otherwise the removed lines and then the
/// added lines.
fn push_operation_lines<'a>(
    lines: &mut Vec<TextLine<'a>>,
    operation: DiffOp,
    base_lines: &[&'a str],
    head_lines: &[&'a str],
) {
    let old = base_lines.get(operation.old_range()).unwrap_or_default();
    let new = head_lines.get(operation.new_range()).unwrap_or_default();
    if matches!(operation, DiffOp::Equal { .. }) {
        lines.extend(new.iter().map(|line| TextLine::Unchanged(line)));
    } else {
        lines.extend(old.iter().map(|line| TextLine::Removed(line)));
        lines.extend(new.iter().map(|line| TextLine::Added(line)));
    }
}

/// Returns the operations that turn the lines of the base into those of the head. If the lines between the shared
/// beginning and the shared end are more than [`MAX_COMPARED_LINES`], they are replaced in one operation, because
/// comparing them would take too long.
pub(super) fn find_diff_operations(base_lines: &[&str], head_lines: &[&str]) -> Vec<DiffOp> {
    let (prefix_length, suffix_length) = measure_equal_ends(base_lines, head_lines);
    // The numbers of lines between the shared beginning and the shared end.
    let (old_len, new_len) = (
        base_lines.len() - prefix_length - suffix_length,
        head_lines.len() - prefix_length - suffix_length,
    );
    if old_len.max(new_len) <= MAX_COMPARED_LINES {
        return capture_diff_slices(Algorithm::Myers, base_lines, head_lines);
    }
    vec![
        DiffOp::Equal {
            old_index: 0,
            new_index: 0,
            len: prefix_length,
        },
        DiffOp::Replace {
            old_index: prefix_length,
            old_len,
            new_index: prefix_length,
            new_len,
        },
        DiffOp::Equal {
            old_index: prefix_length + old_len,
            new_index: prefix_length + new_len,
            len: suffix_length,
        },
    ]
}

/// Returns the line that the removed line at this index was replaced by, or that the added line replaced: the removed
/// lines are directly above the added ones, in the same order.
pub(super) fn find_other_line<'t>(lines: &[TextLine<'t>], index: usize) -> Option<&'t str> {
    let is_removed = |line: &&TextLine<'_>| matches!(line, TextLine::Removed(_));
    let is_added = |line: &&TextLine<'_>| matches!(line, TextLine::Added(_));
    let first_added = if is_removed(&lines.get(index)?) {
        index + lines.get(index..)?.iter().take_while(is_removed).count()
    } else {
        index - lines.get(..index)?.iter().rev().take_while(is_added).count()
    };
    let removed_count = lines
        .get(..first_added)?
        .iter()
        .rev()
        .take_while(is_removed)
        .count();
    let other_index = if index < first_added {
        index + removed_count
    } else {
        index.checked_sub(removed_count)?
    };
    match (lines.get(index)?, lines.get(other_index)?) {
        (TextLine::Removed(_), TextLine::Added(line)) | (TextLine::Added(_), TextLine::Removed(line)) => {
            Some(line)
        }
        _ => None,
    }
}

/// Returns the lines of the text; no lines if there is no text.
pub(super) fn split_lines(text: Option<&str>) -> Vec<&str> {
    text.map(|text| text.split('\n').collect()).unwrap_or_default()
}

/// Returns the maximum number of lines that the comparison of these texts has, without comparing them: both versions of
/// what is between the shared beginning and the shared end, and the unchanged lines around it.
pub(super) fn count_lines_between_equal_ends(base_lines: &[&str], head_lines: &[&str]) -> usize {
    let (prefix_length, suffix_length) = measure_equal_ends(base_lines, head_lines);
    let equal_length = prefix_length + suffix_length;
    let context_length = prefix_length.min(CONTEXT_LINES) + suffix_length.min(CONTEXT_LINES);
    base_lines.len() + head_lines.len() - 2 * equal_length + context_length
}

/// Returns the number of equal lines at the beginning of both texts, and at their end.
fn measure_equal_ends(base_lines: &[&str], head_lines: &[&str]) -> (usize, usize) {
    let is_equal_pair = |(a, b): &(&&str, &&str)| a == b;
    let prefix_length = base_lines
        .iter()
        .zip(head_lines)
        .take_while(is_equal_pair)
        .count();
    let (old, new) = (&base_lines[prefix_length..], &head_lines[prefix_length..]);
    let suffix_length = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(is_equal_pair)
        .count();
    (prefix_length, suffix_length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(before: &[&str], after: &[&str]) -> Vec<String> {
        let told = |line: TextLine<'_>| match line {
            TextLine::Unchanged(line) => format!(" {line}"),
            TextLine::Removed(line) => format!("-{line}"),
            TextLine::Added(line) => format!("+{line}"),
            TextLine::Omitted(lines) => format!("@{lines}"),
        };
        compare_lines(before, after).into_iter().map(told).collect()
    }

    #[test]
    fn unchanged_lines_between_changes_are_not_changes() {
        let before = ["select", "a", "b", "c", "d", "from t"];
        let after = ["select", "A", "b", "c", "d", "from u"];
        let expected = [" select", "-a", "+A", " b", "@1", " d", "-from t", "+from u"];
        assert_eq!(told(&before, &after), expected);
    }

    #[test]
    fn very_long_texts_differ_in_one_piece() {
        let many: Vec<String> = (0..MAX_COMPARED_LINES * 2).map(|n| n.to_string()).collect();
        let before: Vec<&str> = many.iter().map(String::as_str).collect();
        let after: Vec<&str> = before.iter().rev().copied().collect();
        assert_eq!(compare_lines(&before, &after).len(), 4 * MAX_COMPARED_LINES);
    }

    proptest! {
        #[test]
        fn line_diff_contains_each_differing_line(before in prop::collection::vec("[ab]", 0..12), after in prop::collection::vec("[ab]", 0..12)) {
            let before: Vec<&str> = before.iter().map(String::as_str).collect();
            let after: Vec<&str> = after.iter().map(String::as_str).collect();
            let shown = compare_lines(&before, &after);
            let count = |pick: fn(&TextLine<'_>) -> bool| shown.iter().filter(|line| pick(line)).count();
            let gone = count(|line| matches!(line, TextLine::Removed(_)));
            let new = count(|line| matches!(line, TextLine::Added(_)));
            prop_assert_eq!(before.len() - gone, after.len() - new, "what is left is the same");
            prop_assert_eq!(shown.is_empty(), before == after);
        }
    }
}
