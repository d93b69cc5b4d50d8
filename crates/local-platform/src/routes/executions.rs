//! Published pipelines and their executions (API document, "Pipeline execution").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::fields::Fields as _;
use crate::page::{Page, Paged, Query};
use crate::place::RequestPath;
use crate::problem::{Problem, ProblemBody, ShortBody};
use crate::project::CallersProject;
use crate::published::{self, ListedPipeline};
use crate::shape::{
    Shape, any_text, boolean, list_of, map_of, may, needs, object, one_of, text, text_or_number,
};
use crate::store::environments;
use crate::store::executions::{self, ExecutionRecord, ExecutionResult};
use crate::vocabulary::Vocabulary;
use crate::walk::{Ending, walk};
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

const ID: &str = "pipelineExecutionId";

/// Duration of the shortest execution.
const SHORTEST: Duration = Duration::from_secs(2);

/// Additional duration for each component that is reached, and the maximum number of components that count.
const STEP: Duration = Duration::from_millis(20);
const COUNTED_STEPS: u32 = 100;

/// The fields with the variables of an execution.
const SCALARS: &str = "scalarVariables";
const GRIDS: &str = "gridVariables";

/// The status that a termination request contains.
const CANCELLED: &str = "CANCELLED";

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for published pipelines and executions.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list_published))
        .routes(routes!(create))
        .routes(routes!(show, terminate))
}

/// Returns the schemas of the request bodies.
fn shapes(_: &Vocabulary) -> Vec<Shape> {
    vec![execution_request(), termination()]
}

fn execution_request() -> Shape {
    object([
        needs("pipelineName", text()).about("The path of a published pipeline without its extension."),
        needs("environmentName", text()).about("An environment of the project."),
        may("executionTag", text()).about("A tag that only one running execution of the project can have."),
        may(SCALARS, map_of(text_or_number())).about("Values of scalar variables, by name."),
        may(GRIDS, map_of(list_of(list_of(any_text())))).about("Rows of grid variables, by name."),
    ])
    .named("ExecutionRequest", "The body of an execution request.")
}

fn termination() -> Shape {
    object([
        may("forceUpdate", boolean()),
        needs("status", one_of(&[CANCELLED])),
    ])
    .named("Termination", "The body of a termination.")
}

/// The ID of an execution.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ExecutionId)]
struct ExecutionName {
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
    params(("projectId" = String, Path, format = "uuid", description = "The project."), Page),
    responses((status = 200, body = Paged<ListedPipeline>, description = "A page of the pipelines."))
)]
async fn list_published(
    project: CallersProject,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<Paged<ListedPipeline>>, Problem> {
    let page = Page::only(&query)?;
    let all = match project.repository {
        Some(repository) => app.in_repository(move || published::list(&repository)).await?,
        None => Vec::new(),
    };
    let total = all.len() as u64;
    let start = usize::try_from(page.offset()).unwrap_or(usize::MAX);
    let items = all.into_iter().skip(start).take(page.size as usize).collect();
    Ok(Json(Paged::new(page, (items, total))))
}

/// Executes a published pipeline.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/pipeline-executions",
    operation_id = "createExecution",
    tag = "Pipeline execution",
    params(("projectId" = String, Path, format = "uuid", description = "The project.")),
    request_body = ref("#/components/schemas/ExecutionRequest"),
    responses(
        (status = 201, body = ExecutionName, description = "The execution has started."),
        (status = 404, body = ProblemBody, description = "Unknown project, pipeline or environment."),
        (status = 409, body = ShortBody, description = "An execution with the same tag is running."),
    )
)]
async fn create(
    project: CallersProject,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<ExecutionName>), Problem> {
    execution_request().hold(&body)?;
    let (pipeline, environment) = (body.text("pipelineName"), body.text("environmentName"));
    let tag = body.optional_text("executionTag");
    let outcome = outcome(&app, &project, &pipeline).await?;
    require_environment(&app, project.id, &environment).await?;
    let message = outcome.message + &describe_variables(&body);
    let taken = Problem::short_conflict(format!(
        "an execution with the tag `{}` is running",
        tag.as_deref().unwrap_or_default()
    ));
    let pipeline_execution_id = Uuid::new_v4();
    let clock = app.clock().clone();
    app.store()
        .try_change(move |transaction| {
            // The time is read inside the transaction, where executions start one after the other, so that a tag is
            // free when its execution has ended.
            let started_at = clock.now();
            let new = ExecutionRecord {
                id: pipeline_execution_id,
                project: project.id,
                pipeline,
                environment,
                tag,
                started_at,
                ends_at: started_at + SHORTEST + STEP * outcome.steps.min(COUNTED_STEPS),
                success: outcome.success,
                message,
            };
            let inserted = executions::insert(transaction, &new)?;
            Ok(inserted.then_some(()).ok_or(taken))
        })
        .await??;
    let answer = ExecutionName {
        pipeline_execution_id,
    };
    Ok((StatusCode::CREATED, Json(answer)))
}

