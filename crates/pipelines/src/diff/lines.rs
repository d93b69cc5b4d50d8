//! Compares two texts line by line.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Number of unchanged lines that are shown before and after a change.
const AROUND: usize = 1;

/// Maximum number of lines of each side that are compared one by one; in longer texts, the differing part is one piece.
/// The time of the search grows with the product of both numbers.
const COMPARED: usize = 5_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextLine<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
    /// This number of equal lines is not shown.
    Skipped(usize),
}

#[cfg(test)]
thread_local! {
    /// The number of compared values.
    pub(super) static COMPARISONS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Returns the lines that differ, with the lines around them.
pub(super) fn compare<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<TextLine<'a>> {
    #[cfg(test)]
    COMPARISONS.set(COMPARISONS.get() + 1);
    let mut shown = Vec::new();
    let mut reached = 0;
    for group in group_diff_ops(operations(before, after), AROUND) {
        let start = group.first().map_or(reached, |op| op.old_range().start);
        if start > reached && reached > 0 {
            shown.push(TextLine::Skipped(start - reached));
        }
        for operation in group {
            push(&mut shown, operation, before, after);
            reached = operation.old_range().end;
        }
    }
    shown
}

fn push<'a>(shown: &mut Vec<TextLine<'a>>, operation: DiffOp, before: &[&'a str], after: &[&'a str]) {
    let old = before.get(operation.old_range()).unwrap_or_default();
    let new = after.get(operation.new_range()).unwrap_or_default();
    if matches!(operation, DiffOp::Equal { .. }) {
        shown.extend(new.iter().map(|line| TextLine::Same(line)));
    } else {
        shown.extend(old.iter().map(|line| TextLine::Gone(line)));
        shown.extend(new.iter().map(|line| TextLine::New(line)));
    }
}

fn operations(before: &[&str], after: &[&str]) -> Vec<DiffOp> {
    let same = |(a, b): &(&&str, &&str)| a == b;
    let start = before.iter().zip(after).take_while(same).count();
    let (old, new) = (&before[start..], &after[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let (old_len, new_len) = (old.len() - end, new.len() - end);
    if old_len.max(new_len) <= COMPARED {
        return capture_diff_slices(Algorithm::Myers, before, after);
    }
    let equal = |old_index, new_index, len| DiffOp::Equal {
        old_index,
        new_index,
        len,
    };
    let replaced = DiffOp::Replace {
        old_index: start,
        old_len,
        new_index: start,
        new_len,
    };
    vec![
        equal(0, 0, start),
        replaced,
        equal(start + old_len, start + new_len, end),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(before: &[&str], after: &[&str]) -> Vec<String> {
        let told = |line: TextLine<'_>| match line {
            TextLine::Same(line) => format!(" {line}"),
            TextLine::Gone(line) => format!("-{line}"),
            TextLine::New(line) => format!("+{line}"),
            TextLine::Skipped(lines) => format!("@{lines}"),
        };
        compare(before, after).into_iter().map(told).collect()
    }

    #[test]
    fn line_between_two_changes_is_not_shown_as_changed() {
        let before = ["select", "a", "b", "c", "d", "from t"];
        let after = ["select", "A", "b", "c", "d", "from u"];
        let expected = [" select", "-a", "+A", " b", "@1", " d", "-from t", "+from u"];
        assert_eq!(told(&before, &after), expected);
    }

    #[test]
    fn very_long_texts_are_compared_as_one_piece() {
        let many: Vec<String> = (0..COMPARED * 2).map(|n| n.to_string()).collect();
        let before: Vec<&str> = many.iter().map(String::as_str).collect();
        let after: Vec<&str> = before.iter().rev().copied().collect();
        assert_eq!(compare(&before, &after).len(), 4 * COMPARED);
    }

    proptest! {
        #[test]
        fn every_line_that_differs_is_there(before in prop::collection::vec("[ab]", 0..12), after in prop::collection::vec("[ab]", 0..12)) {
            let before: Vec<&str> = before.iter().map(String::as_str).collect();
            let after: Vec<&str> = after.iter().map(String::as_str).collect();
            let shown = compare(&before, &after);
            let count = |pick: fn(&TextLine<'_>) -> bool| shown.iter().filter(|line| pick(line)).count();
            let gone = count(|line| matches!(line, TextLine::Gone(_)));
            let new = count(|line| matches!(line, TextLine::New(_)));
            prop_assert_eq!(before.len() - gone, after.len() - new, "what is left is the same");
            prop_assert_eq!(shown.is_empty(), before == after);
        }
    }
}
