//! Creates the agent's task, follows it, and stops it if the run ends before the task.

use super::tool_grants::ToolGrants;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::operations::tasks::messages::format_event;
use crate::operations::tasks::task_wait::add_status_hint;
use crate::operations::tasks::{TASK_CHECK_INSTRUCTION, task_text};
use crate::session::Session;
use crate::session::resource::created_without_id_failure;
use crate::session::resource_lookup::creation_failure;
use jiff::Timestamp;
use serde_json::Value;
use sluicegate_base::text::quote_shell_word;
use sluicegate_platform::api::{ApiValue, NewTask, Platform, Task, TaskCreated};
use sluicegate_platform::follow::{MessageReader, Pace, TaskEnd, follow_task_to_end};
use sluicegate_platform::http::HttpError;
use std::pin::pin;
use std::time::Duration;

/// Number of messages in one request.
const MESSAGE_LIMIT: usize = 100;

/// Maximum number of characters of a message in the log.
const MAX_LINE_LENGTH: usize = 400;

/// Maximum time for the request to stop a task.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// A task that has finished its work.
pub(super) struct FinishedTask {
    pub(super) id: String,
    /// The messages of the agent, without the instruction.
    pub(super) messages: Vec<Value>,
}

/// The outcome of a task, whether it finished or not.
pub(super) enum TaskOutcome {
    Finished(FinishedTask),
    /// The task did not finish. The failure contains its id.
    Unfinished(Failure),
    /// A signal ended the run, and the task was requested to stop.
    Interrupted(ExitStatus),
}

impl TaskOutcome {
    /// Returns the failure to print a result instead of a finished task.
    fn with_print_failure(self, print_failure: Option<Failure>) -> Self {
        match (self, print_failure) {
            (Self::Finished(_), Some(failure)) => Self::Unfinished(failure),
            (outcome, _) => outcome,
        }
    }
}

/// Follows a task with these grants, until its end or the time limit.
pub(super) struct TaskFollower<'a> {
    pub(super) session: &'a Session,
    pub(super) platform: &'a Platform,
    pub(super) grants: &'a ToolGrants,
    pub(super) pace: Pace,
    /// The interval between two reads of the messages.
    pub(super) message_interval: Duration,
    /// The messages are the result of the command, because they contain the plan, and not part of its log.
    pub(super) prints_messages_as_result: bool,
}

