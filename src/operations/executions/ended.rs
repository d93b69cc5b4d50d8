//! Waits for the end of an execution, and reports it.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputArgs, OutputFormat};
use crate::session::output;
use crate::session::resource::{RemoteProject, Sought};
use crate::session::{CommandResult, Run};
use jiff::Timestamp;
use serde_json::{Map, Value};
use sluicegate_platform::api::{ApiValue, Execution, ExecutionResponse};
use sluicegate_platform::follow::{self, Pace, PollEnd};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::time::Duration;

/// Returns the failure for a missing execution.
pub(crate) fn no_execution(id: &str, error: HttpError) -> Failure {
    let sought = Sought {
        what: "execution",
        name: id,
        list: None,
        alone: Some("executions show"),
    };
    sought.missing_among(error, Some(Vec::new()))
}

/// Returns the failure of a wait for an execution that may still be running.
fn wait_again(id: &str, error: HttpError) -> Failure {
    let hint = format!(
        "the execution may still be running; run `sluicegate executions show {id} --wait` to wait again"
    );
    Failure::from(error).hint(hint)
}

/// An execution that was waited for.
pub(crate) struct Ended {
    pub(crate) id: String,
    pub(crate) answer: ApiValue<ExecutionResponse>,
    pub(crate) end: PollEnd,
    limit: Duration,
}

impl Ended {
    /// Waits until the execution ends, and prints each new status.
    pub(crate) async fn follow(
        run: &Run,
        project: &RemoteProject,
        id: &str,
        pace: Pace,
    ) -> Result<Self, Failure> {
        let ended = Self::poll(run, project, id, pace, Duration::ZERO).await;
        ended.map_err(|error| match error.kind() {
            ErrorKind::NotFound => no_execution(id, error),
            _ => wait_again(id, error),
        })
    }

    /// Like [`Self::follow`], for an execution that this run started: the platform may not show it at once, and no hint
    /// leads to a second start.
    pub(crate) async fn follow_started(
        run: &Run,
        project: &RemoteProject,
        id: &str,
        pace: Pace,
    ) -> Result<Self, Failure> {
        let ended = Self::poll(run, project, id, pace, follow::APPEARANCE_LIMIT).await;
        ended.map_err(|error| {
            let fact = format!("the execution {id} was started, but its state could not be read");
            wait_again(id, error).context(fact)
        })
    }

    async fn poll(
        run: &Run,
        project: &RemoteProject,
        id: &str,
        pace: Pace,
        appearance_limit: Duration,
    ) -> Result<Self, HttpError> {
        let told = |execution: &Execution| {
            run.ui.say(&format!(
                "{}{}",
                execution.status.as_deref().unwrap_or("(no status)"),
                execution
                    .message
                    .as_deref()
                    .map(|text| format!(": {text}"))
                    .unwrap_or_default()
            ));
        };
        let polled = follow::poll_execution(&project.platform, project.id, id, pace, appearance_limit, told);
        let (answer, end) = polled.await?;
        Ok(Self {
            id: id.to_owned(),
            answer,
            end,
            limit: pace.limit(),
        })
    }

    /// Returns whether the execution ended.
    pub(crate) fn is_over(&self) -> bool {
        self.end != PollEnd::Deadline
    }

    pub(crate) fn status(&self) -> &str {
        self.answer.result.status.as_deref().unwrap_or("(no status)")
    }

    /// Returns the time from start to end, if the platform reports both.
    pub(crate) fn duration(&self) -> Option<Duration> {
        let time = |text: &Option<String>| text.as_deref()?.parse::<Timestamp>().ok();
        let result = &self.answer.result;
        let span = time(&result.finished_at)?.duration_since(time(&result.started_at)?);
        Duration::try_from(span).ok()
    }

    /// Returns why the execution did not succeed, or `None` if it did.
    pub(crate) fn problem(&self) -> Option<String> {
        match self.end {
            PollEnd::Succeeded => None,
            PollEnd::Failed => {
                let message = self.answer.result.message.as_deref();
                let said = message.map(|text| format!(": {text}")).unwrap_or_default();
                Some(format!(
                    "the execution {} ended in {}{said}",
                    self.id,
                    self.status()
                ))
            }
            PollEnd::Deadline => Some(format!(
                "the execution {} did not end within {} s: its status is {}",
                self.id,
                self.limit.as_secs(),
                self.status()
            )),
        }
    }

    /// Returns the platform's response extended by the execution's id.
    fn document(&self) -> Value {
        let mut document = Map::new();
        document.insert("pipelineExecutionId".to_owned(), self.id.clone().into());
        if let Value::Object(fields) = &self.answer.raw {
            document.extend(fields.clone());
        }
        document.into()
    }

    fn words(&self) -> String {
        let mut facts = Map::new();
        facts.insert("execution".to_owned(), self.id.clone().into());
        if let Some(Value::Object(fields)) = self.answer.raw.get("result") {
            facts.extend(fields.clone());
        }
        if let Some(duration) = self.duration() {
            facts.insert(
                "duration".to_owned(),
                format!("{:.1} s", duration.as_secs_f64()).into(),
            );
        }
        output::facts(&facts.into())
    }
}

/// Prints how the execution ended.
pub(crate) fn show(run: &Run, ended: &Ended, output: OutputArgs) -> CommandResult {
    run.ui.print_result(&match output.output {
        OutputFormat::Json => output::json(&ended.document()),
        OutputFormat::Text => ended.words(),
    })?;
    Ok(ExitStatus::Success)
}

/// Prints how the execution ended; a failed one exits with 8.
pub(crate) fn tell(run: &Run, ended: &Ended, output: OutputArgs) -> CommandResult {
    show(run, ended, output)?;
    let Some(problem) = ended.problem() else {
        return Ok(ExitStatus::Success);
    };
    let failure = Failure::new(ExitStatus::RemoteFailed, anyhow::Error::msg(problem));
    Ok(run.report_failure(&if ended.is_over() {
        failure.hint("see its message above, or its steps in the platform's web interface")
    } else {
        failure.hint(format!(
            "the execution is still running; run `sluicegate executions cancel {}` to end it",
            ended.id
        ))
    }))
}
