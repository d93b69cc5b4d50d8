//! Published pipelines and their executions (API document, "Pipeline execution").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::execution_simulation::{SimulatedExecution, simulate_execution};
use crate::json_fields::JsonFields as _;
use crate::page::{Page, PagedList, Query};
use crate::problem::{Problem, ProblemBody, ShortBody};
use crate::project::VisibleProject;
use crate::published_pipelines::{self, ListedPipeline};
use crate::request_path::RequestPath;
use crate::shape::{
    Shape, any_text, boolean, list_of, map_of, object, one_of, optional_member, required_member, text,
    text_or_number,
};
use crate::store::environments;
use crate::store::executions::{self, ExecutionRecord, ExecutionResult};
use crate::vocabulary::Vocabulary;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

const ID_PARAMETER: &str = "pipelineExecutionId";

/// Duration of the shortest execution.
const MIN_DURATION: Duration = Duration::from_secs(2);

/// Additional duration for each component that is reached, and the maximum number of components that add to the
/// duration.
const STEP_DURATION: Duration = Duration::from_millis(20);
const MAX_COUNTED_STEPS: u32 = 100;

/// The fields with the variables of an execution.
const SCALARS_FIELD: &str = "scalarVariables";
const GRIDS_FIELD: &str = "gridVariables";

/// The status that a termination request contains.
const TERMINATED_STATUS: &str = "CANCELLED";

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for published pipelines and executions.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list_published_pipelines))
        .routes(routes!(create_execution))
        .routes(routes!(show_execution, terminate_execution))
}

/// Returns the shapes of the request bodies, whose schemas are added to the API description.
fn shapes(_: &Vocabulary) -> Vec<Shape> {
    vec![execution_request_shape(), termination_request_shape()]
}

/// Returns the shape of a request to execute a pipeline.
fn execution_request_shape() -> Shape {
    object([
        required_member("pipelineName", text())
            .with_description("The path of a published pipeline without its extension."),
        required_member("environmentName", text())
            .with_description("The name of one of the project's environments."),
        optional_member("executionTag", text())
            .with_description("A tag that only one running execution of the project can have."),
        optional_member(SCALARS_FIELD, map_of(text_or_number()))
            .with_description("Values of scalar variables, by name."),
        optional_member(GRIDS_FIELD, map_of(list_of(list_of(any_text()))))
            .with_description("Rows of grid variables, by name."),
    ])
    .with_name_and_description("ExecutionRequest", "The body of a request to execute a pipeline.")
}

/// Returns the shape of a request to terminate an execution.
fn termination_request_shape() -> Shape {
    object([
        optional_member("forceUpdate", boolean()),
        required_member("status", one_of(&[TERMINATED_STATUS])),
    ])
    .with_name_and_description("Termination", "The body of a request to terminate an execution.")
}

/// The ID of an execution in a response.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ExecutionId)]
struct ExecutionReference {
    #[schema(value_type = String, format = "uuid")]
    pipeline_execution_id: Uuid,
}

/// The state of an execution.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Execution)]
struct ExecutionState {
    result: ExecutionResult,
}

/// Lists the pipelines at the head of the default branch of the project's repository.
#[utoipa::path(
    get,
    path = "/v1/projects/{projectId}/published-pipelines",
    operation_id = "listPublishedPipelines",
    tag = "Pipeline execution",
    params(("projectId" = String, Path, format = "uuid", description = "The project's ID."), Page),
    responses((status = 200, body = PagedList<ListedPipeline>, description = "A page of pipelines."))
)]
async fn list_published_pipelines(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<PagedList<ListedPipeline>>, Problem> {
    let page = Page::try_from_query(&query)?;
    let pipelines = match project.repository {
        Some(repository) => {
            app.run_repository_work(move || published_pipelines::list_pipelines(&repository))
                .await?
        }
        None => Vec::new(),
    };
    let total = pipelines.len() as u64;
    let start = usize::try_from(page.offset()).unwrap_or(usize::MAX);
    let items = pipelines
        .into_iter()
        .skip(start)
        .take(page.size as usize)
        .collect();
    Ok(Json(PagedList::new(page, items, total)))
}

/// Executes a published pipeline.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/pipeline-executions",
    operation_id = "createExecution",
    tag = "Pipeline execution",
    params(("projectId" = String, Path, format = "uuid", description = "The project's ID.")),
    request_body = ref("#/components/schemas/ExecutionRequest"),
    responses(
        (status = 201, body = ExecutionReference, description = "The execution has started."),
        (status = 404, body = ProblemBody, description = "The project, pipeline or environment does not exist."),
        (status = 409, body = ShortBody, description = "An execution with the same tag is running."),
    )
)]
async fn create_execution(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<ExecutionReference>), Problem> {
    execution_request_shape().validate(&body)?;
    let pipeline = body.text_or_empty("pipelineName");
    let environment = body.text_or_empty("environmentName");
    let tag = body.find_text("executionTag");
    // The outcome is known from the start. Callers see it once the simulated duration has passed.
    let outcome = simulate_pipeline(&app, &project, &pipeline).await?;
    check_environment(&app, project.id, &environment).await?;
    let message = outcome.message + &describe_variables(&body);
    // The API document defines a short body for this 409. Only an execution with a tag can conflict with another one.
    let conflict = Problem::short_conflict(format!(
        "an execution with the tag `{}` is running",
        tag.as_deref().unwrap_or_default()
    ));
    let pipeline_execution_id = Uuid::new_v4();
    let clock = app.clock().clone();
    app.store()
        .try_change(move |transaction| {
            // The time is read here, after the wait for the store. With an earlier time, an execution that ended during
            // the wait would still occupy its tag.
            let started_at = clock.now();
            let execution = ExecutionRecord {
                id: pipeline_execution_id,
                project: project.id,
                pipeline,
                environment,
                tag,
                started_at,
                ends_at: started_at + MIN_DURATION + STEP_DURATION * outcome.steps.min(MAX_COUNTED_STEPS),
                success: outcome.success,
                message,
            };
            let is_inserted = executions::insert(transaction, &execution)?;
            Ok(is_inserted.then_some(()).ok_or(conflict))
        })
        .await??;
    let execution = ExecutionReference {
        pipeline_execution_id,
    };
    Ok((StatusCode::CREATED, Json(execution)))
}

