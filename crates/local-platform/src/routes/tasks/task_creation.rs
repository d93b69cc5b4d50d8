//! Creates agent tasks.

use super::{AGENT_NAME, granted_tools_shape, parse_granted_tools, record_task_event};
use crate::agent::{AgentMode, AgentTask, TaskConfig, TaskStatus};
use crate::app::App;
use crate::body::JsonObject;
use crate::body_check::BodyCheck;
use crate::clock::Moment;
use crate::json_fields::JsonFields as _;
use crate::problem::{Problem, ProblemBody};
use crate::project::VisibleProject;
use crate::published_pipelines;
use crate::shape::{
    Shape, ShapePart, any_text, boolean, object, one_of, optional_member, required_member, rule, text, uuid,
};
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

/// Returns the HTTP route that creates a task.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(create_task))
}

/// Returns the shapes of the request bodies, whose schemas are added to the API description.
pub(super) fn shapes() -> Vec<Shape> {
    vec![task_request_shape()]
}

/// Returns the shape of a request to create a task.
fn task_request_shape() -> Shape {
    object([
        required_member("message", text()).with_description("The first instruction."),
        required_member("agentConfig", agent_config_shape()),
        optional_member("grantedPermissions", granted_tools_shape())
            .with_description("Tools that are approved in advance."),
    ])
    .with_name_and_description("TaskRequest", "The body of a request to create a task.")
}

/// Returns the shape of the agent's configuration in a request to create a task.
fn agent_config_shape() -> Shape {
    object([
        required_member("name", one_of(&[AGENT_NAME])),
        required_member("mode", one_of(AgentMode::ALL)),
        required_member("projectId", uuid()),
        required_member("sourceBranchName", text())
            .with_description("The name of the branch that the agent reads from."),
        required_member("environmentName", text())
            .with_description("The name of the environment to run pipelines in."),
        optional_member("targetBranchName", text()).with_description(
            "The name of the branch that the agent writes to; required unless `generateBranch` is true.",
        ),
        optional_member("generateBranch", boolean())
            .with_description("Whether the agent generates the name of the target branch."),
        target_branch_rule(),
        optional_member("graphId", any_text()),
        optional_member("workingDirectory", any_text()),
    ])
    .with_name_and_description("AgentConfigRequest", "The configuration of a task.")
}

/// Returns the rule that the request names the target branch or lets the agent generate the name, with the rule's JSON
/// schema.
fn target_branch_rule() -> ShapePart {
    let branch_schema = json!({"type": "object", "required": ["targetBranchName"],
        "properties": {"targetBranchName": {"type": "string"}}});
    let generation_schema = json!({"type": "object", "required": ["generateBranch"],
        "properties": {"generateBranch": {"type": "boolean", "enum": [true]}}});
    rule(
        check_target_branch,
        Some(json!({"anyOf": [branch_schema, generation_schema]})),
    )
}

/// Reports a missing target branch, unless the agent generates its name.
fn check_target_branch(check: &mut BodyCheck, config: &Map<String, Value>) {
    let is_generated = config.find_boolean("generateBranch") == Some(true);
    if config.find_value("targetBranchName").is_none() && !is_generated {
        check.add_error(
            "targetBranchName",
            "must not be null unless generateBranch is true",
        );
    }
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
        (status = 404, body = ProblemBody, description = "The caller cannot see a project with this ID."),
    )
)]
async fn create_task(
    caller: Caller,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<CreatedTask>), Problem> {
    let id = Uuid::new_v4();
    task_request_shape().validate(&body)?;
    let message = body.text_or_empty("message");
    // If the object is missing, `validate` has already reported it.
    let config = body.find_object("agentConfig").cloned().unwrap_or_default();
    let project_id = config.uuid_or_nil("projectId");
    let config = parse_task_config(&config, id);
    let project = VisibleProject::find_visible(&app, &caller, project_id).await?;
    // A task without its source branch is created all the same, and its agent fails with this reason.
    let failure_reason = find_failure_reason(&app, &project, &config.source_branch_name).await?;
    let author = app.author_for(&caller);
    let created_at = author.time;
    let (task, messages) = AgentTask::with_instruction(
        config,
        parse_granted_tools(&body).unwrap_or_default(),
        failure_reason,
        app.agent_behavior(),
        &message,
        created_at,
    );
    let record = TaskRecord {
        id,
        project: project.id,
        description: message,
        created_at,
        task,
    };
    app.store()
        .change(move |transaction| {
            tasks::insert(transaction, &record, &messages)?;
            record_task_event(
                transaction,
                &author,
                EventKind::PromptSubmitted,
                record.project,
                record.id,
                &record.description,
            )
        })
        .await?;
    let created_task = CreatedTask {
        task_id: id,
        status: TaskStatus::Running,
        agent_name: AGENT_NAME,
        created_at,
    };
    Ok((StatusCode::CREATED, Json(created_task)))
}

/// Parses the configuration of the task `id` in a request body. If the body does not name a target branch, the branch
/// gets a name that contains the task's ID.
fn parse_task_config(config: &Map<String, Value>, id: Uuid) -> TaskConfig {
    let target = config.find_text("targetBranchName");
    TaskConfig {
        name: config.text_or_empty("name"),
        // The shape of the body has already checked that the name is known.
        mode: AgentMode::parse(&config.text_or_empty("mode")).unwrap_or(AgentMode::Act),
        project_id: config.uuid_or_nil("projectId").to_string(),
        source_branch_name: config.text_or_empty("sourceBranchName"),
        environment_name: config.text_or_empty("environmentName"),
        target_branch_name: target.unwrap_or_else(|| format!("agent/{}", id.simple())),
        generate_branch: config.find_boolean("generateBranch").unwrap_or_default(),
        graph_id: config.find_text("graphId"),
        working_directory: config.find_text("workingDirectory"),
    }
}

/// Returns the reason why a task in the project will fail: the repository does not have its source branch. Returns
/// `None` if the repository has the branch or no commits yet, or the project has no repository.
async fn find_failure_reason(
    app: &App,
    project: &VisibleProject,
    branch: &str,
) -> Result<Option<String>, Problem> {
    let Some(repository) = project.repository.clone() else {
        return Ok(None);
    };
    let name = branch.to_owned();
    let has_branch = app
        .run_repository_work(move || published_pipelines::may_have_branch(&repository, &name))
        .await?;
    Ok((!has_branch).then(|| format!("The repository has no branch `{branch}`")))
}
