//! Lists, shows, stops and removes tasks.

use super::{
    AGENT_NAME, GrantedTool, ID_PARAMETER, can_see_task, change_task, list_granted_tools,
    push_due_branch_of_task, push_due_branches, unknown_task,
};
use crate::agent::{AgentMode, OpenDecision, TaskConfig, TaskStatus};
use crate::app::App;
use crate::body_check::BodyCheck;
use crate::clock::Moment;
use crate::page::{Page, Query};
use crate::problem::{Problem, ProblemBody};
use crate::request_path::{self, RequestPath};
use crate::store::tasks::{self, StoredTask};
use crate::tokens::Caller;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

/// Returns the HTTP routes that list, show, delete and stop tasks.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list_tasks))
        .routes(routes!(show_task, delete_task))
        .routes(routes!(stop_task))
}

/// A task in a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TaskItem {
    #[schema(value_type = String, format = "uuid")]
    task_id: Uuid,
    status: TaskStatus,
    agent_name: &'static str,
    mode: AgentMode,
    description: String,
    #[schema(value_type = String, format = DateTime)]
    modified_at: Moment,
    #[schema(value_type = String, format = "uuid")]
    project_id: Uuid,
    #[schema(value_type = String, format = "uuid")]
    branch_id: Uuid,
}

/// A page of tasks.
#[derive(Debug, Serialize, ToSchema)]
struct TaskPage {
    tasks: Vec<TaskItem>,
    page: u64,
    size: u32,
    total: u64,
}

/// A task with all its details.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TaskDetail {
    #[schema(value_type = String, format = "uuid")]
    task_id: Uuid,
    status: TaskStatus,
    description: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Moment,
    #[schema(value_type = String, format = DateTime)]
    modified_at: Moment,
    agent_config: TaskConfig,
    granted_permissions: Vec<GrantedTool>,
    /// The decisions that the agent is waiting for; empty if the agent is working or has finished.
    pending_decisions: Vec<OpenDecision>,
}

/// Lists the tasks in the projects that are visible to the caller, newest first.
#[utoipa::path(
    get,
    path = "/v1/ai/agents/tasks",
    operation_id = "listTasks",
    tag = "Agent tasks",
    params(
        ("projectId" = Option<String>, Query, format = "uuid", description = "Return only tasks of this \
             project."),
        ("branchId" = Option<String>, Query, format = "uuid", description = "Return only the task of this \
             branch."),
        ("status" = Option<TaskStatus>, Query, description = "Return only tasks with this status."),
        Page,
    ),
    responses((status = 200, body = TaskPage, description = "A page of tasks."))
)]
async fn list_tasks(
    caller: Caller,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<TaskPage>, Problem> {
    let mut check = BodyCheck::default();
    let page = Page::from_query(&query, &mut check);
    let project = parse_uuid_parameter(&query, "projectId", &mut check);
    let branch = parse_uuid_parameter(&query, "branchId", &mut check);
    let status_name = query.find_value("status");
    let status = status_name.and_then(TaskStatus::parse);
    if status.is_none() && status_name.is_some() {
        let names: Vec<&str> = TaskStatus::ALL.iter().map(|status| status.name()).collect();
        check.add_error("status", format!("must be one of {}", names.join(", ")));
    }
    check.into_result(())?;
    let now = app.clock().now();
    push_due_branches(&app, &caller, now, move |connection| {
        tasks::list_tasks(connection, project, branch)
    })
    .await?;
    // The tasks are read again, because a push may have changed some of them.
    let tasks = app
        .store()
        .query(move |connection| tasks::list_tasks(connection, project, branch))
        .await?;
    let mut items: Vec<TaskItem> = Vec::new();
    for mut stored_task in tasks
        .into_iter()
        .filter(|stored_task| can_see_task(&app, &caller, stored_task))
    {
        // The status is known only after the task has advanced to the current time.
        stored_task.task.advance(now);
        if status.is_none_or(|status| stored_task.task.status() == status) {
            items.push(to_task_item(stored_task));
        }
    }
    let total = items.len() as u64;
    let start = usize::try_from(page.offset()).unwrap_or(usize::MAX);
    Ok(Json(TaskPage {
        tasks: items.into_iter().skip(start).take(page.size as usize).collect(),
        page: page.page,
        size: page.size,
        total,
    }))
}

/// Returns the UUID in a query parameter, or `None` if the parameter is missing. Records an error if the value is not a
/// UUID.
fn parse_uuid_parameter(query: &Query, name: &str, check: &mut BodyCheck) -> Option<Uuid> {
    let text = query.find_value(name)?;
    let id = request_path::parse_uuid(text);
    if id.is_none() {
        check.add_error(name, "must be a UUID");
    }
    id
}

/// Converts a task to an item of the list in a response.
fn to_task_item(stored_task: StoredTask) -> TaskItem {
    TaskItem {
        task_id: stored_task.id,
        status: stored_task.task.status(),
        agent_name: AGENT_NAME,
        mode: stored_task.task.config.mode,
        description: stored_task.description,
        modified_at: stored_task.task.modified_at,
        project_id: stored_task.project,
        branch_id: stored_task.branch,
    }
}

/// Shows a task.
#[utoipa::path(
    get,
    path = "/v1/ai/agents/tasks/{taskId}",
    operation_id = "showTask",
    tag = "Agent tasks",
    params(("taskId" = String, Path, format = "uuid", description = "The task's ID.")),
    responses((status = 200, body = TaskDetail, description = "The task and its state."))
)]
async fn show_task(
    caller: Caller,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
) -> Result<Json<TaskDetail>, Problem> {
    let id = request_path.uuid_parameter(ID_PARAMETER)?;
    let now = app.clock().now();
    push_due_branch_of_task(&app, &caller, now, id).await?;
    let stored_task = app
        .store()
        .query(move |connection| tasks::find_task(connection, id))
        .await?;
    let mut stored_task = stored_task
        .filter(|stored_task| can_see_task(&app, &caller, stored_task))
        .ok_or_else(|| unknown_task(id))?;
    stored_task.task.advance(now);
    Ok(Json(TaskDetail {
        task_id: id,
        status: stored_task.task.status(),
        description: stored_task.description,
        created_at: stored_task.created_at,
        modified_at: stored_task.task.modified_at,
        granted_permissions: list_granted_tools(&stored_task.task),
        pending_decisions: stored_task.task.pending_decisions(),
        agent_config: stored_task.task.config,
    }))
}