/// Returns the variables of an execution, for the end of its message.
fn describe_variables(body: &Map<String, Value>) -> String {
    let scalars = body.object(SCALARS).into_iter().flatten();
    let scalars = scalars.map(|(name, value)| format!("{name} = {value}"));
    let grids = body.object(GRIDS).into_iter().flatten();
    let grids = grids.map(|(name, rows)| format!("{name} = {rows}"));
    let variables: Vec<String> = scalars.chain(grids).collect();
    if variables.is_empty() {
        String::new()
    } else {
        format!(" with {}", variables.join(", "))
    }
}

async fn outcome(app: &App, project: &CallersProject, pipeline: &str) -> Result<Ending, Problem> {
    let missing = Problem::not_found(format!("the project has no published pipeline `{pipeline}`"));
    let Some(repository) = project.repository.clone() else {
        return Err(missing);
    };
    let name = pipeline.to_owned();
    let read = move || Ok(published::document(&repository, &name)?.map(|document| walk(&document)));
    app.in_repository(read).await?.ok_or(missing)
}

async fn require_environment(app: &App, project: Uuid, environment: &str) -> Result<(), Problem> {
    let missing = Problem::not_found(format!("the project has no environment `{environment}`"));
    let name = environment.to_owned();
    let level = app
        .store()
        .read(move |connection| environments::find_access_level(connection, project, &name))
        .await?;
    level.map(|_| ()).ok_or(missing)
}

/// Shows the state of an execution.
#[utoipa::path(
    get,
    path = "/v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}",
    operation_id = "showExecution",
    tag = "Pipeline execution",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project."),
        ("pipelineExecutionId" = String, Path, format = "uuid", description = "The execution."),
    ),
    responses((status = 200, body = ExecutionState, description = "The state of the execution."))
)]
async fn show(
    project: CallersProject,
    State(app): State<Arc<App>>,
    place: RequestPath,
) -> Result<Json<ExecutionState>, Problem> {
    let id = place.uuid(ID)?;
    let now = app.clock().now();
    let result = app
        .store()
        .read(move |connection| executions::find(connection, project.id, id, now))
        .await?;
    let result = result.ok_or_else(|| missing(id))?;
    Ok(Json(ExecutionState { result }))
}

fn missing(id: Uuid) -> Problem {
    Problem::not_found(format!("the project has no execution {id}"))
}

/// Terminates a running execution; an execution that has ended does not change.
#[utoipa::path(
    patch,
    path = "/v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}",
    operation_id = "terminateExecution",
    tag = "Pipeline execution",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project."),
        ("pipelineExecutionId" = String, Path, format = "uuid", description = "The execution."),
    ),
    request_body = ref("#/components/schemas/Termination"),
    responses((status = 200, body = ExecutionName, description = "The execution is not running anymore."))
)]
async fn terminate(
    project: CallersProject,
    State(app): State<Arc<App>>,
    place: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<Json<ExecutionName>, Problem> {
    let id = place.uuid(ID)?;
    termination().hold(&body)?;
    let clock = app.clock().clone();
    app.store()
        .try_change(move |transaction| {
            let found = executions::cancel(transaction, project.id, id, clock.now())?;
            Ok(found.then_some(()).ok_or_else(|| missing(id)))
        })
        .await??;
    Ok(Json(ExecutionName {
        pipeline_execution_id: id,
    }))
}
