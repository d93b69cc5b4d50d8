//! The reason in the report of a run that did not finish.
//!
//! A report has no field for such a run, and readers of `sluicegate.report/v2` reject unknown fields. Therefore, only
//! the text of the reason shows it.

use super::{Engine, Report, ReviewContext, Verdict};
use jiff::Timestamp;
use std::time::Duration;

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
            engine,
            verdict: Verdict::Undecided,
            context,
            files: Vec::new(),
            excluded_files: Vec::new(),
            unreviewed_files: Vec::new(),
            gate_changes: Vec::new(),
            gate_refused: false,
            gate_faults: Vec::new(),
            faulty_gate_file: None,
            failed_without_finding: false,
            failed_batches: Vec::new(),
            is_open: true,
            changes: None,
            compat: None,
            notes: vec![note.to_owned()],
            reasons: vec![note.to_owned()],
            limits: Vec::new(),
            next_steps: Vec::new(),
            missing_rules_hint: None,
            rules_file_errors: Vec::new(),
            fixed_count: None,
            started_at,
            duration: Duration::ZERO,
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
