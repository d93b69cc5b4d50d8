//! The requests of a review that failed: what they say, what they mean for the run, and whether that is all that is open.

use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::commands::Run;
use crate::commands::kit::failure::status_of;
use crate::gate::{BatchAnswer, BatchError, Tally};
use crate::platform::http::HttpError;
use std::collections::BTreeSet;

/// What failed, each different cause once.
#[derive(Default)]
pub(crate) struct Unanswered {
    failures: Vec<(String, Failure)>,
    /// The status, if a failure is not about availability.
    refused: Option<ExitStatus>,
    /// Why files have no answer.
    causes: BTreeSet<String>,
    /// The platform said no to a request.
    is_answered: bool,
}

impl Unanswered {
    pub(super) fn take(&mut self, answers: &[BatchAnswer]) {
        for error in answers.iter().filter_map(|answer| answer.outcome.as_ref().err()) {
            self.causes.insert(error.cause());
            if let BatchError::Request(error) = error {
                self.failed(error);
            }
        }
    }

    fn failed(&mut self, error: &HttpError) {
        self.is_answered |= !error.is_unavailable();
        let status = status_of(error.kind());
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

    /// Whether the platform was not available, and nothing else leaves the verdict open.
    pub(super) fn is_all(&self, tally: &Tally) -> bool {
        let unknown = tally.compared.iter().flat_map(|compared| &compared.unknown);
        let open = tally.unreviewed.iter().map(|file| &file.reason);
        let mut open = open.chain(unknown.map(|(_, why)| why));
        let is_away = !self.failures.is_empty() && !self.is_answered;
        is_away && tally.doubts.is_empty() && open.all(|why| self.causes.contains(why))
    }

    /// How the run ends that would otherwise end so.
    pub(super) fn status(&self, judged: ExitStatus) -> ExitStatus {
        match self.refused {
            // Not the platform, but the set-up is the cause.
            Some(ExitStatus::Usage) if judged == ExitStatus::Undecided => ExitStatus::Usage,
            Some(refused) => judged.worse(refused),
            None => judged,
        }
    }

    /// What lets the change pass is no error.
    pub(super) fn show(&self, run: &Run, passes: bool) {
        for (_, failure) in &self.failures {
            if passes {
                run.ui.warn(&failure.words());
            } else {
                run.ui.fail(failure);
            }
        }
    }

    /// What was shown, as the files without an answer have it.
    pub(super) fn causes(self) -> Vec<String> {
        self.failures.into_iter().map(|(cause, _)| cause).collect()
    }
}
