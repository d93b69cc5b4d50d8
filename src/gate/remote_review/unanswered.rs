//! Collects the failed requests of a review: their messages, their effect on the run, and whether they are the only
//! open points.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::{BatchAnswer, BatchError, Tally};
use crate::session::Run;
use crate::session::failure_conversion::http_exit_status;
use sluicegate_platform::http::HttpError;
use std::collections::BTreeSet;

/// The failed requests, each cause once.
#[derive(Default)]
pub(crate) struct Unanswered {
    failures: Vec<(String, Failure)>,
    /// The exit status, if a failure is not about availability.
    refused: Option<ExitStatus>,
    /// Why files have no response.
    causes: BTreeSet<String>,
    /// The files that got no response, or were too large for one.
    files: BTreeSet<String>,
}

impl Unanswered {
    pub(crate) fn take(&mut self, answer: &BatchAnswer) {
        let Err(error) = &answer.outcome else { return };
        self.causes.insert(error.cause());
        if error.is_without_review() {
            self.files.extend(answer.files.iter().cloned());
        }
        if let BatchError::Request(error) = error {
            self.failed(error);
        }
    }

    fn failed(&mut self, error: &HttpError) {
        let status = http_exit_status(error.kind());
        if matches!(status, ExitStatus::Denied | ExitStatus::Usage) {
            self.refused = Some(self.refused.map_or(status, |known| known.worse(status)));
        }
        let cause = error.cause();
        if self.failures.iter().any(|(known, _)| *known == cause) {
            return;
        }
        let failure = Failure::new(status, anyhow::anyhow!("{error}"));
        let failure = match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        };
        self.failures.push((cause, failure));
    }

    /// Returns the files to evaluate locally: those without a response, unless the platform refused the run itself.
    pub(crate) fn files(&self) -> Option<&BTreeSet<String>> {
        let is_refused = self.refused.is_some();
        Some(&self.files).filter(|files| !files.is_empty() && !is_refused)
    }

    /// Returns whether missing responses are all that makes the verdict undecided.
    pub(crate) fn is_all(&self, tally: &Tally) -> bool {
        let unknown = tally.compared.iter().flat_map(|compared| &compared.unknown);
        let open = tally.unreviewed.iter().map(|file| &file.reason);
        let mut open = open.chain(unknown.map(|(_, why)| why));
        !self.failures.is_empty() && tally.doubts.is_empty() && open.all(|why| self.causes.contains(why))
    }

    /// Returns the exit status of a run that would otherwise end with `judged`.
    pub(crate) fn status(&self, judged: ExitStatus) -> ExitStatus {
        match self.refused {
            // The cause is the configuration, not the platform.
            Some(ExitStatus::Usage) if judged == ExitStatus::Undecided => ExitStatus::Usage,
            Some(refused) => judged.worse(refused),
            None => judged,
        }
    }

    /// Prints the failures; as warnings if the change passes despite them.
    pub(crate) fn show(&self, run: &Run, passes: bool) -> Result<(), Failure> {
        for (cause, failure) in &self.failures {
            run.print_failure("review", failure, passes)?;
            run.add_shown_text(cause);
        }
        Ok(())
    }
}
