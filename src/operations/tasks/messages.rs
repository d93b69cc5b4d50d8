//! Runs `sluicegate tasks messages`.

use super::{PATIENCE, no_task, platform, shown};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputArgs, OutputFormat, PaceArgs};
use crate::session::output;
use crate::session::output::relative;
use crate::session::{CommandResult, Run};
use jiff::Timestamp;
use serde_json::{Value, json};
use sluicegate_base::text;
use sluicegate_platform::api::{Platform, Task, TaskPhase};
use sluicegate_platform::follow::{MessageReader, Pace, no_response_error};

pub(crate) fn run(
    run: &Run,
    id: &str,
    limit: usize,
    follow: Option<&PaceArgs>,
    output: OutputArgs,
) -> CommandResult {
    let pace = match follow {
        None => None,
        Some(args) => {
            let waiting = run.sources()?.poll_settings(args, PATIENCE)?;
            Some(Pace::new(waiting.first_interval, waiting.time_limit))
        }
    };
    let platform = platform(run)?;
    let mut history = History {
        run,
        platform,
        id,
        output,
        reader: MessageReader::new(limit),
        all: Vec::new(),
    };
    run.requests(async {
        let status = match pace {
            None => history.read().await.map(|()| ExitStatus::Success),
            Some(pace) => history.follow(pace).await,
        };
        history.finish()?;
        status
    })?
}

/// A history that is printed while it is read; as JSON, one document at the end.
struct History<'a> {
    run: &'a Run,
    platform: Platform,
    id: &'a str,
    output: OutputArgs,
    reader: MessageReader,
    all: Vec<Value>,
}

impl History<'_> {
    /// Reads all messages that exist now.
    async fn read(&mut self) -> Result<(), Failure> {
        loop {
            match self.reader.read_next(&self.platform, self.id).await {
                Ok((events, more)) => {
                    self.show(events)?;
                    if !more {
                        return Ok(());
                    }
                }
                Err(error) => return Err(no_task(&self.platform, self.id, error).await),
            }
        }
    }

    fn show(&mut self, events: Vec<Value>) -> Result<(), Failure> {
        if self.output.output == OutputFormat::Text {
            let now = Timestamp::now();
            let shown: String = events.iter().map(|event| words(event, now)).collect();
            self.run.ui.print_result(&shown)?;
        } else {
            self.all.extend(events);
        }
        Ok(())
    }

    /// Reads messages until the task has ended. The status is requested before the messages, so that the last messages
    /// are not missed.
    async fn follow(&mut self, mut pace: Pace) -> CommandResult {
        let (mut waited, mut state) = (false, None);
        loop {
            let Some(task) = pace.before_deadline(self.platform.task(self.id)).await else {
                return Err(self.late(state));
            };
            let task = match task {
                Ok(task) => task,
                Err(error) => return Err(no_task(&self.platform, self.id, error).await),
            };
            state = Some(shown::state(&task));
            match pace.before_deadline(self.read()).await {
                Some(read) => read?,
                None => return Err(self.late(state)),
            }
            match task.phase() {
                TaskPhase::Finished => return Ok(ExitStatus::Success),
                TaskPhase::Errored => return Err(self.failure(format!("the task {} failed", self.id))),
                TaskPhase::Waiting if !waited => self.tell_that_it_waits(&task),
                _ => {}
            }
            waited = task.phase() == TaskPhase::Waiting;
            if !pace.pause().await {
                return Err(self.late(state));
            }
        }
    }

    fn tell_that_it_waits(&self, task: &Task) {
        let decisions = shown::decisions(self.id, task);
        self.run.ui.warn(&format!(
            "the task waits for a decision\n{}",
            decisions.trim_end()
        ));
    }

    /// Returns the failure of a task that did not end in time, with its last state.
    fn late(&self, state: Option<String>) -> Failure {
        match state {
            Some(state) => self.failure(format!(
                "the task {} did not end in time: its status is {state}",
                self.id
            )),
            None => no_response_error().into(),
        }
    }

    fn failure(&self, message: String) -> Failure {
        Failure::new(ExitStatus::RemoteFailed, anyhow::Error::msg(message))
            .hint(format!("run `sluicegate tasks show {}` for details", self.id))
    }

    fn finish(&self) -> Result<(), Failure> {
        match self.output.output {
            OutputFormat::Text => Ok(()),
            OutputFormat::Json => self
                .run
                .ui
                .print_result(&output::json(&json!({ "results": self.all }))),
        }
    }
}

/// Returns an event as one line: time, turn, data and other fields. The API document does not specify its fields.
fn words(event: &Value, now: Timestamp) -> String {
    let Value::Object(fields) = event else {
        return text::escape_line(&event.to_string()) + "\n";
    };
    let mut parts = Vec::new();
    if let Some(time) = event["timestamp"].as_str() {
        let ago = time.parse::<Timestamp>().map(|then| relative(then, now));
        parts.push(ago.map_or_else(|_| time.to_owned(), |ago| format!("{time} ({ago})")));
    }
    for (key, value) in fields.iter().filter(|(key, _)| *key != "timestamp") {
        let said = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let known = ["groupId", "data"].contains(&key.as_str());
        parts.push(if known { said } else { format!("{key}: {said}") });
    }
    text::escape_line(&parts.join("  ")) + "\n"
}
