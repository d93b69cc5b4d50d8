//! The platform's agent tasks: creates, shows, decides and follows them.

pub(crate) mod create;
pub(crate) mod decide;
pub(crate) mod list;
pub(crate) mod messages;
pub(crate) mod permissions;
pub(crate) mod task_text;
pub(crate) mod task_wait;

use crate::error::Failure;
use crate::job::cli::{MessageArgs, TaskArgs};
use crate::session::resource_lookup::{ResourceKind, ResourceLookup};
use crate::session::{CommandResult, Session};
use serde_json::Value;
use sluicegate_base::input;
use sluicegate_base::text;
use sluicegate_base::text::format_path;
use sluicegate_platform::api::{Platform, TaskFilter, TaskPhase};
use sluicegate_platform::http::{ErrorKind, HttpError, request_for_hint};

/// Hint to check whether a task was created.
pub(crate) const TASK_CHECK_INSTRUCTION: &str = "run `sluicegate tasks list` to check";

/// Default time to wait for a task, in seconds.
const DEFAULT_TIMEOUT_SECONDS: u64 = 3600;

/// Maximum size of an instruction file, in bytes.
const MAX_MESSAGE_BYTES: u64 = 1024 * 1024;

/// Returns the failure of a request about a task. If no task has this id, the hint has the most similar id.
async fn task_request_failure(platform: &Platform, id: &str, error: HttpError) -> Failure {
    let lookup = ResourceLookup {
        kind: ResourceKind::Task,
        name: id,
        list_command: Some("tasks list --all-projects"),
        show_command: Some("tasks show"),
    };
    let tasks = match error.kind() {
        ErrorKind::NotFound => request_for_hint(platform.fetch_tasks(&TaskFilter::default())).await,
        _ => None,
    };
    let ids = tasks.map(|tasks| tasks.into_iter().filter_map(|task| task.value.task_id).collect());
    let id_hint = "pass the ID of the task: `sluicegate tasks list --all-projects` lists the tasks";
    lookup.request_failure_by_id(error, ids, id_hint)
}

/// Prints a task with its status and its pending decisions.
pub(crate) fn show_task(session: &Session, args: &TaskArgs) -> CommandResult {
    let platform = session.create_account_client()?;
    session.block_on(async {
        let task = match platform.fetch_task(&args.id).await {
            Ok(task) => task,
            Err(error) => return Err(task_request_failure(&platform, &args.id, error).await),
        };
        session.print_response(args.output, &task.raw, || {
            task_text::describe_task(&args.id, &task)
        })
    })?
}

/// Requests the platform to stop a task, which may still be running afterwards. With `--output json`, prints `null`,
/// because the platform's response is empty. If the platform refuses the request because the task has ended, also
/// succeeds, with a warning unless an earlier try of the request may have stopped the task.
pub(crate) fn stop_task(session: &Session, args: &TaskArgs) -> CommandResult {
    let platform = session.create_account_client()?;
    session.block_on(async {
        let mut text = format!(
            "asked task {} to stop; it will finish its current step first",
            args.id
        );
        if let Err(error) = platform.stop_task(&args.id).await {
            let Some(state) = find_state_after_conflict(&platform, &args.id, &error).await else {
                return Err(task_request_failure(&platform, &args.id, error).await);
            };
            text = format!("task {} is {state}", args.id);
            if !error.has_maybe_processed_try() {
                let id = &args.id;
                let warning = format!("nothing was stopped: task {id} had already ended in {state}");
                session.ui.warn(&warning);
            }
        }
        session.print_response(args.output, &Value::Null, || text::escape_line(&text) + "\n")
    })?
}

/// Returns the state of a task that has ended, after a request to stop it failed with a conflict: the end is a possible
/// cause. A task that is stopping has ended, too, if an earlier try of the request may have been processed.
async fn find_state_after_conflict(platform: &Platform, id: &str, error: &HttpError) -> Option<String> {
    if error.kind() != ErrorKind::Conflict {
        return None;
    }
    let task = request_for_hint(platform.fetch_task(id)).await?;
    let has_ended = match task.phase() {
        TaskPhase::Working => task.status.as_deref() == Some("STOPPING") && error.has_maybe_processed_try(),
        // A stopped task may still wait for a decision.
        TaskPhase::Unknown | TaskPhase::Waiting | TaskPhase::Stopped => false,
        TaskPhase::Finished | TaskPhase::Errored => true,
    };
    has_ended.then(|| task_text::describe_state(&task))
}

/// Deletes a task and all its data on the platform. With `--output json`, prints `null`, because the platform's
/// response is empty.
pub(crate) fn delete_task(session: &Session, args: &TaskArgs) -> CommandResult {
    let platform = session.create_account_client()?;
    session.block_on(async {
        if let Err(error) = platform.delete_task(&args.id).await {
            return Err(deletion_failure(&platform, &args.id, error).await);
        }
        let text = format!("deleted task {} and all its data", args.id);
        session.print_response(args.output, &Value::Null, || text::escape_line(&text) + "\n")
    })?
}

/// Returns the failure of the deletion of a task. A conflict means that the task is running.
async fn deletion_failure(platform: &Platform, id: &str, error: HttpError) -> Failure {
    let is_running = error.kind() == ErrorKind::Conflict;
    let failure = task_request_failure(platform, id, error).await;
    if !is_running {
        return failure;
    }
    let id = text::quote_shell_word(id);
    failure.with_hint(format!(
        "a running task cannot be deleted: run `sluicegate tasks stop {id}` first"
    ))
}

/// Returns the instruction for the agent from `--message` or `--message-file`. Fails if it is empty.
fn read_message(session: &Session, args: &MessageArgs) -> Result<String, Failure> {
    let text = match (&args.message, &args.message_file) {
        (Some(text), _) => text.clone(),
        (None, Some(path)) => {
            let bytes = session.read_user_file(&session.env.current_dir().join(path), MAX_MESSAGE_BYTES)?;
            input::decode_utf_8(bytes).map_err(|reason| {
                Failure::usage(format!(
                    "could not read the message file {}: {reason}",
                    format_path(path)
                ))
            })?
        }
        (None, None) => String::new(),
    };
    if text.trim().is_empty() {
        return Err(Failure::usage("the message is empty"));
    }
    Ok(text)
}
