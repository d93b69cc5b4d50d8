//! Creates agent tasks.

use super::{AGENT, MODES, granted_tools, read_mode, read_tools, record};
use crate::agent::{AgentTask, TaskConfig, TaskStatus};
use crate::app::App;
use crate::body::JsonObject;
use crate::check::BodyCheck;
use crate::clock::Moment;
use crate::fields::Fields as _;
use crate::problem::{Problem, ProblemBody};
use crate::project::CallersProject;
use crate::published;
use crate::shape::{Shape, ShapePart, any_text, boolean, may, needs, object, one_of, rule, text, uuid};
use crate::store::events::EventKind;
use crate::store::tasks::{self, TaskRecord};
use crate::tokens::Caller;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(create))
}

/// Returns the schemas of the request bodies.
pub(super) fn shapes() -> Vec<Shape> {
    vec![task_request()]
}

fn task_request() -> Shape {
    object([
        needs("message", text()).about("The opening instruction."),
        needs("agentConfig", agent_config()),
        may("grantedPermissions", granted_tools()).about("Tools that are approved in advance."),
    ])
    .named("TaskRequest", "The body of a task creation.")
}

fn agent_config() -> Shape {
    object([
        needs("name", one_of(&[AGENT])),
        needs("mode", one_of(&MODES)),
        needs("projectId", uuid()),
        needs("sourceBranchName", text()).about("The branch that is read from."),
        needs("environmentName", text()).about("The environment to run pipelines in."),
        may("targetBranchName", text())
            .about("The branch that is written to; needed unless `generateBranch` is true."),
        may("generateBranch", boolean()).about("Lets the agent name that branch."),
        target_branch(),
        may("graphId", any_text()),
        may("workingDirectory", any_text()),
    ])
    .named("AgentConfigRequest", "The configuration of a task.")
}

/// Checks that the request either names the target branch or lets the agent generate it.
fn target_branch() -> ShapePart {
    let check = |check: &mut BodyCheck, config: &Map<String, Value>| {
        if config.given("targetBranchName").is_none() && config.flag("generateBranch") != Some(true) {
            check.note(
                "targetBranchName",
                "must not be null unless generateBranch is true",
            );
        }
    };
    let named = json!({"type": "object", "required": ["targetBranchName"],
        "properties": {"targetBranchName": {"type": "string"}}});
    let generated = json!({"type": "object", "required": ["generateBranch"],
        "properties": {"generateBranch": {"type": "boolean", "enum": [true]}}});
    rule(check, Some(json!({"anyOf": [named, generated]})))
}

/// A task that was created.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CreatedTask {
    #[schema(value_type = String, format = "uuid")]
    task_id: Uuid,
    status: TaskStatus,
    agent_name: &'static str,
    #[schema(value_type = String, format = DateTime)]
    created_at: Moment,
}

/// Creates a task and starts it.
#[utoipa::path(
    post,
    path = "/v1/ai/agents/tasks",
    operation_id = "createTask",
    tag = "Agent tasks",
    request_body = ref("#/components/schemas/TaskRequest"),
    responses(
        (status = 201, body = CreatedTask, description = "The agent is working."),
        (status = 404, body = ProblemBody, description = "There is no such project for the caller."),
    )
)]
async fn create(
    caller: Caller,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<CreatedTask>), Problem> {
    let id = Uuid::new_v4();
    task_request().hold(&body)?;
    let message = body.text("message");
    // If the object is missing, `hold` has already reported it.
    let config = body.object("agentConfig").cloned().unwrap_or_default();
    let (project, config) = (config.uuid("projectId"), read_config(&config, id));
    let project = CallersProject::find(&app, &caller, project).await?;
    let trouble = trouble(&app, &project, &config.source_branch_name).await?;
    let author = app.author(&caller);
    let created_at = author.at;
    let (task, said) = AgentTask::start(
        config,
        read_tools(&body).unwrap_or_default(),
        trouble,
        &message,
        created_at,
    );
    let new = TaskRecord {
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
                EventKind::PromptSubmitted,
                (new.project, new.id),
                &new.description,
            )
        })
        .await?;
    let created = CreatedTask {
        task_id: id,
        status: TaskStatus::Running,
        agent_name: AGENT,
        created_at,
    };
    Ok((StatusCode::CREATED, Json(created)))
}

fn read_config(config: &Map<String, Value>, id: Uuid) -> TaskConfig {
    let target = config.optional_text("targetBranchName");
    TaskConfig {
        name: config.text("name"),
        mode: read_mode(&config.text("mode")),
        project_id: config.uuid("projectId").to_string(),
        source_branch_name: config.text("sourceBranchName"),
        environment_name: config.text("environmentName"),
        target_branch_name: target.unwrap_or_else(|| format!("agent/{}", id.simple())),
        generate_branch: config.flag("generateBranch").unwrap_or_default(),
        graph_id: config.optional_text("graphId"),
        working_directory: config.optional_text("workingDirectory"),
    }
}

/// Returns the reason why a task in the project cannot succeed, or `None` if it can: the source branch must exist in
/// the repository.
async fn trouble(app: &App, project: &CallersProject, branch: &str) -> Result<Option<String>, Problem> {
    let Some(repository) = project.repository.clone() else {
        return Ok(None);
    };
    let name = branch.to_owned();
    let there = app
        .in_repository(move || published::has_branch(&repository, &name))
        .await?;
    Ok((!there).then(|| format!("The repository has no branch `{branch}`")))
}
