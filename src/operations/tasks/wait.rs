//! Waits for the agent, and reports how its turn ended.

use super::{PATIENCE, no_task, shown};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{ApprovalScope, OutputArgs, PaceArgs, WaitArgs};
use crate::session::{CommandResult, Run};
use sluicegate_platform::api::{ApiValue, Platform, Task};
use sluicegate_platform::follow::{self, ApprovalPolicy, Pace, TaskEnd, TaskEvent, no_response_error};

/// The settings for waiting for a task, starting now.
pub(crate) struct TaskWait {
    policy: ApprovalPolicy,
    pub(crate) pace: Pace,
}

/// Returns the task before it continues, if the command waits for it: its status right afterwards may be outdated.
pub(crate) async fn told_to_go_on(
    platform: &Platform,
    id: &str,
    waiting: Option<&TaskWait>,
) -> Result<Option<ApiValue<Task>>, Failure> {
    let Some(waiting) = waiting else {
        return Ok(None);
    };
    match waiting.pace.before_deadline(platform.task(id)).await {
        Some(Ok(task)) => Ok(Some(task)),
        Some(Err(error)) => Err(no_task(platform, id, error).await),
        None => Err(Failure::from(no_response_error())
            .hint("nothing was sent; pass a longer --timeout to keep waiting")),
    }
}

impl TaskWait {
    /// Returns the wait set by the flags; `None` without `--wait`.
    pub(crate) fn of(run: &Run, args: &WaitArgs) -> Result<Option<Self>, Failure> {
        let waiting = Self::quiet(run, args.wait, &args.pace)?;
        Ok(waiting.map(|waiting| Self {
            policy: ApprovalPolicy {
                tools: args.tools.clone(),
                for_whole_task: args.scope == ApprovalScope::Conversation,
            },
            ..waiting
        }))
    }

    pub(crate) fn quiet(run: &Run, wait: bool, pace: &PaceArgs) -> Result<Option<Self>, Failure> {
        let pace = run.sources()?.poll_settings(pace, PATIENCE)?;
        Ok(wait.then(|| Self {
            policy: ApprovalPolicy::default(),
            pace: Pace::new(pace.first_interval, pace.time_limit),
        }))
    }

    /// Waits, and prints how the task ended; returns success only for a finished task.
    pub(crate) async fn follow(
        &self,
        run: &Run,
        platform: &Platform,
        id: &str,
        before: Option<(ApiValue<Task>, Vec<String>)>,
        output: OutputArgs,
    ) -> CommandResult {
        let told = |turn: TaskEvent<'_>| match turn {
            TaskEvent::Status(status) => run.ui.say(&format!("the task is {status}")),
            TaskEvent::Approved(tool) => run.ui.say(&format!("approved the tool {tool}")),
        };
        let before = before
            .as_ref()
            .map(|(task, answered)| (&task.value, answered.clone()));
        let (task, end) = follow::poll_task(platform, id, &self.policy, before, self.pace, told)
            .await
            .map_err(|error| {
                Failure::from(error).hint(format!(
                    "the task is still running; run `sluicegate tasks show {id}` to see its status"
                ))
            })?;
        run.show(output, &task.raw, || shown::whole(id, &task))?;
        match problem(id, end, self.pace.limit().as_secs(), &task) {
            None => Ok(ExitStatus::Success),
            Some(failure) => Err(failure),
        }
    }
}

fn problem(id: &str, end: TaskEnd, limit: u64, task: &Task) -> Option<Failure> {
    let status = match end {
        TaskEnd::Unclear => ExitStatus::Undecided,
        _ => ExitStatus::RemoteFailed,
    };
    let state = shown::state(task);
    let (message, hint) = match end {
        TaskEnd::Finished => return None,
        TaskEnd::Waiting => (
            format!("the task {id} waits for a decision"),
            "run the command printed above to answer it".to_owned(),
        ),
        TaskEnd::Errored => (
            format!("the task {id} failed"),
            format!("run `sluicegate tasks messages {id}` to see why"),
        ),
        TaskEnd::Halted => (
            format!("the task {id} was stopped before it was finished"),
            format!("run `sluicegate tasks send {id}` to continue it"),
        ),
        TaskEnd::Unclear => (
            format!("the task {id} is STOPPED, but the response does not show whether it is finished"),
            format!("run `sluicegate tasks messages {id}` to see its messages"),
        ),
        TaskEnd::Deadline => (
            format!("the task {id} did not end within {limit} s: its status is {state}"),
            format!("the task is still running; run `sluicegate tasks stop {id}` to stop it"),
        ),
    };
    Some(Failure::new(status, anyhow::Error::msg(message)).hint(hint))
}
