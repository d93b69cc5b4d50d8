//! Formats step outputs, to be appended to the file in `GITHUB_OUTPUT`.
//!
//! <https://docs.github.com/actions/reference/workflow-commands-for-github-actions#multiline-strings>

use std::fmt::Write as _;
use uuid::Uuid;

/// Returns the lines for the file `GITHUB_OUTPUT`, in the form `name<<DELIMITER`, which allows line breaks in values.
/// `seed` must be random: it is part of the delimiter, and a value that contains the delimiter could add outputs.
pub fn format_outputs(pairs: &[(&str, String)], seed: Uuid) -> String {
    let mut lines = String::new();
    for (name, value) in pairs {
        let delimiter = choose_delimiter(value, seed);
        let _ = writeln!(lines, "{name}<<{delimiter}\n{value}\n{delimiter}");
    }
    lines
}

/// Returns a delimiter that does not occur in the value: it has as many trailing `_` as needed.
fn choose_delimiter(value: &str, seed: Uuid) -> String {
    let mut delimiter = format!("sluicegate_{}", seed.simple());
    while value.contains(&delimiter) {
        delimiter.push('_');
    }
    delimiter
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Parses the outputs like the runner: the name, and the lines up to the delimiter.
    fn read(lines: &str) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        let mut rest = lines;
        while let Some((head, after)) = rest.split_once('\n') {
            let (name, delimiter) = head.split_once("<<").unwrap();
            let end = format!("\n{delimiter}\n");
            let (value, after) = after.split_once(end.as_str()).unwrap();
            pairs.push((name.to_owned(), value.to_owned()));
            rest = after;
        }
        pairs
    }

    #[test]
    fn values_with_line_breaks_and_even_the_delimiter_read_back() {
        let seed = Uuid::from_u128(7);
        let hostile = format!("a\nsluicegate_{}\nverdict=passed\nx<<y", seed.simple());
        let pairs = [
            ("verdict", "failed".to_owned()),
            ("junit", hostile.clone()),
            ("digest", String::new()),
        ];
        let expected = [("verdict", "failed"), ("junit", &hostile), ("digest", "")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(read(&format_outputs(&pairs, seed)), expected);
    }

    proptest! {
        #[test]
        fn any_value_reads_back(value in "(\\PC|\n|<<|sluicegate_0{31}7){0,20}") {
            let pairs = [("a", value.clone()), ("b", "end".to_owned())];
            let read = read(&format_outputs(&pairs, Uuid::from_u128(7)));
            prop_assert_eq!(read, [("a".to_owned(), value), ("b".to_owned(), "end".to_owned())]);
        }
    }
}