/// Returns the end of an execution's message, which lists its variables, such as ` with a = 1`; empty if there are
/// none.
fn describe_variables(body: &Map<String, Value>) -> String {
    let variables: Vec<String> = [SCALARS_FIELD, GRIDS_FIELD]
        .into_iter()
        .filter_map(|field| body.find_object(field))
        .flatten()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if variables.is_empty() {
        String::new()
    } else {
        format!(" with {}", variables.join(", "))
    }
}

/// Simulates an execution of the published pipeline with this name. Returns a 404 if the project has no repository or
/// no such pipeline.
async fn simulate_pipeline(
    app: &App,
    project: &VisibleProject,
    pipeline: &str,
) -> Result<SimulatedExecution, Problem> {
    let not_found = Problem::not_found(format!("the project has no published pipeline `{pipeline}`"));
    let Some(repository) = project.repository.clone() else {
        return Err(not_found);
    };
    let name = pipeline.to_owned();
    app.run_repository_work(move || {
        let document = published_pipelines::find_pipeline_document(&repository, &name)?;
        Ok(document.map(simulate_execution))
    })
    .await?
    .ok_or(not_found)
}

/// Returns a 404 if the project has no environment with this name.
async fn check_environment(app: &App, project: Uuid, environment: &str) -> Result<(), Problem> {
    let not_found = Problem::not_found(format!("the project has no environment `{environment}`"));
    let name = environment.to_owned();
    let access_level = app
        .store()
        .query(move |connection| environments::find_access_level(connection, project, &name))
        .await?;
    access_level.map(|_| ()).ok_or(not_found)
}

/// Shows the state of an execution.
#[utoipa::path(
    get,
    path = "/v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}",
    operation_id = "showExecution",
    tag = "Pipeline execution",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project's ID."),
        ("pipelineExecutionId" = String, Path, format = "uuid", description = "The execution's ID."),
    ),
    responses((status = 200, body = ExecutionState, description = "The state of the execution."))
)]
async fn show_execution(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
) -> Result<Json<ExecutionState>, Problem> {
    let id = request_path.uuid_parameter(ID_PARAMETER)?;
    let now = app.clock().now();
    let result = app
        .store()
        .query(move |connection| executions::find_execution(connection, project.id, id, now))
        .await?;
    let result = result.ok_or_else(|| unknown_execution(id))?;
    Ok(Json(ExecutionState { result }))
}

/// Creates a 404: the project has no execution with this ID.
fn unknown_execution(id: Uuid) -> Problem {
    Problem::not_found(format!("the project has no execution {id}"))
}

/// Terminates a running execution; an execution that has ended does not change.
#[utoipa::path(
    patch,
    path = "/v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}",
    operation_id = "terminateExecution",
    tag = "Pipeline execution",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project's ID."),
        ("pipelineExecutionId" = String, Path, format = "uuid", description = "The execution's ID."),
    ),
    request_body = ref("#/components/schemas/Termination"),
    responses((status = 200, body = ExecutionReference, description = "The execution is no longer running."))
)]
async fn terminate_execution(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<Json<ExecutionReference>, Problem> {
    let id = request_path.uuid_parameter(ID_PARAMETER)?;
    termination_request_shape().validate(&body)?;
    let clock = app.clock().clone();
    app.store()
        .try_change(move |transaction| {
            let is_known = executions::terminate(transaction, project.id, id, clock.now())?;
            Ok(is_known.then_some(()).ok_or_else(|| unknown_execution(id)))
        })
        .await??;
    Ok(Json(ExecutionReference {
        pipeline_execution_id: id,
    }))
}
