//! The reason why smoke runs did not succeed, with the exit status and a hint.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::session::signals::describe_end;

/// The step before a version is published again whose execution may have been started, but has no known id.
pub(super) const CHECK_EXECUTIONS: &str =
    "check on the platform whether the pipeline was started, and with which result";

/// The reason why smoke runs did not succeed.
pub(super) struct SmokeProblem {
    /// The exit status that the reason alone would have.
    pub(super) status: ExitStatus,
    pub(super) reason: String,
    /// The index of the run that did not succeed; `None` if the reason concerns all runs.
    pub(super) run_index: Option<usize>,
    /// The next step for this cause, unless the state of the version requires another one.
    pub(super) hint: Option<&'static str>,
    /// The step before a disabled version is published again; `None` to fix the cause.
    pub(super) republish_step: Option<&'static str>,
}

impl SmokeProblem {
    /// Creates a problem that concerns all runs. The builder methods add a run and a hint.
    pub(super) const fn new(status: ExitStatus, reason: String) -> Self {
        Self {
            status,
            reason,
            run_index: None,
            hint: None,
            republish_step: None,
        }
    }

    /// Creates the problem from the error of a run that did not succeed, or whose end is unknown. Its status is
    /// [`ExitStatus::RemoteFailed`], unless the platform denied access.
    pub(super) fn from_failure(failure: &Failure) -> Self {
        let status = match failure.status() {
            ExitStatus::Denied => ExitStatus::Denied,
            _ => ExitStatus::RemoteFailed,
        };
        Self::new(status, failure.describe_on_one_line())
    }

    /// Creates the problem that a signal ended this run of the program before the smoke runs ended.
    pub(super) fn from_signal(status: ExitStatus) -> Self {
        let word = describe_end(status);
        Self::new(
            status,
            format!("this run was {word} before the end of the smoke runs"),
        )
    }

    pub(super) const fn with_hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    /// Sets the step before a disabled version is published again, for a problem that is not a fault of the version.
    pub(super) const fn with_republish_step(mut self, step: &'static str) -> Self {
        self.republish_step = Some(step);
        self
    }

    /// Sets the index of the run that has the problem.
    pub(super) const fn with_run_index(mut self, run_index: usize) -> Self {
        self.run_index = Some(run_index);
        self
    }
}
