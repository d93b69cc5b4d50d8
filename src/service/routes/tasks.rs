//! Agent tasks from beginning to end (API document, "AI agent tasks").

use super::tasks_shapes::{CreatedTask, GrantedTool, TaskDetail, TaskItem, TaskPage, TaskRequest};
use crate::service::agent::{AgentConfig, Message, Mode, Status, TOOLS, Task};
use crate::service::app::App;
use crate::service::auth::Caller;
use crate::service::body::JsonObject;
use crate::service::check::Check;
use crate::service::options::Role;
use crate::service::page::{Page, Query};
use crate::service::place::{self, Place};
use crate::service::problem::{Problem, ProblemBody};
use crate::service::project::Project;
use crate::service::published;
use crate::service::store::events::{self, Author, Entry, Kind};
use crate::service::store::tasks::{self, NewTask, StoredTask};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use rusqlite::Transaction;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

/// The name of the one agent.
pub(super) const AGENT: &str = "data_engineer_agent";

/// The modes of an agent.
pub(super) const MODES: [&str; 2] = ["ACT", "PLAN"];

const STATUSES: [&str; 4] = ["RUNNING", "STOPPED", "STOPPING", "ERRORED"];

/// The routes of this resource.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(show, remove))
        .routes(routes!(stop))
}

/// Begins a task.
#[utoipa::path(
    post,
    path = "/v1/ai/agents/tasks",
    operation_id = "createTask",
    tag = "Agent tasks",
    request_body = TaskRequest,
    responses(
        (status = 201, body = CreatedTask, description = "The agent works."),
        (status = 404, body = ProblemBody, description = "There is no such project for the caller."),
    )
)]
async fn create(
    caller: Caller,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<CreatedTask>), Problem> {
    let id = Uuid::new_v4();
    let mut check = Check::default();
    let message = check.text(&body, "message");
    let config = check.object(&body, "agentConfig", |check, config| {
        read_config(check, config, id)
    });
    let granted = check.optional_objects(&body, "grantedPermissions", read_tool);
    let (message, config, granted) = check.done((message, config, granted))?;
    // An object that is missing was a finding.
    let (project, config) =
        config.ok_or_else(|| Problem::invalid_field("agentConfig", "must not be null"))?;
    let project = Project::find(&app, &caller, project).await?;
    let trouble = trouble(&app, &project, &config.source_branch_name).await?;
    let author = app.author(&caller);
    let created_at = author.at;
    let (task, said) = Task::begin(config, granted.unwrap_or_default(), trouble, &message, created_at);
    let new = NewTask {
        id,
        project: project.id,
        description: message,
        created_at,
        task,
    };
    app.store()
        .change(move |transaction| {
            tasks::insert(transaction, &new, &said)?;
            record(
                transaction,
                &author,
                Kind::PromptSubmitted,
                (new.project, new.id),
                &new.description,
            )
        })
        .await?;
    let created = CreatedTask {
        task_id: id,
        status: Status::Running,
        agent_name: AGENT,
        created_at,
    };
    Ok((StatusCode::CREATED, Json(created)))
}

fn read_config(check: &mut Check, config: &Map<String, Value>, id: Uuid) -> (Uuid, AgentConfig) {
    let name = check.one_of(config, "name", &[AGENT]);
    let mode = read_mode(&check.one_of(config, "mode", &MODES));
    let project = check.uuid(config, "projectId");
    let source_branch_name = check.text(config, "sourceBranchName");
    let environment_name = check.text(config, "environmentName");
    let target = check.optional_text(config, "targetBranchName");
    let generate_branch = check
        .optional_boolean(config, "generateBranch")
        .unwrap_or_default();
    if target.is_none() && !generate_branch {
        check.note(
            "targetBranchName",
            "must not be null unless generateBranch is true",
        );
    }
    let config = AgentConfig {
        name,
        mode,
        project_id: project.to_string(),
        source_branch_name,
        environment_name,
        target_branch_name: target.unwrap_or_else(|| format!("agent/{}", id.simple())),
        generate_branch,
        graph_id: check.any_text(config, "graphId"),
        working_directory: check.any_text(config, "workingDirectory"),
    };
    (project, config)
}

pub(super) fn read_mode(name: &str) -> Mode {
    if name == "PLAN" { Mode::Plan } else { Mode::Act }
}

pub(super) fn read_tool(check: &mut Check, item: &Map<String, Value>) -> String {
    check.one_of(item, "toolName", &TOOLS)
}

/// Why a task in the project cannot be done, if it cannot: its repository lacks the branch to be read.
async fn trouble(app: &App, project: &Project, branch: &str) -> Result<Option<String>, Problem> {
    let Some(repository) = project.repository.clone() else {
        return Ok(None);
    };
    let name = branch.to_owned();
    let there = app
        .in_repository(move || published::has_branch(&repository, &name))
        .await?;
    Ok((!there).then(|| format!("The repository has no branch `{branch}`")))
}

/// Records something that happened to a task of a project.
pub(super) fn record(
    transaction: &Transaction<'_>,
    author: &Author,
    kind: Kind,
    (project, task): (Uuid, Uuid),
    information: &str,
) -> rusqlite::Result<()> {
    let entry = Entry {
        kind,
        project: Some(project),
        subject_id: task.to_string(),
        subject_name: AGENT,
        information: information.to_owned(),
    };
    events::record(transaction, author, &entry)
}

