//! Collects the failed requests of a review: their messages, and their effect on the run.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::{BatchError, BatchResponse};
use crate::session::Session;
use crate::session::failure_conversion::http_exit_status;
use sluicegate_pipelines::findings::Verdict;
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::collections::BTreeSet;
use std::mem;

/// The failed requests, each cause once.
#[derive(Default)]
pub(crate) struct FailedRequests {
    failures: Vec<(String, Failure)>,
    /// The exit status, if the platform refused a request, for example because of the token.
    refusal_status: Option<ExitStatus>,
    /// What to do about the failures that do not pass by themselves.
    next_steps: BTreeSet<String>,
    /// The steps for an unavailable platform, which may respond later without any change to the job.
    outage_steps: BTreeSet<String>,
    /// The hint of the first request for something that the platform did not find.
    not_found_hint: Option<String>,
    /// The files that got no response, or were too large for one.
    files_without_response: BTreeSet<String>,
}

impl FailedRequests {
    /// Records the failure of a batch. Does nothing if the batch was reviewed.
    pub(crate) fn record(&mut self, response: &BatchResponse) {
        let Err(error) = &response.outcome else { return };
        if error.allows_local_evaluation() {
            self.files_without_response.extend(response.files.iter().cloned());
        }
        if let BatchError::Request(error) = error {
            self.add_failure(error);
        }
    }

    /// Records the failure of a request, once for each cause. If the platform refused the request, this also decides
    /// the exit status.
    fn add_failure(&mut self, error: &HttpError) {
        let status = http_exit_status(error.kind());
        if matches!(status, ExitStatus::Denied | ExitStatus::Usage) {
            self.refusal_status = Some(
                self.refusal_status
                    .map_or(status, |earlier_status| earlier_status.worse(status)),
            );
        }
        let cause = error.message_without_details();
        let is_known_cause = self
            .failures
            .iter()
            .any(|(earlier_cause, _)| *earlier_cause == cause);
        if is_known_cause {
            return;
        }
        let hint = error.hint();
        if error.kind() == ErrorKind::NotFound && self.not_found_hint.is_none() {
            self.not_found_hint = Some(hint.clone());
        }
        let steps = if error.is_unavailable() {
            &mut self.outage_steps
        } else {
            &mut self.next_steps
        };
        steps.insert(hint.clone());
        let failure = Failure::from(error.clone()).with_hint(hint);
        self.failures.push((cause, failure));
    }

    /// Returns whether the platform did not find something that a request names, such as the project.
    pub(crate) const fn has_missing_resource(&self) -> bool {
        self.not_found_hint.is_some()
    }

    /// Replaces the hint of the requests for something that the platform did not find.
    pub(crate) fn replace_not_found_hint(&mut self, hint: &str) {
        let Some(old_hint) = self.not_found_hint.replace(hint.to_owned()) else {
            return;
        };
        self.next_steps.remove(&old_hint);
        self.next_steps.insert(hint.to_owned());
        for (cause, failure) in mem::take(&mut self.failures) {
            let has_old_hint = failure.own_hint() == Some(old_hint.as_str());
            let failure = if has_old_hint {
                failure.with_hint(hint)
            } else {
                failure
            };
            self.failures.push((cause, failure));
        }
    }

    /// Returns the files to evaluate locally: those without a response. Returns `None` if there are no such files, or
    /// if the platform refused a request, because a refusal is an error of the job.
    pub(crate) fn find_fallback_paths(&self) -> Option<&BTreeSet<String>> {
        let is_refused = self.refusal_status.is_some();
        Some(&self.files_without_response).filter(|files| !files.is_empty() && !is_refused)
    }

    /// Returns what to do about the failures, each instruction once. If the run passes, a failure that may pass by
    /// itself needs no instruction.
    pub(crate) fn list_next_steps(&self, verdict: Verdict) -> Vec<String> {
        let outage_steps = self.outage_steps.iter().filter(|_| verdict != Verdict::Passed);
        self.next_steps.iter().chain(outage_steps).cloned().collect()
    }

    /// Returns the exit status of a run that would otherwise end with `status`. Refused requests are an error of the
    /// job.
    pub(crate) fn adjust_status(&self, status: ExitStatus) -> ExitStatus {
        match self.refusal_status {
            // A usage error is in the configuration of the job, so it replaces the status for an unavailable platform.
            Some(ExitStatus::Usage) if status == ExitStatus::Undecided => ExitStatus::Usage,
            Some(refusal_status) => status.worse(refusal_status),
            None => status,
        }
    }

    /// Prints the failures, as warnings if the change passes despite them. Records their texts as shown, so that the
    /// report does not repeat them.
    pub(crate) fn print(&self, session: &Session, is_passing: bool) -> Result<(), Failure> {
        for (cause, failure) in &self.failures {
            session.print_failure("review", failure, is_passing)?;
            session.add_shown_text(cause);
        }
        Ok(())
    }
}