/// Stops a task and drops any pending decision.
#[utoipa::path(
    post,
    path = "/v1/ai/agents/tasks/{taskId}/stop",
    operation_id = "stopTask",
    tag = "Agent tasks",
    params(("taskId" = String, Path, format = "uuid", description = "The task's ID.")),
    responses((status = 204, description = "The agent is stopping or was not working."))
)]
async fn stop_task(
    caller: Caller,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
) -> Result<StatusCode, Problem> {
    let id = request_path.uuid_parameter(ID_PARAMETER)?;
    change_task(&app, &caller, id, |_, stored_task, author| {
        let message = stored_task.task.stop(author.time);
        Ok(Ok(((), message.into_iter().collect())))
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a task and its messages.
#[utoipa::path(
    delete,
    path = "/v1/ai/agents/tasks/{taskId}",
    operation_id = "deleteTask",
    tag = "Agent tasks",
    params(("taskId" = String, Path, format = "uuid", description = "The task's ID.")),
    responses(
        (status = 204, description = "The task was removed."),
        (status = 409, body = ProblemBody, description = "The agent is working; stop the task first."),
    )
)]
async fn delete_task(
    caller: Caller,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
) -> Result<StatusCode, Problem> {
    let id = request_path.uuid_parameter(ID_PARAMETER)?;
    let now = app.clock().now();
    push_due_branch_of_task(&app, &caller, now, id).await?;
    let shared_app = Arc::clone(&app);
    app.store()
        .try_change(move |transaction| {
            let stored_task = tasks::find_task(transaction, id)?;
            let Some(mut stored_task) =
                stored_task.filter(|stored_task| can_see_task(&shared_app, &caller, stored_task))
            else {
                return Ok(Err(unknown_task(id)));
            };
            stored_task.task.advance(now);
            // A task that is stopping can be removed: the agent takes no further steps.
            if stored_task.task.status() == TaskStatus::Running {
                return Ok(Err(Problem::conflict("the task is RUNNING; stop the task first")));
            }
            tasks::remove(transaction, &stored_task)?;
            Ok(Ok(()))
        })
        .await??;
    Ok(StatusCode::NO_CONTENT)
}
