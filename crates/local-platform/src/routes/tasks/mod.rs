//! Agent tasks (API document, "AI agent tasks").

mod follow_up_request;
mod task_creation;
mod task_dialogue;
mod task_management;

use super::Resource;
use crate::agent::{AgentTask, Message, TOOLS, push_branch};
use crate::app::App;
use crate::clock::Moment;
use crate::json_fields::JsonFields as _;
use crate::options::Role;
use crate::problem::Problem;
use crate::shape::{Shape, list_of, object, one_of, required_member};
use crate::store::events::{self, Author, EventKind, NewEvent};
use crate::store::tasks::{self, StoredTask};
use crate::tokens::Caller;
use crate::vocabulary::Vocabulary;
use rusqlite::{Connection, Transaction};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;

/// The name of the only agent.
const AGENT_NAME: &str = "data_engineer_agent";

/// Name of the path parameter that contains the task's ID.
const ID_PARAMETER: &str = "taskId";

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for agent tasks.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .merge(task_creation::routes())
        .merge(task_management::routes())
        .merge(task_dialogue::routes())
}

/// Returns the shapes of the request bodies, whose schemas are added to the API description.
fn shapes(_: &Vocabulary) -> Vec<Shape> {
    [task_creation::shapes(), task_dialogue::shapes()]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns the shape of the list of tools that the agent may use without permission.
fn granted_tools_shape() -> Shape {
    let tool = object([required_member("toolName", one_of(&TOOLS))]);
    list_of(
        tool.with_name_and_description("GrantedTool", "A tool that the agent may use without permission."),
    )
}

/// Returns the names of the granted tools in a request body, or `None` if the field is missing.
fn parse_granted_tools(body: &Map<String, Value>) -> Option<Vec<String>> {
    let tools = body.find_objects("grantedPermissions")?;
    Some(
        tools
            .into_iter()
            .map(|tool| tool.text_or_empty("toolName"))
            .collect(),
    )
}

/// A tool that the agent may use without permission.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct GrantedTool {
    tool_name: String,
}

/// Records an event about a task in the audit log; `information` is its free text.
fn record_task_event(
    transaction: &Transaction<'_>,
    author: &Author,
    kind: EventKind,
    project: Uuid,
    task: Uuid,
    information: &str,
) -> rusqlite::Result<()> {
    let entry = NewEvent {
        kind,
        project: Some(project),
        subject_id: task.to_string(),
        subject_name: AGENT_NAME,
        information: information.to_owned(),
    };
    events::insert(transaction, author, &entry)
}

/// Returns the tools that the agent may use without permission, for a response.
fn list_granted_tools(task: &AgentTask) -> Vec<GrantedTool> {
    let tools = task.granted.iter().cloned();
    tools.map(|tool_name| GrantedTool { tool_name }).collect()
}

/// Creates a 404: no task with this ID is visible to the caller.
fn unknown_task(id: Uuid) -> Problem {
    Problem::not_found(format!("there is no task {id}"))
}

/// Returns whether the task's project is visible to the caller: everybody sees the projects from the command line, and
/// a super admin sees all projects.
fn can_see_task(app: &App, caller: &Caller, stored_task: &StoredTask) -> bool {
    caller.role == Role::SuperAdmin || app.find_startup_project(stored_task.project).is_some()
}

/// Advances a task to the current time, pushes its branch if a push is due, changes the task with `act`, and stores it
/// with all new messages. `act` returns its result and its messages, or a problem, which leaves the stored task
/// unchanged. Returns a 404 if the caller cannot see the task.
async fn change_task<T, F>(app: &Arc<App>, caller: &Caller, id: Uuid, act: F) -> Result<T, Problem>
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
    let (shared_app, caller) = (Arc::clone(app), caller.clone());
    app.store()
        .try_change(move |transaction| {
            let stored_task = tasks::find_task(transaction, id)?;
            let Some(mut stored_task) =
                stored_task.filter(|stored_task| can_see_task(&shared_app, &caller, stored_task))
            else {
                return Ok(Err(unknown_task(id)));
            };
            let author = shared_app.author_for(&caller);
            // What happened before this request comes first: the steps that were due, and the push of the branch.
            let mut messages = stored_task.task.advance(author.time);
            messages.extend(push_due_branch(&shared_app, &mut stored_task, author.time));
            let (value, new_messages) = match act(transaction, &mut stored_task, &author)? {
                Ok(changes) => changes,
                Err(problem) => return Ok(Err(problem)),
            };
            messages.extend(new_messages);
            tasks::update(transaction, &stored_task, &messages)?;
            Ok(Ok(value))
        })
        .await?
}

/// Pushes the task's branch if the push is due because the agent has called `git_push`. Returns the message about the
/// push or its failure, or `None` if no push is due.
fn push_due_branch(app: &App, stored_task: &mut StoredTask, now: Moment) -> Option<Message> {
    let ordered_fixes = stored_task.task.find_due_push()?;
    let result = match app.find_startup_project(stored_task.project) {
        Some(project) => push_branch(
            &project.repository,
            &stored_task.task.config,
            ordered_fixes,
            stored_task.task.has_pushed_target_branch(),
        ),
        None => Err("the local platform has no repository for this project".to_owned()),
    };
    Some(stored_task.task.record_push(&result, now))
}

/// Pushes the branches of all tasks from `read_tasks` whose push is due at the time `now`. Requests that only read
/// tasks or remove one call this first and advance the tasks to the same time, so that a task never looks finished
/// before its branch is pushed.
async fn push_due_branches<F>(
    app: &Arc<App>,
    caller: &Caller,
    now: Moment,
    read_tasks: F,
) -> Result<(), Problem>
where
    F: FnOnce(&Connection) -> rusqlite::Result<Vec<StoredTask>> + Send + 'static,
{
    let mut due_tasks = app.store().query(read_tasks).await?;
    due_tasks.retain_mut(|stored_task| {
        stored_task.task.advance(now);
        stored_task.task.find_due_push().is_some() && can_see_task(app, caller, stored_task)
    });
    // A change pushes the branch that is due before anything else, so an empty change is enough.
    for stored_task in due_tasks {
        change_task(app, caller, stored_task.id, |_, _, _| Ok(Ok(((), Vec::new())))).await?;
    }
    Ok(())
}

/// Pushes the branch of the task with this ID, if its push is due at the time `now`.
async fn push_due_branch_of_task(
    app: &Arc<App>,
    caller: &Caller,
    now: Moment,
    id: Uuid,
) -> Result<(), Problem> {
    push_due_branches(app, caller, now, move |connection| {
        Ok(tasks::find_task(connection, id)?.into_iter().collect())
    })
    .await
}
