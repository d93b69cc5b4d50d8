//! Lists, shows, stops and removes tasks.

use super::{AGENT, GrantedTool, ID, change, missing, sees, shown};
use crate::agent::{AgentMode, OpenDecision, TaskConfig, TaskStatus};
use crate::app::App;
use crate::check::BodyCheck;
use crate::clock::Moment;
use crate::page::{Page, Query};
use crate::place::{self, RequestPath};
use crate::problem::{Problem, ProblemBody};
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

const STATUSES: [&str; 4] = ["RUNNING", "STOPPED", "STOPPING", "ERRORED"];

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(show, remove))
        .routes(routes!(stop))
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
    /// The decisions that the agent waits for; empty if it is working or has finished.
    pending_decisions: Vec<OpenDecision>,
}

/// Lists the tasks in the projects that are visible to the caller, newest first.
#[utoipa::path(
    get,
    path = "/v1/ai/agents/tasks",
    operation_id = "listTasks",
    tag = "Agent tasks",
    params(
        ("projectId" = Option<String>, Query, format = "uuid", description = "Only tasks of this project."),
        ("branchId" = Option<String>, Query, format = "uuid", description = "Only the task of this branch."),
        ("status" = Option<TaskStatus>, Query, description = "Only tasks with this status."),
        Page,
    ),
    responses((status = 200, body = TaskPage, description = "A page of the tasks."))
)]
async fn list(caller: Caller, State(app): State<Arc<App>>, query: Query) -> Result<Json<TaskPage>, Problem> {
    let mut check = BodyCheck::default();
    let page = Page::read(&query, &mut check);
    let project = uuid(&query, "projectId", &mut check);
    let branch = uuid(&query, "branchId", &mut check);
    let status = query.find_value("status");
    if status.is_some_and(|status| !STATUSES.contains(&status)) {
        check.note("status", format!("must be one of {}", STATUSES.join(", ")));
    }
    let status = status.and_then(|name| serde_json::from_value::<TaskStatus>(name.into()).ok());
    check.done(())?;
    let now = app.clock().now();
    let found = app
        .store()
        .read(move |connection| tasks::list(connection, project, branch))
        .await?;
    let mut items: Vec<TaskItem> = Vec::new();
    for mut stored in found.into_iter().filter(|stored| sees(&app, &caller, stored)) {
        stored.task.advance(now);
        if status.is_none_or(|status| stored.task.status() == status) {
            items.push(item(stored));
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

fn uuid(query: &Query, name: &str, check: &mut BodyCheck) -> Option<Uuid> {
    let text = query.find_value(name)?;
    let id = place::uuid(text);
    if id.is_none() {
        check.note(name, "must be a UUID");
    }
    id
}

fn item(stored: StoredTask) -> TaskItem {
    TaskItem {
        task_id: stored.id,
        status: stored.task.status(),
        agent_name: AGENT,
        mode: stored.task.config.mode,
        description: stored.description,
        modified_at: stored.task.modified_at,
        project_id: stored.project,
        branch_id: stored.branch,
    }
}

/// Shows a task.
#[utoipa::path(
    get,
    path = "/v1/ai/agents/tasks/{taskId}",
    operation_id = "showTask",
    tag = "Agent tasks",
    params(("taskId" = String, Path, format = "uuid", description = "The task.")),
    responses((status = 200, body = TaskDetail, description = "The state of the task."))
)]
async fn show(
    caller: Caller,
    State(app): State<Arc<App>>,
    place: RequestPath,
) -> Result<Json<TaskDetail>, Problem> {
    let id = place.uuid(ID)?;
    let stored = app
        .store()
        .read(move |connection| tasks::find(connection, id))
        .await?;
    let mut stored = stored
        .filter(|stored| sees(&app, &caller, stored))
        .ok_or_else(|| missing(id))?;
    stored.task.advance(app.clock().now());
    Ok(Json(TaskDetail {
        task_id: id,
        status: stored.task.status(),
        description: stored.description,
        created_at: stored.created_at,
        modified_at: stored.task.modified_at,
        granted_permissions: shown(&stored.task),
        pending_decisions: stored.task.pending_decisions(),
        agent_config: stored.task.config,
    }))
}

/// Stops a task and drops any pending decision.
#[utoipa::path(
    post,
    path = "/v1/ai/agents/tasks/{taskId}/stop",
    operation_id = "stopTask",
    tag = "Agent tasks",
    params(("taskId" = String, Path, format = "uuid", description = "The task.")),
    responses((status = 204, description = "The agent is stopping or was not working."))
)]
async fn stop(
    caller: Caller,
    State(app): State<Arc<App>>,
    place: RequestPath,
) -> Result<StatusCode, Problem> {
    let id = place.uuid(ID)?;
    change(&app, &caller, id, |_, stored, author| {
        let said = stored.task.stop(author.at);
        Ok(Ok(((), said.into_iter().collect())))
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
    params(("taskId" = String, Path, format = "uuid", description = "The task.")),
    responses(
        (status = 204, description = "The task was removed."),
        (status = 409, body = ProblemBody, description = "The agent is working; stop it first."),
    )
)]
async fn remove(
    caller: Caller,
    State(app): State<Arc<App>>,
    place: RequestPath,
) -> Result<StatusCode, Problem> {
    let id = place.uuid(ID)?;
    let state = Arc::clone(&app);
    app.store()
        .try_change(move |transaction| {
            let found = tasks::find(transaction, id)?;
            let Some(mut stored) = found.filter(|stored| sees(&state, &caller, stored)) else {
                return Ok(Err(missing(id)));
            };
            stored.task.advance(state.clock().now());
            if stored.task.status() == TaskStatus::Running {
                return Ok(Err(Problem::conflict("the task is RUNNING; stop it first")));
            }
            tasks::remove(transaction, &stored)?;
            Ok(Ok(()))
        })
        .await??;
    Ok(StatusCode::NO_CONTENT)
}
