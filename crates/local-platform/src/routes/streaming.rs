//! Streaming pipelines (API document, "Streaming pipelines").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::fields::Fields as _;
use crate::place::RequestPath;
use crate::problem::Problem;
use crate::project::CallersProject;
use crate::routes::Empty;
use crate::shape::{Shape, needs, object, one_of};
use crate::store::streaming::{self, NewPipeline, StreamingCommand, StreamingState};
use crate::streaming::{definition, stored};
use crate::tokens::Caller;
use crate::vocabulary::Vocabulary;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

const ID: &str = "streamingPipelineId";

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for streaming pipelines.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(create))
        .routes(routes!(show))
        .routes(routes!(command))
        .routes(routes!(status))
}

/// Returns the schemas of the request bodies.
fn shapes(vocabulary: &Vocabulary) -> Vec<Shape> {
    vec![definition(vocabulary), stored(vocabulary), streaming_command()]
}

fn streaming_command() -> Shape {
    object([needs("command", one_of(&["start", "stop"]))]).named("StreamingOrder", "The body of a command.")
}

/// The status of a streaming pipeline.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StreamingStatusAnswer)]
struct StatusAnswer {
    status: StreamingState,
}

/// Creates a streaming pipeline, which is not running yet.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/streaming-pipelines",
    operation_id = "createStreamingPipeline",
    tag = "Streaming pipelines",
    params(("projectId" = String, Path, format = "uuid", description = "The project.")),
    request_body = ref("#/components/schemas/StreamingDefinition"),
    responses((status = 201, body = ref("#/components/schemas/StreamingPipeline"), description = "The stored definition."))
)]
async fn create(
    project: CallersProject,
    caller: Caller,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<Map<String, Value>>), Problem> {
    definition(app.vocabulary()).hold(&body)?;
    let id = Uuid::new_v4();
    let mut kept = Map::from_iter([(ID.to_owned(), Value::from(id.to_string()))]);
    kept.extend(body.into_iter().filter(|(member, _)| member != ID));
    let new = NewPipeline {
        id,
        project: project.id,
        name: kept.text("name"),
        definition: Value::Object(kept.clone()).to_string(),
    };
    let author = app.author(&caller);
    app.store()
        .change(move |transaction| streaming::insert(transaction, &new, &author))
        .await?;
    Ok((StatusCode::CREATED, Json(kept)))
}

fn missing(id: Uuid) -> Problem {
    Problem::not_found(format!("the project has no streaming pipeline {id}"))
}

/// Shows the definition of a streaming pipeline.
#[utoipa::path(
    get,
    path = "/v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}",
    operation_id = "showStreamingPipeline",
    tag = "Streaming pipelines",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project."),
        ("streamingPipelineId" = String, Path, format = "uuid", description = "The streaming pipeline."),
    ),
    responses((status = 200, body = ref("#/components/schemas/StreamingPipeline"), description = "The stored definition."))
)]
async fn show(
    project: CallersProject,
    State(app): State<Arc<App>>,
    place: RequestPath,
) -> Result<Json<Value>, Problem> {
    let id = place.uuid(ID)?;
    let found = app
        .store()
        .read(move |connection| streaming::find_definition(connection, project.id, id))
        .await?;
    let found = found.ok_or_else(|| missing(id))?;
    serde_json::from_str(&found)
        .map(Json)
        .map_err(|error| Problem::internal(format!("the stored definition is broken: {error}")))
}

/// Sends a streaming pipeline the command to start or stop. The response does not wait for the command to take effect.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}/commands",
    operation_id = "commandStreamingPipeline",
    tag = "Streaming pipelines",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project."),
        ("streamingPipelineId" = String, Path, format = "uuid", description = "The streaming pipeline."),
    ),
    request_body = ref("#/components/schemas/StreamingOrder"),
    responses((status = 200, body = Empty, description = "The streaming agent has received the command."))
)]
async fn command(
    project: CallersProject,
    caller: Caller,
    State(app): State<Arc<App>>,
    place: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<Json<Empty>, Problem> {
    let id = place.uuid(ID)?;
    streaming_command().hold(&body)?;
    let command = match body.text("command").as_str() {
        "start" => StreamingCommand::Start,
        _ => StreamingCommand::Stop,
    };
    let author = app.author(&caller);
    app.store()
        .try_change(move |transaction| {
            let found = streaming::apply_command(transaction, project.id, id, command, &author)?;
            Ok(found.then_some(()).ok_or_else(|| missing(id)))
        })
        .await??;
    Ok(Json(Empty {}))
}

/// Shows the status of a streaming pipeline.
#[utoipa::path(
    get,
    path = "/v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}/status",
    operation_id = "showStreamingStatus",
    tag = "Streaming pipelines",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project."),
        ("streamingPipelineId" = String, Path, format = "uuid", description = "The streaming pipeline."),
    ),
    responses((status = 200, body = StatusAnswer, description = "The status."))
)]
async fn status(
    project: CallersProject,
    State(app): State<Arc<App>>,
    place: RequestPath,
) -> Result<Json<StatusAnswer>, Problem> {
    let id = place.uuid(ID)?;
    let now = app.clock().now();
    let status = app
        .store()
        .read(move |connection| streaming::find_status(connection, project.id, id, now))
        .await?;
    let status = status.ok_or_else(|| missing(id))?;
    Ok(Json(StatusAnswer { status }))
}