impl TaskFollower<'_> {
    /// Creates the task and follows it to its end. If the time limit is reached or a signal arrives, requests the
    /// platform to stop the task.
    pub(super) async fn run_task(&self, task: &NewTask) -> Result<TaskOutcome, Failure> {
        let mut signals = self.session.signals.clone();
        let mut interrupt = pin!(signals.wait());
        let mut creation = pin!(self.platform.create_task(task));
        // An interrupt does not cancel the request: without the response, the task to stop would be unknown.
        let (response, interrupt_status) = tokio::select! {
            response = &mut creation => (response, None),
            status = &mut interrupt => (creation.await, Some(status)),
        };
        let id = match (read_task_id(response), interrupt_status) {
            (Ok(id), _) => id,
            // The signal decides the exit status.
            (Err(failure), Some(status)) => {
                self.session.report_failure(&failure);
                return Ok(TaskOutcome::Interrupted(status));
            }
            (Err(failure), None) => return Err(failure),
        };
        self.session.ui.say(&format!("created task {id}"));
        let mut log = MessageLog::new(self, &id, &task.message);
        // The outer error is the exit status of a signal, which arrived before the task ended.
        let follow_result = if let Some(status) = interrupt_status {
            Err(status)
        } else {
            tokio::select! {
                status = &mut interrupt => Err(status),
                result = self.follow_task(&id, &mut log) => Ok(result),
            }
        };
        let MessageLog {
            events: messages,
            print_failure,
            ..
        } = log;
        let outcome = match follow_result {
            Ok(Ok((task, end))) => {
                let outcome = self.conclude_task(id, &task, end, messages).await;
                outcome.with_print_failure(print_failure)
            }
            Ok(Err(failure)) => TaskOutcome::Unfinished(failure),
            Err(status) => {
                self.request_stop(&id, "interrupted").await;
                TaskOutcome::Interrupted(status)
            }
        };
        // `Signals::wait` prevented signals from ending the run; from here on, they end it again.
        self.session.signals.release();
        Ok(outcome)
    }

    /// Polls the task until it ends, and meanwhile prints its status changes and its messages.
    async fn follow_task(&self, id: &str, log: &mut MessageLog<'_>) -> Result<(Task, TaskEnd), Failure> {
        let ui = self.session.ui;
        let policy = self.grants.approval_policy();
        let resumed_from = None;
        let mut poll = pin!(follow_task_to_end(
            self.platform,
            id,
            &policy,
            resumed_from,
            self.pace,
            |event| {
                ui.say(&event.to_string());
            }
        ));
        let result = loop {
            tokio::select! {
                result = &mut poll => break result,
                () = log.wait_and_print_messages() => {}
            }
        };
        let (task, end) = result.map_err(|error| {
            let kind = error.kind();
            add_status_hint(Failure::from(error), kind, id)
        })?;
        // The last messages are read after the last status, so that none is missed.
        let _ = self.pace.await_before_deadline(log.print_new_messages()).await;
        Ok((task.value, end))
    }

    /// Returns the outcome of a task that is no longer polled. If the time limit ended the polling, requests the
    /// platform to stop the task. If the task waits for a decision, prints the commands that answer it.
    async fn conclude_task(
        &self,
        id: String,
        task: &Task,
        end: TaskEnd,
        messages: Vec<Value>,
    ) -> TaskOutcome {
        match end {
            TaskEnd::Finished => return TaskOutcome::Finished(FinishedTask { id, messages }),
            TaskEnd::Deadline => self.request_stop(&id, "the time limit was reached").await,
            TaskEnd::Unresumed => {
                self.request_stop(&id, "the task shows no sign that it was resumed")
                    .await;
            }
            TaskEnd::Waiting => task_text::warn_of_decisions(self.session, &id, task),
            TaskEnd::Halted | TaskEnd::Errored | TaskEnd::Unclear => {}
        }
        TaskOutcome::Unfinished(task_failure(&id, end, task, self.pace))
    }

    /// Requests the platform to stop the task, and prints `reason` as a warning. If the request fails or takes longer
    /// than `STOP_TIMEOUT`, prints a second warning with the command that stops the task.
    async fn request_stop(&self, id: &str, reason: &str) {
        let ui = self.session.ui;
        ui.warn(&format!("{reason}: stopping task {id}"));
        let result = tokio::time::timeout(STOP_TIMEOUT, self.platform.stop_task(id)).await;
        let problem = match result {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no response arrived".to_owned(),
        };
        let id_word = quote_shell_word(id);
        ui.warn_with_hint(
            &format!("could not stop task {id}: {problem}"),
            &format!("run `sluicegate tasks stop {id_word}`"),
        );
    }
}

/// Returns the id of the created task. Fails if the task was not created, or if the response does not contain its id.
fn read_task_id(response: Result<ApiValue<TaskCreated>, HttpError>) -> Result<String, Failure> {
    let response = response.map_err(|error| creation_failure(error, TASK_CHECK_INSTRUCTION))?;
    response.task_id.clone().ok_or_else(|| {
        created_without_id_failure(
            "the task was created, but the response contains no usable taskId",
            TASK_CHECK_INSTRUCTION,
        )
    })
}

