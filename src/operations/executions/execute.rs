//! Starts a pipeline, follows it to the end, and cleans up if the job is interrupted.

use super::DEFAULT_TIMEOUT_SECONDS;
use super::start_failure::{EXECUTION_CHECK_INSTRUCTION, not_found_failure, start_failure};
use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::RunArgs;
use crate::job::settings::PollSettings;
use crate::session::resource::{RemoteProject, created_without_id_failure};
use crate::session::watched_execution::{WatchedExecution, execution_request_failure, report_last_state};
use crate::session::{CommandResult, Session, failure_conversion::to_write_failure};
use jiff::Timestamp;
use sluicegate_base::text;
use sluicegate_pipelines::findings::{UNFINISHED_NOTE, format_unfinished_note};
use sluicegate_platform::api::{ApiValue, ExecutionId, Grid, NewExecution};
use sluicegate_platform::definitions;
use sluicegate_platform::follow::{Pace, PollEnd, send_change};
use sluicegate_platform::http::{ErrorKind, HttpError};
use sluicegate_reports::{ExecutionRun, Verdict, write_execution_junit};
use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::path::Path;
use std::pin::{Pin, pin};
use std::time::{Duration, Instant};

/// Maximum time to wait for the end of a terminated execution.
const TERMINATION_TIMEOUT: Duration = Duration::from_secs(120);

/// A pipeline run and its settings.
struct PipelineRun<'a> {
    session: &'a Session,
    args: &'a RunArgs,
    project: RemoteProject,
    execution: NewExecution,
    poll_settings: PollSettings,
    cancel_status: String,
    started_at: Timestamp,
}

/// Runs `sluicegate pipelines run`: starts a pipeline, and with `--wait` waits until it ends. First replaces the JUnit
/// report of an earlier run by an unfinished one, which also gets the reason if the settings cannot be used.
pub(crate) fn run(session: &Session, args: &RunArgs) -> CommandResult {
    let junit_path = args
        .junit
        .as_ref()
        .map(|path| session.env.current_dir().join(path));
    if let Some(path) = &junit_path {
        let report = build_unfinished_run(args, UNFINISHED_NOTE.to_owned());
        session.replace_old_file(path, |output| write_execution_junit(&report, output));
    }
    let pipeline_run = PipelineRun::from_args(session, args).inspect_err(|failure| {
        if let Some(path) = &junit_path {
            let problem = format_unfinished_note(&failure.describe_on_one_line());
            let report = build_unfinished_run(args, problem);
            session.update_unfinished_file(path, |output| write_execution_junit(&report, output));
        }
    })?;
    pipeline_run.require_writable_report()?;
    session.block_on(pipeline_run.execute())?
}

/// Returns the JUnit report to write before the pipeline starts. If this program is killed, the report shows that the
/// run did not finish. Without `--environment`, it contains a placeholder, because the settings are not read yet.
fn build_unfinished_run(args: &RunArgs, problem: String) -> ExecutionRun {
    ExecutionRun {
        pipeline: args.name.clone(),
        environment: args
            .environment
            .clone()
            .unwrap_or_else(|| "environment".to_owned()),
        status: "UNKNOWN".to_owned(),
        message: None,
        verdict: Verdict::Undecided,
        problem: Some(problem),
        started_at: Timestamp::now(),
        duration: Duration::ZERO,
    }
}

/// Returns the scalar variables of all `--variable NAME=VALUE` flags by name. Fails if two flags set the same variable.
fn collect_scalar_variables(args: &RunArgs) -> Result<BTreeMap<String, String>, Failure> {
    let mut variables = BTreeMap::new();
    for (name, value) in &args.variables {
        if variables.insert(name.clone(), value.clone()).is_some() {
            return Err(Failure::usage(format!("--variable sets {name} more than once")));
        }
    }
    Ok(variables)
}

/// Reads the file of each `--grid`, and returns the rows by name. Fails if a name occurs twice.
fn read_grid_variables(session: &Session, args: &RunArgs) -> Result<BTreeMap<String, Grid>, Failure> {
    let mut variables = BTreeMap::new();
    for (name, file) in &args.grids {
        let document = session.load_document(Path::new(file))?;
        if variables
            .insert(name.clone(), definitions::read_grid(&document)?)
            .is_some()
        {
            return Err(Failure::usage(format!("--grid sets {name} more than once")));
        }
    }
    Ok(variables)
}

impl<'a> PipelineRun<'a> {
    /// Reads the settings of the run from the flags, the environment and the configuration file.
    fn from_args(session: &'a Session, args: &'a RunArgs) -> Result<Self, Failure> {
        let sources = session.read_setting_sources()?;
        Ok(Self {
            session,
            args,
            execution: NewExecution {
                pipeline_name: args.name.clone(),
                environment_name: sources.resolve_environment(args.environment.clone())?,
                execution_tag: args.tag.clone(),
                scalar_variables: collect_scalar_variables(args)?,
                grid_variables: read_grid_variables(session, args)?,
            },
            poll_settings: sources.resolve_poll_settings(&args.pace, DEFAULT_TIMEOUT_SECONDS)?,
            cancel_status: sources.resolve_cancel_status(args.cancel.cancel_status.clone())?,
            project: session.create_project_client()?,
            started_at: Timestamp::now(),
        })
    }
}

