//! Waits for the agent, and reports how its turn ended.

use super::{DEFAULT_TIMEOUT_SECONDS, task_request_failure, task_text};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{ApprovalScope, OutputArgs, OutputFormat, PaceArgs, WaitArgs};
use crate::session::{CommandResult, Session};
use sluicegate_base::text::quote_shell_word;
use sluicegate_platform::api::{ApiValue, Platform, Task, TaskPhase};
use sluicegate_platform::follow::{self, ApprovalPolicy, Pace, TaskEnd};
use sluicegate_platform::http::{ErrorKind, HttpError};

/// The settings for waiting for a task, starting now.
pub(crate) struct TaskWait {
    policy: ApprovalPolicy,
    pub(crate) pace: Pace,
}

/// Returns the failure of a wait that an error ended. The hint for the cause comes first, then that the task may still
/// be running.
async fn wait_failure(platform: &Platform, id: &str, error: HttpError) -> Failure {
    let kind = error.kind();
    let failure = task_request_failure(platform, id, error).await;
    add_status_hint(failure, kind, id)
}

/// Adds the hint that the task may still be running to the failure of a wait that an error of this kind ended. After a
/// 404, nothing is added, because the platform does not have the task.
pub(crate) fn add_status_hint(failure: Failure, kind: ErrorKind, id: &str) -> Failure {
    if kind == ErrorKind::NotFound {
        return failure;
    }
    failure.with_further_hint(&format!(
        "the task may still be running: run `sluicegate tasks show {}` to see its status",
        quote_shell_word(id)
    ))
}

/// Requests the state of the task before a command resumes it; `None` without `--wait`. The wait needs it because the
/// platform may report the old status for a while.
pub(crate) async fn fetch_task_before_resume(
    platform: &Platform,
    id: &str,
    wait: Option<&TaskWait>,
) -> Result<Option<ApiValue<Task>>, Failure> {
    let Some(wait) = wait else {
        return Ok(None);
    };
    match wait.pace.await_before_deadline(platform.fetch_task(id)).await {
        Ok(Ok(task)) => Ok(Some(task)),
        Ok(Err(error)) => Err(task_request_failure(platform, id, error).await),
        Err(error) => {
            Err(Failure::from(error).with_hint("nothing was sent; pass a longer --timeout to keep waiting"))
        }
    }
}

impl TaskWait {
    /// Reads the settings for `--wait`, with the tools to approve meanwhile. `None` without `--wait`.
    pub(crate) fn from_args(session: &Session, args: &WaitArgs) -> Result<Option<Self>, Failure> {
        let wait = Self::without_approvals(session, args.wait, &args.pace)?;
        Ok(wait.map(|wait| Self {
            policy: ApprovalPolicy {
                tools: args.tools.clone(),
                for_whole_task: args.scope == ApprovalScope::Conversation,
            },
            ..wait
        }))
    }

    /// Reads the settings for a wait that approves no tool. `None` if no wait is requested, but invalid settings are
    /// always an error.
    pub(crate) fn without_approvals(
        session: &Session,
        is_requested: bool,
        pace: &PaceArgs,
    ) -> Result<Option<Self>, Failure> {
        let poll_settings = session
            .read_setting_sources()?
            .resolve_poll_settings(pace, DEFAULT_TIMEOUT_SECONDS)?;
        Ok(is_requested.then(|| Self {
            policy: ApprovalPolicy::default(),
            pace: Pace::new(poll_settings.first_interval, poll_settings.time_limit),
        }))
    }

    /// Waits until the task ends, and prints its state. Fails unless the task finished. For a task that a command
    /// resumed, `earlier_state` is the state before, with the ids of the decisions that were sent.
    pub(crate) async fn follow_task(
        &self,
        session: &Session,
        platform: &Platform,
        id: &str,
        earlier_state: Option<(ApiValue<Task>, Vec<String>)>,
        output: OutputArgs,
    ) -> CommandResult {
        let earlier_task = earlier_state
            .as_ref()
            .map(|(task, decided_ids)| (&task.value, decided_ids.clone()));
        session.signals.set_last_words(&format!(
            "the task continues; run `sluicegate tasks stop {}` to stop it",
            quote_shell_word(id)
        ));
        let result =
            follow::follow_task_to_end(platform, id, &self.policy, earlier_task, self.pace, |event| {
                session.ui.say(&event.to_string());
            })
            .await;
        session.signals.set_last_words("");
        let (task, end) = match result {
            Ok(end) => end,
            Err(error) => return Err(wait_failure(platform, id, error).await),
        };
        session.print_response(output, &task.raw, || task_text::describe_task(id, &task))?;
        let prints_commands =
            output.output == OutputFormat::Text && task_text::has_answerable_decision(&task);
        match unfinished_task_failure(id, end, self.pace.limit().as_secs(), &task, prints_commands) {
            None => Ok(ExitStatus::Success),
            Some(failure) => Err(failure),
        }
    }
}

/// Returns the failure for a task that did not finish, with the next step as its hint; `None` for a finished task.
/// `limit` is the time limit in seconds. `prints_commands` is true if the output contains commands that answer pending
/// decisions.
fn unfinished_task_failure(
    id: &str,
    end: TaskEnd,
    limit: u64,
    task: &Task,
    prints_commands: bool,
) -> Option<Failure> {
    let status = match end {
        // The task may have finished.
        TaskEnd::Unclear | TaskEnd::Unresumed => ExitStatus::Undecided,
        _ => ExitStatus::RemoteFailed,
    };
    let (state, id_word) = (task_text::describe_state(task), quote_shell_word(id));
    let (message, hint) = match end {
        TaskEnd::Finished => return None,
        TaskEnd::Waiting => (
            format!("task {id} waits for a decision"),
            if prints_commands {
                "to decide, run the command printed above".to_owned()
            } else {
                format!("run `sluicegate tasks show {id_word}` to see the decision")
            },
        ),
        TaskEnd::Errored => (
            format!("task {id} failed"),
            format!("run `sluicegate tasks messages {id_word}` to see why"),
        ),
        TaskEnd::Halted => (
            format!("task {id} was stopped before it finished"),
            format!("run `sluicegate tasks send {id_word}` to continue it"),
        ),
        TaskEnd::Unclear => (
            task_text::describe_unclear_end(id),
            format!("run `sluicegate tasks messages {id_word}` to see its messages"),
        ),
        TaskEnd::Unresumed => (
            task_text::describe_missing_resumption(id, task),
            format!("run `sluicegate tasks show {id_word}` to see its status"),
        ),
        TaskEnd::Deadline => (
            format!("task {id} did not end within {limit} s: its status is {state}"),
            if task.phase() == TaskPhase::Working {
                format!("the task is still running; run `sluicegate tasks stop {id_word}` to stop it")
            } else {
                format!("run `sluicegate tasks show {id_word}` to see its status")
            },
        ),
    };
    Some(Failure::from_message(status, message).with_hint(hint))
}
