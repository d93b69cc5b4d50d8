//! Waits for the end of an execution, and reports it.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputArgs, OutputFormat};
use crate::session::resource::RemoteProject;
use crate::session::resource_lookup::{ResourceKind, ResourceLookup, is_rejected_id};
use crate::session::response_output;
use crate::session::{CommandResult, Session};
use jiff::Timestamp;
use serde_json::{Map, Value};
use sluicegate_base::text::quote_shell_word;
use sluicegate_platform::api::{
    ApiValue, Execution, ExecutionResponse, measure_duration, parse_platform_time,
};
use sluicegate_platform::follow::{self, Pace, PollEnd};
use sluicegate_platform::http::{ErrorKind, HttpError, request_for_hint};
use std::time::Duration;

/// Returns the failure of a request about an execution. A 404 means that the platform has no such execution.
pub(crate) async fn execution_request_failure(
    project: &RemoteProject,
    id: &str,
    error: HttpError,
) -> Failure {
    if let Some(failure) = project.find_missing_project(&error).await {
        return failure;
    }
    let lookup = ResourceLookup {
        kind: ResourceKind::Execution,
        name: id,
        list_command: None,
        show_command: Some("executions show"),
    };
    // Executions cannot be listed, so there are no ids to suggest.
    let no_ids = Some(Vec::new());
    let id_hint = "pass the ID that `sluicegate pipelines run` printed when it started the execution";
    lookup.request_failure_by_id(error, no_ids, id_hint)
}

/// Returns the failure of a wait for an execution that may still be running. The hint for the cause comes first, then
/// the command to wait again.
fn wait_failure(id: &str, error: HttpError) -> Failure {
    Failure::from(error).with_further_hint(&format!(
        "the execution may still be running: run `sluicegate executions show {} --wait` to wait again",
        quote_shell_word(id)
    ))
}

/// An execution for which the command has waited.
pub(crate) struct WatchedExecution {
    pub(crate) id: String,
    pub(crate) response: ApiValue<ExecutionResponse>,
    pub(crate) end: PollEnd,
    /// Maximum waiting time; zero if the command did not wait.
    limit: Duration,
    /// True once this run has requested the termination of the execution.
    is_termination_requested: bool,
}

impl WatchedExecution {
    /// Waits until the execution ends or the time of `pace` is over, and prints each new status. After a 404, the
    /// failure does not tell the user to wait again, because the platform has no such execution.
    pub(crate) async fn follow(
        session: &Session,
        project: &RemoteProject,
        id: &str,
        pace: Pace,
    ) -> Result<Self, Failure> {
        match Self::poll(session, project, id, pace, Duration::ZERO).await {
            Ok(execution) => Ok(execution),
            Err(error) if error.kind() == ErrorKind::NotFound || is_rejected_id(id, &error) => {
                Err(execution_request_failure(project, id, error).await)
            }
            Err(error) => Err(wait_failure(id, error)),
        }
    }

    /// Waits for the end of an execution that this run started, as [`Self::follow`] does. The platform may at first not
    /// know the execution. A failure says that it was started, so that the user does not start it again.
    pub(crate) async fn follow_started(
        session: &Session,
        project: &RemoteProject,
        id: &str,
        pace: Pace,
    ) -> Result<Self, Failure> {
        Self::poll(session, project, id, pace, follow::APPEARANCE_LIMIT)
            .await
            .map_err(|error| {
                let fact = format!("execution {id} was started, but its state could not be read");
                wait_failure(id, error).context(fact)
            })
    }

    /// Polls the execution until it ends or the time of `pace` is over, and prints each new status. `appearance_limit`
    /// is how long the platform may respond that it does not know the execution yet.
    async fn poll(
        session: &Session,
        project: &RemoteProject,
        id: &str,
        pace: Pace,
        appearance_limit: Duration,
    ) -> Result<Self, HttpError> {
        let (response, end) = follow::poll_execution(
            &project.platform,
            project.id,
            id,
            pace,
            appearance_limit,
            |execution| session.ui.say(&describe_status(execution)),
        )
        .await?;
        Ok(Self {
            id: id.to_owned(),
            response,
            end,
            limit: pace.limit(),
            is_termination_requested: false,
        })
    }

    /// Returns the execution if it has ended, after its termination was refused with `error`: after a conflict, the end
    /// is a possible cause. If an earlier try of the request may have been processed and `pace` is given, waits, and
    /// returns the execution with its last state, too.
    pub(crate) async fn find_end_after_refusal(
        session: &Session,
        project: &RemoteProject,
        id: &str,
        error: &HttpError,
        pace: Option<Pace>,
    ) -> Option<Self> {
        if error.kind() != ErrorKind::Conflict {
            return None;
        }
        if let Some(pace) = pace.filter(|_| error.has_maybe_processed_try()) {
            let polled_execution = Self::poll(session, project, id, pace, Duration::ZERO).await;
            return polled_execution.ok();
        }
        let response = request_for_hint(project.platform.fetch_execution(project.id, id)).await?;
        Some(Self::from_response(id, response)).filter(Self::has_ended)
    }

    /// Returns the execution with this state, without waiting.
    pub(crate) fn from_response(id: &str, response: ApiValue<ExecutionResponse>) -> Self {
        let end = follow::find_execution_end(&response.result).unwrap_or(PollEnd::Deadline);
        Self {
            id: id.to_owned(),
            response,
            end,
            limit: Duration::ZERO,
            is_termination_requested: false,
        }
    }

