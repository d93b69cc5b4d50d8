//! The fix of a finding: a value of the file that has exactly one correct replacement.

use serde::{Deserialize, Serialize};
use sluicegate_yaml::Position;

/// A replacement that a check proposes, before it is proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedFix {
    pub position: Position,
    pub old_value: String,
    pub new_value: String,
}

/// A proven replacement: after it, the check no longer reports the finding, and does not report a new one.
///
/// Columns count UTF-16 code units from 1, as in SARIF and in the protocol of editors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fix {
    #[serde(rename = "from")]
    pub old_value: String,
    #[serde(rename = "to")]
    pub new_value: String,
    pub start_line: u32,
    pub start_column: u32,
    pub end_line: u32,
    /// The column after the last replaced character.
    pub end_column: u32,
    /// The YAML text that replaces the region, with its quotes.
    pub text: String,
}

impl Fix {
    /// Returns whether the replaced region has valid positions: lines and columns count from 1, and the end is not
    /// before the start. A fix from a saved report may have invalid positions.
    pub fn has_valid_region(&self) -> bool {
        let (start, end) = (
            (self.start_line, self.start_column),
            (self.end_line, self.end_column),
        );
        self.start_line > 0 && self.start_column > 0 && self.end_column > 0 && start <= end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn region_that_ends_before_its_start_is_invalid() {
        let fix = |start_line, start_column, end_line, end_column| Fix {
            old_value: "a".to_owned(),
            new_value: "b".to_owned(),
            start_line,
            start_column,
            end_line,
            end_column,
            text: "b".to_owned(),
        };
        assert!(fix(3, 5, 3, 5).has_valid_region());
        assert!(fix(3, 5, 4, 1).has_valid_region());
        assert!(!fix(3, 5, 4, 0).has_valid_region());
        for invalid in [fix(3, 5, 3, 4), fix(3, 5, 2, 9), fix(0, 1, 1, 1), fix(1, 0, 1, 1)] {
            assert!(!invalid.has_valid_region(), "{invalid:?}");
        }
    }
}
