//! Starts the execution of a smoke run.
//!
//! The tag of the execution is the digest of the files, and the platform runs only one execution with a tag at a time.
//! Another job that publishes the same content at the same time may have started that execution. It proves nothing bad
//! about the version, so a run that would otherwise disable the version waits until the tag is free. If an earlier try
//! of the request may have started that execution, the run does not start a second one.

use super::smoke_problem::{CHECK_EXECUTIONS, SmokeProblem};
use super::smoke_test::SmokeTest;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::settings::SmokeRun;
use crate::session::resource::RemoteProject;
use sluicegate_platform::api::NewExecution;
use sluicegate_platform::follow::{Pace, send_change};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::collections::BTreeMap;

impl SmokeTest<'_> {
    /// Starts the execution of a run, and returns its id. While another execution with the same tag is running, the
    /// platform reports a conflict. If `can_wait` is set and another job certainly started that execution, the request
    /// is then repeated until the deadline of `pace`, as long as consumers get the version.
    pub(super) async fn start_execution(
        &self,
        project: &RemoteProject,
        run: &SmokeRun,
        mut pace: Pace,
        can_wait: bool,
    ) -> Result<String, SmokeProblem> {
        let execution = NewExecution {
            pipeline_name: run.pipeline.clone(),
            environment_name: run.environment.clone(),
            execution_tag: Some(self.receipt.digest.clone()),
            scalar_variables: BTreeMap::new(),
            grid_variables: BTreeMap::new(),
        };
        let mut is_wait_reported = false;
        loop {
            let request = project.platform.start_execution(project.id, &execution);
            let error = match send_change(Some(&pace), request).await {
                Ok(response) => {
                    return self.require_execution_id(run, response.pipeline_execution_id.clone());
                }
                Err(error) => error,
            };
            if error.kind() != ErrorKind::Conflict {
                return Err(start_problem(error));
            }
            // An earlier try of this request may have started the execution that causes the conflict.
            let is_other_job = !error.has_maybe_processed_try();
            if !can_wait || !is_other_job {
                return Err(conflict_problem(&error));
            }
            if !is_wait_reported {
                self.say_waiting_for_tag(run, &pace);
                is_wait_reported = true;
            }
            if !pace.pause().await {
                return Err(conflict_problem(&error));
            }
            // The other job disables the version if its execution does not succeed.
            self.require_latest("the smoke run was not started").await?;
        }
    }

    /// Returns the id of the started execution, and prints that it was started. Fails without an id, because the
    /// execution cannot be followed then.
    fn require_execution_id(&self, run: &SmokeRun, id: Option<String>) -> Result<String, SmokeProblem> {
        let Some(id) = id else {
            let reason = "the pipeline was started, but the response contains no usable execution id";
            let problem = SmokeProblem::new(ExitStatus::RemoteFailed, reason.to_owned());
            return Err(problem.with_republish_step(CHECK_EXECUTIONS));
        };
        let message = format!("started the smoke run of {run}: execution {id}");
        self.publication.session.ui.say(&message);
        Ok(id)
    }

    fn say_waiting_for_tag(&self, run: &SmokeRun, pace: &Pace) {
        let message = format!(
            "waiting to start the smoke run of {run}: an execution of a version with the same content is still in \
             progress (the time limit for all smoke runs is {} s)",
            pace.limit().as_secs()
        );
        self.publication.session.ui.say(&message);
    }
}

/// Creates the problem that another execution with the same tag is still running.
fn conflict_problem(error: &HttpError) -> SmokeProblem {
    let reason = format!("an execution of a version with the same content is still in progress: {error}");
    SmokeProblem::new(ExitStatus::Undecided, reason)
        .with_hint("run the job again when that execution has ended")
        .with_republish_step("wait until that execution has ended")
}

/// Creates the problem of a start that failed otherwise. It says whether the platform may have started the execution
/// nevertheless.
fn start_problem(error: HttpError) -> SmokeProblem {
    if !error.is_maybe_processed() {
        let failure = Failure::from(error).context("the pipeline was not started");
        return SmokeProblem::from_failure(&failure);
    }
    let failure = Failure::from(error).context("could not determine whether the pipeline was started");
    SmokeProblem::from_failure(&failure).with_republish_step(CHECK_EXECUTIONS)
}
