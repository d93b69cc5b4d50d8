//! Tasks that begin.

use super::{AGENT, AgentName, GrantedTool, MODES, read_mode, read_tool, record};
use crate::service::agent::{AgentConfig, Mode, Status, Task};
use crate::service::app::App;
use crate::service::body::JsonObject;
use crate::service::check::Check;
use crate::service::clock::Moment;
use crate::service::problem::{Problem, ProblemBody};
use crate::service::project::Project;
use crate::service::published;
use crate::service::store::events::Kind;
use crate::service::store::tasks::{self, NewTask};
use crate::service::tokens::Caller;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(create))
}

/// The body of a task creation.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct TaskRequest {
    /// The opening instruction.
    #[schema(pattern = r"\S")]
    message: String,
    agent_config: AgentConfigRequest,
    /// Tools that are approved in advance.
    granted_permissions: Option<Vec<GrantedTool>>,
}

/// What a task is to be done with.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct AgentConfigRequest {
    #[schema(inline)]
    name: AgentName,
    #[schema(inline)]
    mode: Mode,
    #[schema(value_type = String, format = "uuid")]
    project_id: Uuid,
    /// The branch that is read from.
    #[schema(pattern = r"\S")]
    source_branch_name: String,
    /// Where pipelines are run.
    #[schema(pattern = r"\S")]
    environment_name: String,
    /// The branch that is written to; needed unless `generateBranch` is true.
    #[schema(pattern = r"\S")]
    target_branch_name: Option<String>,
    /// Lets the agent name that branch.
    generate_branch: Option<bool>,
    graph_id: Option<String>,
    working_directory: Option<String>,
    #[serde(flatten)]
    target: TargetBranch,
}

/// Either the branch has a name, or the agent generates one.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
enum TargetBranch {
    Named {
        #[schema(rename = "targetBranchName", pattern = r"\S")]
        name: String,
        #[schema(rename = "generateBranch")]
        generated: Option<bool>,
    },
    Generated {
        #[schema(rename = "targetBranchName", required = false, schema_with = nothing)]
        name: Option<String>,
        #[schema(rename = "generateBranch", schema_with = truth)]
        generated: bool,
    },
}

fn nothing() -> Schema {
    ObjectBuilder::new().schema_type(Type::Null).into()
}

fn truth() -> Schema {
    let truth = ObjectBuilder::new().schema_type(Type::Boolean);
    truth.enum_values(Some([true])).into()
}

/// A task that was begun.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CreatedTask {
    #[schema(value_type = String, format = "uuid")]
    task_id: Uuid,
    status: Status,
    agent_name: &'static str,
    #[schema(value_type = String, format = DateTime)]
    created_at: Moment,
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
