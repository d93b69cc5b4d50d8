//! Runs `sluicegate tasks list`. The status STOPPED has two meanings, which only a task's details distinguish, so the
//! details are requested.

use super::task_text;
use crate::error::Failure;
use crate::job::cli::{ListTasksArgs, OutputFormat};
use crate::session::resource::{build_list_envelope, describe_unknown_project, project_request_failure};
use crate::session::{CommandResult, Session};
use futures_util::stream::{self, StreamExt as _};
use serde_json::Value;
use sluicegate_base::text::format_count;
use sluicegate_platform::api::{ApiList, ApiValue, Platform, Task, TaskFilter, TaskPhase};
use sluicegate_platform::http::{ErrorKind, HttpError};
use uuid::Uuid;

/// Number of details to request at the same time.
const MAX_CONCURRENT_REQUESTS: usize = 8;

/// Prints the tasks of the project that match the flags. With `--all-projects`, or if no project is set, prints the
/// tasks of all projects.
pub(crate) fn print_tasks(session: &Session, args: ListTasksArgs) -> CommandResult {
    let connection = session
        .read_setting_sources()?
        .resolve_account_connection(&session.global)?;
    let project = if args.all_projects {
        None
    } else {
        connection.find_project_id()?
    };
    let platform = session.create_platform_client(&connection)?;
    let filter = TaskFilter {
        project_id: project.map(|id| id.to_string()),
        branch_id: args.branch_id,
        status: args.status.map(|status| status.to_uppercase()),
    };
    session.block_on(async {
        let list = fetch_matching_tasks(session, &platform, &filter, project).await?;
        let mut tasks = list.entries;
        // The platform cannot filter by the name of a branch.
        if let Some(branch) = &args.branch {
            tasks = filter_by_branch(session, &platform, tasks, branch).await?;
        }
        let mut items: Vec<Value> = tasks.iter().map(|task| task.raw.clone()).collect();
        // The JSON output contains the tasks unchanged.
        if args.output.output == OutputFormat::Text {
            replace_statuses(session, &platform, &tasks, &mut items).await?;
        }
        let columns = [
            ("taskId", "task"),
            ("status", "status"),
            ("mode", "mode"),
            ("description", "description"),
            ("modifiedAt", "modified"),
            ("agentName", "agent"),
            ("projectId", "project"),
            ("branchId", "branch"),
        ];
        let envelope = build_list_envelope("tasks", items, list.envelope);
        session.print_envelope(args.output, "tasks", &envelope, &columns, "no tasks match")
    })?
}

/// Requests the tasks that match the filter. Warns if there are none because the project does not exist: for an unknown
/// project in the filter, the platform returns an empty list, not a 404.
async fn fetch_matching_tasks(
    session: &Session,
    platform: &Platform,
    filter: &TaskFilter,
    project: Option<Uuid>,
) -> Result<ApiList<Task>, Failure> {
    let tasks = match (platform.fetch_tasks(filter).await, project) {
        (Ok(tasks), _) => tasks,
        (Err(error), Some(project)) => return Err(project_request_failure(platform, project, error).await),
        (Err(error), None) => return Err(error.into()),
    };
    if tasks.is_empty()
        && let Some(project) = project
        && let Some(warning) = describe_unknown_project(platform, project).await
    {
        session.ui.warn(&warning);
    }
    Ok(tasks)
}

/// Replaces the status in each item with the described state of its task. `items` is in the order of `tasks`. Warns if
/// the details of a task are unavailable, and requests no further ones if the platform is. Fails if the
/// platform rejects the token, but not if a single task may not be read.
async fn replace_statuses(
    session: &Session,
    platform: &Platform,
    tasks: &[ApiValue<Task>],
    items: &mut [Value],
) -> Result<(), HttpError> {
    let mut states = stream::iter(tasks.iter().map(|task| describe_task_state(platform, task)))
        .buffered(MAX_CONCURRENT_REQUESTS);
    let (mut missing_count, mut is_outage) = (0, false);
    let mut first_error = None;
    for (item, task) in items.iter_mut().zip(tasks) {
        // A request is only sent while the stream is polled.
        let result = if is_outage { None } else { states.next().await };
        let state = match result {
            Some(Ok(state)) => state,
            None if find_stopped_id(task).is_none() => task_text::describe_state(task),
            Some(Err(error)) if error.kind() == ErrorKind::Unauthorized => return Err(error),
            result => {
                if let Some(Err(error)) = result {
                    is_outage = error.is_unavailable();
                    first_error.get_or_insert(error);
                }
                missing_count += 1;
                "STOPPED (details unavailable)".to_owned()
            }
        };
        if let Value::Object(fields) = item {
            fields.insert("status".to_owned(), state.into());
        }
    }
    if let Some(error) = first_error {
        warn_of_missing_details(session, missing_count, "stopped task", &error);
    }
    Ok(())
}

/// Prints the warning that the details of tasks are unavailable. `task_words` names one of them.
fn warn_of_missing_details(session: &Session, task_count: usize, task_words: &str, error: &HttpError) {
    let tasks = format_count(task_count, task_words);
    session
        .ui
        .warn(&format!("the details of {tasks} are unavailable: {error}"));
}

/// Returns the tasks that work on the branch with this name. The name is only in the details of a task, so each task is
/// requested. Warns if the user may not read the details of a task: the result does not contain this task.
async fn filter_by_branch(
    session: &Session,
    platform: &Platform,
    tasks: Vec<ApiValue<Task>>,
    branch: &str,
) -> Result<Vec<ApiValue<Task>>, HttpError> {
    let mut branch_names = stream::iter(tasks.iter().map(|task| find_branch_name(platform, task)))
        .buffered(MAX_CONCURRENT_REQUESTS);
    let mut matching_tasks = Vec::new();
    let mut forbidden_errors = Vec::new();
    for task in &tasks {
        match branch_names.next().await {
            Some(Ok(name)) if name.as_deref() == Some(branch) => matching_tasks.push(task.clone()),
            Some(Err(error)) if error.kind() == ErrorKind::Forbidden => forbidden_errors.push(error),
            Some(Err(error)) => return Err(error),
            Some(Ok(_)) | None => {}
        }
    }
    if let Some(error) = forbidden_errors.first() {
        warn_of_missing_details(session, forbidden_errors.len(), "task", error);
    }
    Ok(matching_tasks)
}

/// Requests the branch of a task: the one that it writes to, otherwise the one that it reads. `None` if the task has no
/// id or was deleted meanwhile.
async fn find_branch_name(platform: &Platform, task: &Task) -> Result<Option<String>, HttpError> {
    let Some(id) = &task.task_id else { return Ok(None) };
    match platform.fetch_task(id).await {
        Ok(detail) => {
            let config = detail.value.agent_config.unwrap_or_default();
            Ok(config.target_branch_name.or(config.source_branch_name))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the id of a task if its details must be requested, because it is stopped.
fn find_stopped_id(task: &Task) -> Option<&str> {
    task.task_id
        .as_deref()
        .filter(|_| task.phase() == TaskPhase::Stopped)
}

/// Returns the status of a task as text. Requests the details of a stopped task, because only they show whether it is
/// finished.
async fn describe_task_state(platform: &Platform, task: &ApiValue<Task>) -> Result<String, HttpError> {
    let Some(id) = find_stopped_id(task) else {
        return Ok(task_text::describe_state(task));
    };
    match platform.fetch_task(id).await {
        Ok(detail) => Ok(task_text::describe_state(&detail)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok("STOPPED (deleted meanwhile)".to_owned()),
        Err(error) => Err(error),
    }
}