impl PipelineRun<'_> {
    /// Starts the pipeline, and with `--wait` follows the execution until it ends. With `--cancel-on-interrupt`, a
    /// signal to this program also terminates the execution.
    async fn execute(&self) -> CommandResult {
        let mut interrupt = pin!(self.wait_for_interrupt());
        let pace = self
            .args
            .wait
            .then(|| self.start_pace(self.poll_settings.time_limit));
        let (response, interrupt_status) = self.start_execution(pace.as_ref(), interrupt.as_mut()).await;
        let response = match response {
            Ok(response) => response,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let failure = not_found_failure(&self.project, &self.execution, error).await;
                return self.end_without_execution(failure, interrupt_status);
            }
            Err(error) => {
                return self.end_without_execution(
                    start_failure(error, self.execution.execution_tag.as_deref()),
                    interrupt_status,
                );
            }
        };
        let Some(id) = response.pipeline_execution_id.clone() else {
            let failure = created_without_id_failure(
                "the pipeline was started, but the response contains no usable execution id",
                EXECUTION_CHECK_INSTRUCTION,
            );
            return self.end_without_execution(failure, interrupt_status);
        };
        // A signal arrived during the request that started the execution.
        if let Some(status) = interrupt_status {
            return self.terminate_on_interrupt(&id, status, Duration::ZERO).await;
        }
        // Without `--wait`, the command ends here.
        let Some(pace) = pace else {
            return self.session.print_response(self.args.output, &response.raw, || {
                text::escape_line(&format!("started execution {id}")) + "\n"
            });
        };
        self.session.ui.say(&format!("started execution {id}"));
        if !self.args.cancel_on_interrupt {
            self.session.signals.set_last_words(&format!(
                "the execution continues; run `sluicegate executions cancel {}` to cancel it",
                text::quote_shell_word(&id)
            ));
        }
        let wait_start = Instant::now();
        let follow_result = tokio::select! {
            // If the execution ends at the same time, the signal has precedence.
            biased;
            status = &mut interrupt => {
                return self.terminate_on_interrupt(&id, status, wait_start.elapsed()).await;
            }
            result = WatchedExecution::follow_started(self.session, &self.project, &id, pace) => result,
        };
        self.session.signals.set_last_words("");
        let execution = self.report_failed_wait(&id, follow_result, wait_start.elapsed())?;
        let report_status = self.write_junit_report(
            Some(&execution),
            execution.describe_problem(),
            wait_start.elapsed(),
        );
        Ok(report_last_state(self.session, &execution, self.args.output)?.worse(report_status))
    }

    /// Ends a run without an execution to follow, and writes the reason into the JUnit report. If a signal arrived, its
    /// exit status applies, and the failure is only printed.
    fn end_without_execution(&self, failure: Failure, interrupt_status: Option<ExitStatus>) -> CommandResult {
        let unknown_execution = None;
        let problem = format_unfinished_note(&failure.describe_on_one_line());
        self.write_junit_report(unknown_execution, Some(problem), Duration::ZERO);
        let Some(status) = interrupt_status else {
            return Err(failure);
        };
        self.session.report_failure(&failure);
        Ok(status)
    }

    /// Returns a wait of this duration, starting now.
    fn start_pace(&self, limit: Duration) -> Pace {
        Pace::new(self.poll_settings.first_interval, limit)
    }

    /// Waits for a signal that ends the job, and returns the exit status for it. Without `--cancel-on-interrupt`, never
    /// returns.
    async fn wait_for_interrupt(&self) -> ExitStatus {
        if self.args.cancel_on_interrupt {
            self.session.signals.clone().wait().await
        } else {
            pending().await
        }
    }

    /// Sends the request to start the execution. Returns its response and, if a signal arrived meanwhile, the exit
    /// status for the signal. A signal does not cancel the request, because its response contains the id of the
    /// execution to terminate.
    async fn start_execution(
        &self,
        pace: Option<&Pace>,
        interrupt: Pin<&mut impl Future<Output = ExitStatus>>,
    ) -> (Result<ApiValue<ExecutionId>, HttpError>, Option<ExitStatus>) {
        let RemoteProject { platform, id } = &self.project;
        let mut request = pin!(send_change(pace, platform.start_execution(*id, &self.execution)));
        tokio::select! {
            biased;
            status = interrupt => (request.await, Some(status)),
            response = &mut request => (response, None),
        }
    }

    /// If the wait failed, writes a JUnit report with an unknown status, the reason and the waiting time. Returns the
    /// result unchanged.
    fn report_failed_wait(
        &self,
        id: &str,
        result: Result<WatchedExecution, Failure>,
        waiting_time: Duration,
    ) -> Result<WatchedExecution, Failure> {
        if let Err(failure) = &result {
            let problem = format!(
                "could not determine how execution {id} ended: {}",
                failure.describe_on_one_line()
            );
            let unknown_execution = None;
            self.write_junit_report(unknown_execution, Some(problem), waiting_time);
        }
        result
    }

    /// Requests the platform to terminate the execution, and waits until it ends. If the request is refused, only reads
    /// the state. A second signal during this wait ends this program at once. Writes the JUnit report, then prints the
    /// last state, and returns `status` also if the state cannot be printed. `waiting_time` is the time from the start
    /// to the signal.
    async fn terminate_on_interrupt(
        &self,
        id: &str,
        status: ExitStatus,
        waiting_time: Duration,
    ) -> CommandResult {
        let ui = self.session.ui;
        ui.warn(&format!("interrupted: terminating execution {id}"));
        let (platform, project) = (&self.project.platform, self.project.id);
        let pace = self.start_pace(TERMINATION_TIMEOUT);
        let request = platform.terminate_execution(project, id, &self.cancel_status, self.args.cancel.force);
        let result = send_change(Some(&pace), request).await;
        // From here on, a signal ends this program.
        self.session.signals.release();
        let is_refused = result
            .as_ref()
            .is_err_and(|error| !error.is_maybe_processed() && !error.has_maybe_processed_try());
        let termination_failure = match result {
            Ok(_) => None,
            Err(error) => Some(
                execution_request_failure(&self.project, id, error)
                    .await
                    .context(format!("could not terminate execution {id}")),
            ),
        };
        let pace = if is_refused {
            self.start_pace(Duration::ZERO)
        } else {
            pace
        };
        match WatchedExecution::follow_started(self.session, &self.project, id, pace).await {
            Ok(execution) => {
                let problem = format!("interrupted; execution {id} is {}", execution.status_name());
                self.write_junit_report(Some(&execution), Some(problem), waiting_time);
                self.report_interrupted_execution(execution, is_refused, termination_failure.as_ref());
            }
            Err(failure) => {
                for failure in termination_failure.iter().chain([&failure]) {
                    self.session.report_failure(failure);
                }
                let unknown_execution = None;
                let problem = format!("interrupted; could not determine whether execution {id} ended");
                self.write_junit_report(unknown_execution, Some(problem), waiting_time);
            }
        }
        Ok(status)
    }

    /// Prints the last state of an execution after the request for its termination. The failure of the request matters
    /// only if the execution has not ended.
    fn report_interrupted_execution(
        &self,
        execution: WatchedExecution,
        is_refused: bool,
        termination_failure: Option<&Failure>,
    ) {
        let execution = match termination_failure {
            None => execution.with_requested_termination(),
            Some(_) if execution.has_ended() => {
                if is_refused {
                    execution.warn_that_nothing_was_canceled(self.session);
                }
                execution
            }
            Some(failure) => {
                self.session.report_failure(failure);
                execution
            }
        };
        if let Err(failure) = report_last_state(self.session, &execution, self.args.output) {
            self.session.report_failure(&failure);
        }
    }

    /// Fails if the JUnit report cannot be written, before a pipeline starts.
    fn require_writable_report(&self) -> Result<(), Failure> {
        let Some(path) = &self.args.junit else {
            return Ok(());
        };
        let full_path = self.session.env.current_dir().join(path);
        atomic_file::check_writable(&full_path).map_err(to_write_failure("the report ", path))
    }

    /// Writes the JUnit report if `--junit` is set. `execution` is `None` if it is unknown how the execution ended.
    /// `waiting_time` is the duration if the platform reports none. Without the platform's start time, the report has
    /// the start of this command. If the file cannot be written, prints the failure and returns its exit status.
    fn write_junit_report(
        &self,
        execution: Option<&WatchedExecution>,
        problem: Option<String>,
        waiting_time: Duration,
    ) -> ExitStatus {
        let Some(path) = &self.args.junit else {
            return ExitStatus::Success;
        };
        let report = ExecutionRun {
            pipeline: self.execution.pipeline_name.clone(),
            environment: self.execution.environment_name.clone(),
            started_at: execution
                .and_then(WatchedExecution::started_at)
                .unwrap_or(self.started_at),
            duration: execution
                .and_then(WatchedExecution::duration)
                .unwrap_or(waiting_time),
            status: execution
                .map_or("UNKNOWN", WatchedExecution::status_name)
                .to_owned(),
            message: execution.and_then(|execution| execution.response.result.message.clone()),
            verdict: match execution.map(|execution| execution.end) {
                Some(PollEnd::Succeeded) => Verdict::Passed,
                Some(PollEnd::Failed) => Verdict::Failed,
                Some(PollEnd::Deadline) | None => Verdict::Undecided,
            },
            problem,
        };
        match self.write_junit_file(path, &report) {
            Ok(()) => ExitStatus::Success,
            Err(failure) => self.session.report_failure(&failure),
        }
    }

    /// Writes the report to the file, relative to the current directory.
    fn write_junit_file(&self, path: &Path, report: &ExecutionRun) -> Result<(), Failure> {
        let full_path = self.session.env.current_dir().join(path);
        atomic_file::write_file_with(&full_path, |output| write_execution_junit(report, output))
            .map_err(to_write_failure("the report ", path))
    }
}
