//! The platform's agent tasks: creates, shows, decides and follows them.

pub(crate) mod create;
pub(crate) mod decide;
pub(crate) mod list;
pub(crate) mod messages;
pub(crate) mod permissions;
pub(crate) mod shown;
pub(crate) mod wait;

use crate::error::Failure;
use crate::job::cli::{MessageArgs, TaskArgs};
use crate::session::named_file::read_bounded;
use crate::session::resource::Sought;
use crate::session::{CommandResult, Run};
use serde_json::Value;
use sluicegate_base::input;
use sluicegate_base::text;
use sluicegate_platform::api::{Platform, TaskFilter};
use sluicegate_platform::http::HttpError;

/// Default time to wait for a task, in seconds.
const PATIENCE: u64 = 3600;

/// Maximum size of an instruction file, in bytes.
const MESSAGE_LIMIT: u64 = 1024 * 1024;

/// Returns the platform's client; requests for tasks need no project.
fn platform(run: &Run) -> Result<Platform, Failure> {
    run.platform(&run.sources()?.connection(&run.global)?)
}

/// Returns the failure for a task; for a 404, with the most similar task id.
async fn no_task(platform: &Platform, id: &str, error: HttpError) -> Failure {
    let sought = Sought {
        what: "task",
        name: id,
        list: Some("tasks list --all-projects"),
        alone: Some("tasks show"),
    };
    let names = async {
        let all = platform.tasks(&TaskFilter::default()).await?;
        Ok(all.into_iter().filter_map(|it| it.value.task_id).collect())
    };
    sought.missing(error, names).await
}

pub(crate) fn show(run: &Run, args: &TaskArgs) -> CommandResult {
    let platform = platform(run)?;
    run.requests(async {
        let task = match platform.task(&args.id).await {
            Ok(task) => task,
            Err(error) => return Err(no_task(&platform, &args.id, error).await),
        };
        run.show(args.output, &task.raw, || shown::whole(&args.id, &task))
    })?
}

pub(crate) fn stop(run: &Run, args: &TaskArgs) -> CommandResult {
    let platform = platform(run)?;
    run.requests(async {
        if let Err(error) = platform.stop_task(&args.id).await {
            return Err(no_task(&platform, &args.id, error).await);
        }
        let words = format!(
            "requested the task {} to stop; it first finishes its current step",
            args.id
        );
        run.show(args.output, &Value::Null, || text::escape_line(&words) + "\n")
    })?
}

pub(crate) fn delete(run: &Run, args: &TaskArgs) -> CommandResult {
    let platform = platform(run)?;
    run.requests(async {
        if let Err(error) = platform.delete_task(&args.id).await {
            return Err(no_task(&platform, &args.id, error).await);
        }
        let words = format!("deleted the task {} and all its data", args.id);
        run.show(args.output, &Value::Null, || text::escape_line(&words) + "\n")
    })?
}

/// Returns the instruction from the flag or the file.
fn message(run: &Run, args: &MessageArgs) -> Result<String, Failure> {
    let text = match (&args.message, &args.message_file) {
        (Some(text), _) => text.clone(),
        (None, Some(path)) => {
            let bytes = read_bounded(&run.env.current_dir().join(path), MESSAGE_LIMIT)?;
            input::decode_utf_8(bytes).map_err(|reason| {
                Failure::usage(format!(
                    "could not read the message's file {}: {reason}",
                    path.display()
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
