//! Runs `sluicegate tasks messages`.

use super::{DEFAULT_TIMEOUT_SECONDS, task_request_failure, task_text};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputArgs, OutputFormat, PaceArgs};
use crate::session::response_output;
use crate::session::response_output::format_distance;
use crate::session::{CommandResult, Session};
use jiff::Timestamp;
use serde_json::{Value, json};
use sluicegate_base::text;
use sluicegate_platform::api::{ApiValue, Platform, Task, TaskPhase};
use sluicegate_platform::follow::{MessageReader, Pace, TaskEvent};

/// Prints the messages of a task. With `--follow`, also prints new messages until the task ends.
pub(crate) fn print_messages(
    session: &Session,
    id: &str,
    limit: usize,
    follow: Option<&PaceArgs>,
    output: OutputArgs,
) -> CommandResult {
    let pace = match follow {
        None => None,
        Some(args) => {
            let poll_settings = session
                .read_setting_sources()?
                .resolve_poll_settings(args, DEFAULT_TIMEOUT_SECONDS)?;
            Some(Pace::new(poll_settings.first_interval, poll_settings.time_limit))
        }
    };
    let platform = session.create_account_client()?;
    let mut history = MessageHistory {
        session,
        platform,
        id,
        output,
        reader: MessageReader::new(limit),
        events: Vec::new(),
        event_count: 0,
    };
    session.block_on(async {
        let status = match output.output {
            OutputFormat::Text => history.print_requested_messages(pace).await,
            // After a signal, the document contains the messages that were read before it.
            OutputFormat::Json => {
                let mut signals = session.signals.clone();
                tokio::select! {
                    biased;
                    _ = signals.wait() => session.signals.pending_failure().map_or(Ok(ExitStatus::Interrupted), Err),
                    status = history.print_requested_messages(pace) => status,
                }
            }
        };
        session.signals.release();
        // Also after a failure: the JSON document contains the messages that were read before it.
        history.finish_output()?;
        if status.is_ok() {
            history.print_missing_messages()?;
        }
        status
    })?
}

/// The messages of a task. As text, they are printed while they are read; as JSON, in one document at the end.
struct MessageHistory<'a> {
    session: &'a Session,
    platform: Platform,
    id: &'a str,
    output: OutputArgs,
    reader: MessageReader,
    events: Vec<Value>,
    event_count: usize,
}