/// Lists the tasks of the projects that the caller sees, the youngest first.
#[utoipa::path(
    get,
    path = "/v1/ai/agents/tasks",
    operation_id = "listTasks",
    tag = "Agent tasks",
    params(
        ("projectId" = Option<String>, Query, format = "uuid", description = "Only tasks of this project."),
        ("branchId" = Option<String>, Query, format = "uuid", description = "Only the task of this branch."),
        ("status" = Option<Status>, Query, description = "Only tasks with this status."),
        Page,
    ),
    responses((status = 200, body = TaskPage, description = "A page of the tasks."))
)]
async fn list(caller: Caller, State(app): State<Arc<App>>, query: Query) -> Result<Json<TaskPage>, Problem> {
    let mut check = Check::default();
    let page = Page::read(&query, &mut check);
    let project = uuid(&query, "projectId", &mut check);
    let branch = uuid(&query, "branchId", &mut check);
    let status = query.get("status");
    if status.is_some_and(|status| !STATUSES.contains(&status)) {
        check.note("status", format!("must be one of {}", STATUSES.join(", ")));
    }
    let status = status.and_then(|name| serde_json::from_value::<Status>(name.into()).ok());
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

fn uuid(query: &Query, name: &str, check: &mut Check) -> Option<Uuid> {
    let text = query.get(name)?;
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
    responses((status = 200, body = TaskDetail, description = "The task as it is."))
)]
async fn show(
    caller: Caller,
    State(app): State<Arc<App>>,
    place: Place,
) -> Result<Json<TaskDetail>, Problem> {
    let id = place.uuid("taskId")?;
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
        pending_decisions: stored.task.pending(),
        agent_config: stored.task.config,
    }))
}

pub(super) fn shown(task: &Task) -> Vec<GrantedTool> {
    let tools = task.granted.iter().cloned();
    tools.map(|tool_name| GrantedTool { tool_name }).collect()
}

pub(super) fn missing(id: Uuid) -> Problem {
    Problem::not_found(format!("there is no task {id}"))
}

/// Whether the caller sees the project of the task.
pub(super) fn sees(app: &App, caller: &Caller, stored: &StoredTask) -> bool {
    caller.role == Role::SuperAdmin || app.given_project(stored.project).is_some()
}

/// Changes a task as it is now; `act` gives what happened, or refuses and changes nothing.
pub(super) async fn change<T, F>(app: &Arc<App>, caller: &Caller, id: Uuid, act: F) -> Result<T, Problem>
where
    T: Send + 'static,
    F: FnOnce(
            &Transaction<'_>,
            &mut StoredTask,
            &Author,
        ) -> rusqlite::Result<Result<(T, Vec<Message>), Problem>>
        + Send
        + 'static,
{
    let (state, caller) = (Arc::clone(app), caller.clone());
    app.store()
        .change(move |transaction| {
            let found = tasks::find(transaction, id)?;
            let Some(mut stored) = found.filter(|stored| sees(&state, &caller, stored)) else {
                return Ok(Err(missing(id)));
            };
            let author = state.author(&caller);
            let mut said = stored.task.advance(author.at);
            let (value, more) = match act(transaction, &mut stored, &author)? {
                Ok(done) => done,
                Err(problem) => return Ok(Err(problem)),
            };
            said.extend(more);
            tasks::update(transaction, &stored, &said)?;
            Ok(Ok(value))
        })
        .await?
}

/// Stops a task; afterwards the agent waits for nothing.
#[utoipa::path(
    post,
    path = "/v1/ai/agents/tasks/{taskId}/stop",
    operation_id = "stopTask",
    tag = "Agent tasks",
    params(("taskId" = String, Path, format = "uuid", description = "The task.")),
    responses((status = 204, description = "The agent stops, or was not at work."))
)]
async fn stop(caller: Caller, State(app): State<Arc<App>>, place: Place) -> Result<StatusCode, Problem> {
    let id = place.uuid("taskId")?;
    change(&app, &caller, id, |_, stored, author| {
        let said = stored.task.stop(author.at);
        Ok(Ok(((), said.into_iter().collect())))
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a task with everything about it.
#[utoipa::path(
    delete,
    path = "/v1/ai/agents/tasks/{taskId}",
    operation_id = "deleteTask",
    tag = "Agent tasks",
    params(("taskId" = String, Path, format = "uuid", description = "The task.")),
    responses(
        (status = 204, description = "The task is gone."),
        (status = 409, body = ProblemBody, description = "The agent works; stop it first."),
    )
)]
async fn remove(caller: Caller, State(app): State<Arc<App>>, place: Place) -> Result<StatusCode, Problem> {
    let id = place.uuid("taskId")?;
    let state = Arc::clone(&app);
    app.store()
        .change(move |transaction| {
            let found = tasks::find(transaction, id)?;
            let Some(mut stored) = found.filter(|stored| sees(&state, &caller, stored)) else {
                return Ok(Err(missing(id)));
            };
            stored.task.advance(state.clock().now());
            if stored.task.status() == Status::Running {
                return Ok(Err(Problem::conflict("the task is RUNNING; stop it first")));
            }
            tasks::remove(transaction, &stored)?;
            Ok(Ok(()))
        })
        .await??;
    Ok(StatusCode::NO_CONTENT)
}
