//! The reason in the report of a run that did not finish.

use super::{Report, Verdict};

/// The beginning of the reason.
pub const UNFINISHED_NOTE: &str = "the run did not finish";

impl Report {
    /// Returns the reason if the report was written before its run had results, and the run did not finish; otherwise
    /// `None`. Recognizes such a report by its only reason.
    pub fn unfinished_reason(&self) -> Option<&str> {
        match self.reasons.as_slice() {
            [reason] if self.verdict == Verdict::Undecided && self.context.head.is_none() => {
                (self.files.is_empty() && reason.starts_with(UNFINISHED_NOTE)).then_some(reason.as_str())
            }
            _ => None,
        }
    }
}