impl MessageHistory<'_> {
    /// Prints the messages that exist now or, with a pace, until the task ends.
    async fn print_requested_messages(&mut self, pace: Option<Pace>) -> CommandResult {
        match pace {
            None => self
                .print_available_messages()
                .await
                .map(|()| ExitStatus::Success),
            Some(pace) => self.print_messages_until_end(pace).await,
        }
    }

    /// Prints as text that the task has no messages, if this is so.
    fn print_missing_messages(&self) -> Result<(), Failure> {
        if self.event_count > 0 || self.output.output == OutputFormat::Json {
            return Ok(());
        }
        self.session.ui.print_result("the task has no messages\n")
    }

    /// Reads all messages that exist now, and prints them.
    async fn print_available_messages(&mut self) -> Result<(), Failure> {
        loop {
            match self.reader.fetch_next_events(&self.platform, self.id).await {
                Ok((events, has_more)) => {
                    self.print_events(events)?;
                    if !has_more {
                        return Ok(());
                    }
                }
                Err(error) => return Err(task_request_failure(&self.platform, self.id, error).await),
            }
        }
    }

    /// Prints the messages as text. For `--output json`, keeps them for one document at the end.
    fn print_events(&mut self, events: Vec<Value>) -> Result<(), Failure> {
        self.event_count += events.len();
        if self.output.output == OutputFormat::Text {
            let now = Timestamp::now();
            let text: String = events.iter().map(|event| format_event(event, now)).collect();
            self.session.ui.print_result(&text)?;
        } else {
            self.events.extend(events);
        }
        Ok(())
    }

    /// Prints new messages until the task ends. Prints each new status as `tasks wait` does, because messages may not
    /// come for a long time, and warns each time that the task begins to wait for a decision. Fails if the task fails,
    /// at the time limit, or if the task stopped and may not be finished. Requests the status before the messages,
    /// because only then the messages of a finished task are complete.
    async fn print_messages_until_end(&mut self, mut pace: Pace) -> CommandResult {
        let mut was_waiting = false;
        // The last known task, for the message at the time limit.
        let mut last_task: Option<ApiValue<Task>> = None;
        loop {
            let task = match pace
                .await_before_deadline(self.platform.fetch_task(self.id))
                .await
            {
                Ok(Ok(task)) => task,
                Ok(Err(error)) => return Err(task_request_failure(&self.platform, self.id, error).await),
                Err(error) => {
                    return Err(last_task.map_or_else(|| error.into(), |task| self.timeout_failure(&task)));
                }
            };
            if last_task.as_ref().map(|earlier_task| &earlier_task.status) != Some(&task.status) {
                let status = task.status.as_deref().unwrap_or("(no status)");
                self.session.ui.say(&TaskEvent::Status(status).to_string());
            }
            match pace.await_before_deadline(self.print_available_messages()).await {
                Ok(result) => result?,
                Err(_) if is_ended(&task) => return Err(self.unread_messages_failure(&task)),
                Err(_) => return Err(self.timeout_failure(&task)),
            }
            match task.phase() {
                TaskPhase::Finished => return Ok(ExitStatus::Success),
                TaskPhase::Errored => return Err(self.agent_task_failure(format!("task {} failed", self.id))),
                TaskPhase::Stopped => return Err(self.unclear_end_failure()),
                TaskPhase::Waiting if !was_waiting => {
                    task_text::warn_of_decisions(self.session, self.id, &task);
                }
                _ => {}
            }
            was_waiting = task.phase() == TaskPhase::Waiting;
            if !pace.pause().await {
                return Err(self.timeout_failure(&task));
            }
            last_task = Some(task);
        }
    }

    /// Returns the failure for messages that could not all be read in time although the task has ended.
    fn unread_messages_failure(&self, task: &Task) -> Failure {
        self.agent_task_failure(format!(
            "could not read all messages of task {} in time: its status is {}",
            self.id,
            task_text::describe_state(task)
        ))
    }

    /// Returns the failure for a task that did not end in time, with its last known state.
    fn timeout_failure(&self, task: &Task) -> Failure {
        if task.phase() == TaskPhase::Waiting {
            return self.agent_task_failure(format!("task {} waits for a decision", self.id));
        }
        self.agent_task_failure(format!(
            "task {} did not end in time: its status is {}",
            self.id,
            task_text::describe_state(task)
        ))
    }

    /// Returns the failure for a task that stopped, if the response does not show whether its work is complete.
    fn unclear_end_failure(&self) -> Failure {
        let message = task_text::describe_unclear_end(self.id);
        Failure::from_message(ExitStatus::Undecided, message).with_hint(self.details_hint())
    }

    /// Returns the hint with the command that shows the task.
    fn details_hint(&self) -> String {
        format!(
            "run `sluicegate tasks show {}` for details",
            text::quote_shell_word(self.id)
        )
    }

    /// Returns a failure because of the task, with the command that shows the task as its hint.
    fn agent_task_failure(&self, message: String) -> Failure {
        Failure::from_message(ExitStatus::RemoteFailed, message).with_hint(self.details_hint())
    }

    /// Prints the collected messages, and the other fields of the first response, as one JSON document. Does nothing
    /// for text, because each message was printed when it was read.
    fn finish_output(&self) -> Result<(), Failure> {
        match self.output.output {
            OutputFormat::Text => Ok(()),
            OutputFormat::Json => {
                let mut document = self.reader.envelope();
                document.shift_insert(0, "results".to_owned(), json!(self.events));
                self.session
                    .ui
                    .print_result(&response_output::format_json(&document))
            }
        }
    }
}

/// Returns whether the task has ended, so that no further message follows.
fn is_ended(task: &Task) -> bool {
    matches!(
        task.phase(),
        TaskPhase::Finished | TaskPhase::Errored | TaskPhase::Stopped
    )
}

/// Formats an event, which is a message of a task, in one line: the time first, then all other fields. The turn
/// (`groupId`) and the text (`data`) are printed without a name. All fields are printed, because the API document does
/// not specify them.
pub(crate) fn format_event(event: &Value, now: Timestamp) -> String {
    let Value::Object(fields) = event else {
        return text::escape_line(&event.to_string()) + "\n";
    };
    let mut parts = Vec::new();
    if let Some(time) = event["timestamp"].as_str() {
        let distance = time.parse::<Timestamp>().map(|time| format_distance(time, now));
        parts.push(distance.map_or_else(|_| time.to_owned(), |ago| format!("{time} ({ago})")));
    }
    for (key, value) in fields.iter().filter(|(key, _)| *key != "timestamp") {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let is_unnamed = ["groupId", "data"].contains(&key.as_str());
        parts.push(if is_unnamed {
            text
        } else {
            format!("{key}: {text}")
        });
    }
    text::escape_line(&parts.join("  ")) + "\n"
}
