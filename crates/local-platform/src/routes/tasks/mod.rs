//! Agent tasks (API document, "AI agent tasks").

mod begin;
mod dialogue;
mod manage;

use super::Resource;
use crate::agent::{AgentMode, AgentTask, Message, TOOLS};
use crate::app::App;
use crate::fields::Fields as _;
use crate::options::Role;
use crate::problem::Problem;
use crate::shape::{Shape, list_of, needs, object, one_of};
use crate::store::events::{self, Author, EventKind, NewEvent};
use crate::store::tasks::{self, StoredTask};
use crate::tokens::Caller;
use crate::vocabulary::Vocabulary;
use rusqlite::Transaction;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;

/// The name of the only agent.
const AGENT: &str = "data_engineer_agent";

/// The modes of an agent.
const MODES: [&str; 2] = ["ACT", "PLAN"];

/// Name of the path parameter.
const ID: &str = "taskId";

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for agent tasks.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .merge(begin::routes())
        .merge(manage::routes())
        .merge(dialogue::routes())
}

/// Returns the schemas of the request bodies.
fn shapes(_: &Vocabulary) -> Vec<Shape> {
    [begin::shapes(), dialogue::shapes()]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns the schema for the list of tools that need no permission.
fn granted_tools() -> Shape {
    let tool = object([needs("toolName", one_of(&TOOLS))]);
    list_of(tool.named("GrantedTool", "A tool that needs no permission."))
}

/// Returns the names of the granted tools in a body, or `None` if the field is missing.
fn read_tools(body: &Map<String, Value>) -> Option<Vec<String>> {
    let tools = body.objects("grantedPermissions")?;
    Some(tools.into_iter().map(|tool| tool.text("toolName")).collect())
}

/// A tool that needs no permission.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct GrantedTool {
    tool_name: String,
}

fn read_mode(name: &str) -> AgentMode {
    if name == "PLAN" {
        AgentMode::Plan
    } else {
        AgentMode::Act
    }
}

/// Records an audit event about a task.
fn record(
    transaction: &Transaction<'_>,
    author: &Author,
    kind: EventKind,
    (project, task): (Uuid, Uuid),
    information: &str,
) -> rusqlite::Result<()> {
    let entry = NewEvent {
        kind,
        project: Some(project),
        subject_id: task.to_string(),
        subject_name: AGENT,
        information: information.to_owned(),
    };
    events::insert(transaction, author, &entry)
}

fn shown(task: &AgentTask) -> Vec<GrantedTool> {
    let tools = task.granted.iter().cloned();
    tools.map(|tool_name| GrantedTool { tool_name }).collect()
}

fn missing(id: Uuid) -> Problem {
    Problem::not_found(format!("there is no task {id}"))
}

/// Returns whether the task's project is visible to the caller.
fn sees(app: &App, caller: &Caller, stored: &StoredTask) -> bool {
    caller.role == Role::SuperAdmin || app.given_project(stored.project).is_some()
}

/// Advances a task to the present and changes it. `act` returns the new messages, or a problem, which leaves the task
/// unchanged.
async fn change<T, F>(app: &Arc<App>, caller: &Caller, id: Uuid, act: F) -> Result<T, Problem>
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
        .try_change(move |transaction| {
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