/// Returns the failure of a task that did not finish: its exit status, message and hint depend on how the task ended.
fn task_failure(id: &str, end: TaskEnd, task: &Task, pace: Pace) -> Failure {
    let id_word = quote_shell_word(id);
    let state = task_text::describe_state(task);
    let (status, message, hint) = match end {
        TaskEnd::Waiting => (
            ExitStatus::Undecided,
            format!("task {id} waits for a decision that this run may not make"),
            format!(
                "to decide, run the command printed above, or stop the task with `sluicegate tasks stop {id_word}`"
            ),
        ),
        TaskEnd::Unclear => (
            ExitStatus::Undecided,
            task_text::describe_unclear_end(id),
            format!("run `sluicegate tasks messages {id_word}` to see its messages"),
        ),
        TaskEnd::Unresumed => (
            ExitStatus::Undecided,
            task_text::describe_missing_resumption(id, task),
            format!("run `sluicegate tasks messages {id_word}` to see its messages"),
        ),
        TaskEnd::Deadline => (
            ExitStatus::RemoteFailed,
            format!(
                "task {id} did not end within {} s: its status was {state}",
                pace.limit().as_secs()
            ),
            "pass a longer --timeout, or select fewer files".to_owned(),
        ),
        TaskEnd::Halted => (
            ExitStatus::RemoteFailed,
            format!("task {id} was stopped before it finished"),
            format!("run `sluicegate tasks messages {id_word}` to see its messages"),
        ),
        // `Finished` cannot happen: a finished task has no failure.
        TaskEnd::Errored | TaskEnd::Finished => (
            ExitStatus::RemoteFailed,
            format!("task {id} failed"),
            format!("run `sluicegate tasks messages {id_word}` to see why"),
        ),
    };
    Failure::from_message(status, message).with_hint(hint)
}

/// The messages of a task, printed while they are read.
struct MessageLog<'a> {
    session: &'a Session,
    platform: &'a Platform,
    id: &'a str,
    /// The instruction, which the history repeats.
    instruction: &'a str,
    interval: Duration,
    reader: MessageReader,
    events: Vec<Value>,
    is_unavailable: bool,
    /// The messages are printed as results.
    prints_results: bool,
    /// The first failure to print a result.
    print_failure: Option<Failure>,
}

impl<'a> MessageLog<'a> {
    /// Creates a log without messages, which reads from the beginning of the task.
    fn new(follower: &TaskFollower<'a>, id: &'a str, instruction: &'a str) -> Self {
        Self {
            session: follower.session,
            platform: follower.platform,
            interval: follower.message_interval,
            id,
            instruction,
            reader: MessageReader::new(MESSAGE_LIMIT),
            events: Vec::new(),
            is_unavailable: false,
            prints_results: follower.prints_messages_as_result,
            print_failure: None,
        }
    }

    /// Waits for one polling interval, and prints the messages that are new since the last call.
    async fn wait_and_print_messages(&mut self) {
        tokio::time::sleep(self.interval).await;
        self.print_new_messages().await;
    }

    /// Prints all messages that are new since the last call. Warns once if they cannot be read, and then stops reading:
    /// a task's outcome is decided by its status, not by its messages.
    async fn print_new_messages(&mut self) {
        while !self.is_unavailable {
            match self.reader.fetch_next_events(self.platform, self.id).await {
                Ok((events, has_more)) => {
                    self.print_events(events);
                    if !has_more {
                        return;
                    }
                }
                Err(error) => {
                    self.session
                        .ui
                        .warn(&format!("could not read the messages of the task: {error}"));
                    self.is_unavailable = true;
                }
            }
        }
    }

    /// Prints each message on a line, whose length is limited in the log, and keeps it in `events`. Skips the message
    /// that repeats the instruction.
    fn print_events(&mut self, events: Vec<Value>) {
        let now = Timestamp::now();
        for event in events {
            if has_equal_text(&event, self.instruction) {
                continue;
            }
            let line = format_event(&event, now);
            if self.prints_results {
                let failure = self.session.ui.print_result(&line).err();
                self.print_failure = self.print_failure.take().or(failure);
            } else {
                let short_line: String = line.trim_end().chars().take(MAX_LINE_LENGTH).collect();
                self.session.ui.say(&short_line);
            }
            self.events.push(event);
        }
    }
}

/// Returns whether the value, or a value nested in it, is exactly this text.
fn has_equal_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string == text,
        Value::Array(items) => items.iter().any(|item| has_equal_text(item, text)),
        Value::Object(fields) => fields.values().any(|field| has_equal_text(field, text)),
        _ => false,
    }
}
