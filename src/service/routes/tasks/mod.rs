//! Agent tasks (API document, "AI agent tasks").

mod begin;
mod dialogue;
mod manage;

use crate::service::agent::{AgentMode, AgentTask, Message, TOOLS};
use crate::service::app::App;
use crate::service::fields::Fields as _;
use crate::service::options::Role;
use crate::service::problem::Problem;
use crate::service::shape::{Shape, list_of, needs, object, one_of};
use crate::service::store::events::{self, Author, Entry, Kind};
use crate::service::store::tasks::{self, StoredTask};
use crate::service::tokens::Caller;
use crate::service::vocabulary::Vocabulary;
use rusqlite::Transaction;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;

/// The name of the one agent.
const AGENT: &str = "data_engineer_agent";

/// The modes of an agent.
const MODES: [&str; 2] = ["ACT", "PLAN"];

/// The name of the path's parameter.
const ID: &str = "taskId";

/// The routes of this resource.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .merge(begin::routes())
        .merge(manage::routes())
        .merge(dialogue::routes())
}

/// The shapes of bodies.
pub(crate) fn shapes(_: &Vocabulary) -> Vec<Shape> {
    [begin::shapes(), dialogue::shapes()]
        .into_iter()
        .flatten()
        .collect()
}

/// The tools that need no leave, as a body has them.
fn granted_tools() -> Shape {
    let tool = object([needs("toolName", one_of(&TOOLS))]);
    list_of(tool.named("GrantedTool", "A tool that needs no leave."))
}

/// Their names.
fn read_tools(body: &Map<String, Value>) -> Option<Vec<String>> {
    let tools = body.objects("grantedPermissions")?;
    Some(tools.into_iter().map(|tool| tool.text("toolName")).collect())
}

/// A tool that needs no leave.
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

/// Records something that happened to a task of a project.
fn record(
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

fn shown(task: &AgentTask) -> Vec<GrantedTool> {
    let tools = task.granted.iter().cloned();
    tools.map(|tool_name| GrantedTool { tool_name }).collect()
}

fn missing(id: Uuid) -> Problem {
    Problem::not_found(format!("there is no task {id}"))
}

/// Whether the caller sees the project of the task.
fn sees(app: &App, caller: &Caller, stored: &StoredTask) -> bool {
    caller.role == Role::SuperAdmin || app.given_project(stored.project).is_some()
}

/// Changes a task as it is now; `act` gives what happened, or refuses and changes nothing.
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
        .attempt(move |transaction| {
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
