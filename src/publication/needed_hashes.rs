//! The content hashes that the outputs of a publish contain.

use super::Publication;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publish::{Plan, PublishError};

impl Publication<'_> {
    /// Returns the content hashes of the plan's files, and the exit status. There are no hashes if no output contains
    /// them, because hashing takes time. If a file cannot be read, reports that the receipt lacks the hashes: the
    /// outcome of the publish is known without them.
    pub(super) fn compute_needed_hashes(&self, plan: &Plan) -> (Vec<String>, ExitStatus) {
        if !self.publish_options(plan).needs_hashes {
            return (Vec::new(), ExitStatus::Success);
        }
        match plan.hash_all_files() {
            Ok(hashes) => (hashes, ExitStatus::Success),
            Err(error) => (Vec::new(), self.report_missing_hashes(error)),
        }
    }

    /// Reports that the receipt of this publish has no content hashes, because a file could not be read. Returns the
    /// exit status.
    pub(super) fn report_missing_hashes(&self, error: PublishError) -> ExitStatus {
        let failure = Failure::from(error)
            .context("could not compute the content hashes, so the receipt has neither files nor a digest");
        self.session
            .report_failure_as("The receipt is incomplete", &failure)
    }
}