    /// Returns the execution of a run that has requested its termination.
    pub(crate) fn with_requested_termination(self) -> Self {
        Self {
            is_termination_requested: true,
            ..self
        }
    }

    /// Returns whether the execution ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.end != PollEnd::Deadline
    }

    /// Prints the warning that the execution ended before it could be terminated.
    pub(crate) fn warn_that_nothing_was_canceled(&self, session: &Session) {
        session.ui.warn(&format!(
            "nothing was canceled: execution {} had already ended in {}",
            self.id,
            self.status_name()
        ));
    }

    pub(crate) fn status_name(&self) -> &str {
        self.response.result.status.as_deref().unwrap_or("(no status)")
    }

    /// Returns the time from start to end, if the platform reports both.
    pub(crate) fn duration(&self) -> Option<Duration> {
        let result = &self.response.result;
        measure_duration(result.started_at.as_deref(), result.finished_at.as_deref())
    }

    /// Returns the time when the execution started, if the platform reports it.
    pub(crate) fn started_at(&self) -> Option<Timestamp> {
        parse_platform_time(self.response.result.started_at.as_deref()?)
    }

    /// Returns why the execution did not succeed, or `None` if it did.
    pub(crate) fn describe_problem(&self) -> Option<String> {
        match self.end {
            PollEnd::Succeeded => None,
            PollEnd::Failed => Some(format!(
                "execution {} ended in {}",
                self.id,
                describe_status(&self.response.result)
            )),
            PollEnd::Deadline if self.limit.is_zero() => Some(format!(
                "execution {} has not ended: its status is {}",
                self.id,
                self.status_name()
            )),
            PollEnd::Deadline => Some(format!(
                "execution {} did not end within {} s: its status is {}",
                self.id,
                self.limit.as_secs(),
                self.status_name()
            )),
        }
    }

    /// Returns the next step if the execution did not end in time.
    fn hint_after_deadline(&self) -> String {
        let id = quote_shell_word(&self.id);
        if self.is_termination_requested {
            format!(
                "the termination was requested; run `sluicegate executions show {id} --wait` to wait again"
            )
        } else if self.response.result.is_running() {
            format!("the execution is still running; run `sluicegate executions cancel {id}` to cancel it")
        } else {
            format!("run `sluicegate executions show {id}` to see its status")
        }
    }

    /// Returns the platform's response with the execution's id added, for JSON output.
    fn to_document(&self) -> Value {
        let mut document = Map::new();
        document.insert("pipelineExecutionId".to_owned(), self.id.clone().into());
        if let Value::Object(fields) = &self.response.raw {
            document.extend(fields.clone());
        }
        document.into()
    }

    /// Renders the fields of the platform's response, preceded by the execution's id and followed by its duration.
    fn render_text(&self) -> String {
        let mut shown_fields = Map::new();
        shown_fields.insert("execution".to_owned(), self.id.clone().into());
        shown_fields.extend(list_execution_fields(&self.response.raw));
        if let Some(duration) = self.duration() {
            shown_fields.insert(
                "duration".to_owned(),
                format!("{:.1} s", duration.as_secs_f64()).into(),
            );
        }
        response_output::format_field_lines(&shown_fields.into())
    }
}

/// Returns the fields of a response about an execution: first those in `result`, then the others.
pub(crate) fn list_execution_fields(response: &Value) -> Map<String, Value> {
    let mut execution_fields = Map::new();
    if let Some(Value::Object(fields)) = response.get("result") {
        execution_fields.extend(fields.clone());
    }
    for (key, value) in response.as_object().into_iter().flatten() {
        let is_result = key == "result" && value.is_object();
        if !is_result && !execution_fields.contains_key(key) {
            execution_fields.insert(key.clone(), value.clone());
        }
    }
    execution_fields
}

/// Prints the last known state of the execution.
pub(crate) fn print_last_state(
    session: &Session,
    execution: &WatchedExecution,
    output: OutputArgs,
) -> CommandResult {
    session.ui.print_result(&match output.output {
        OutputFormat::Json => response_output::format_json(&execution.to_document()),
        OutputFormat::Text => execution.render_text(),
    })?;
    Ok(ExitStatus::Success)
}

/// Prints the last known state of the execution. If it failed or did not end in time, reports the problem and returns
/// exit code 8.
pub(crate) fn report_last_state(
    session: &Session,
    execution: &WatchedExecution,
    output: OutputArgs,
) -> CommandResult {
    print_last_state(session, execution, output)?;
    let Some(problem) = execution.describe_problem() else {
        return Ok(ExitStatus::Success);
    };
    let failure = Failure::from_message(ExitStatus::RemoteFailed, problem);
    Ok(session.report_failure(&if execution.has_ended() {
        failure.with_hint("see the execution's message above, or its steps in the platform's web interface")
    } else {
        failure.with_hint(execution.hint_after_deadline())
    }))
}

/// Describes the status with its message, if there is one.
fn describe_status(execution: &Execution) -> String {
    let status = execution.status.as_deref().unwrap_or("(no status)");
    match execution.message.as_deref() {
        Some(message) => format!("{status}: {message}"),
        None => status.to_owned(),
    }
}
