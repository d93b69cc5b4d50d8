//! The reason in the report of a run that did not finish.
//!
//! A report has no field for such a run, and readers of `sluicegate.report/v2` reject unknown fields. Therefore, only
//! the text of the reason shows it.

use super::{Engine, Report, ReviewContext, Verdict};
use jiff::Timestamp;

/// The reason of a run that ended without a known failure, and the beginning of every other reason.
pub const UNFINISHED_NOTE: &str = "the run did not finish";

/// Returns the reason of a run that failed.
pub fn format_unfinished_note(failure: &str) -> String {
    format!("{UNFINISHED_NOTE}: {failure}")
}

impl Report {
    /// Returns the report that is written before a run finishes, so that an interrupted run is undecided. `note` is the
    /// reason.
    pub fn for_unfinished_run(
        engine: Engine,
        context: ReviewContext,
        note: &str,
        started_at: Timestamp,
    ) -> Self {
        Self {
            is_open: true,
            notes: vec![note.to_owned()],
            reasons: vec![note.to_owned()],
            ..Self::empty(engine, Verdict::Undecided, context, started_at)
        }
    }

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

    /// Returns the end of the reason that the run did not finish: a colon and the failure, or an empty text if the
    /// failure is unknown. Returns `None` if the run finished.
    pub fn unfinished_details(&self) -> Option<&str> {
        self.unfinished_reason()?.strip_prefix(UNFINISHED_NOTE)
    }
}
