//! Streaming pipelines (API document, "Streaming pipelines").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::json_fields::JsonFields as _;
use crate::problem::Problem;
use crate::project::VisibleProject;
use crate::request_path::RequestPath;
use crate::routes::Empty;
use crate::shape::{Shape, object, one_of, required_member};
use crate::store::streaming::{self, NewPipeline, StreamingCommand, StreamingState};
use crate::streaming_shapes::{stored_streaming_definition_shape, streaming_definition_shape};
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

const ID_PARAMETER: &str = "streamingPipelineId";

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for streaming pipelines.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(create_streaming_pipeline))
        .routes(routes!(show_streaming_pipeline))
        .routes(routes!(command_streaming_pipeline))
        .routes(routes!(show_streaming_status))
}

/// Returns the shapes of the request bodies, whose schemas are added to the API description.
fn shapes(vocabulary: &Vocabulary) -> Vec<Shape> {
    vec![
        streaming_definition_shape(vocabulary),
        stored_streaming_definition_shape(vocabulary),
        command_request_shape(),
    ]
}

/// Returns the shape of a request to start or stop a streaming pipeline.
fn command_request_shape() -> Shape {
    object([required_member("command", one_of(&["start", "stop"]))]).with_name_and_description(
        "StreamingOrder",
        "The body of a request to start or stop a streaming pipeline.",
    )
}

/// The status of a streaming pipeline.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StreamingStatusAnswer)]
struct StatusResponse {
    status: StreamingState,
}

/// Creates a streaming pipeline, which is not running yet.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/streaming-pipelines",
    operation_id = "createStreamingPipeline",
    tag = "Streaming pipelines",
    params(("projectId" = String, Path, format = "uuid", description = "The project's ID.")),
    request_body = ref("#/components/schemas/StreamingDefinition"),
    responses((status = 201, body = ref("#/components/schemas/StreamingPipeline"), description = "The stored definition."))
)]
async fn create_streaming_pipeline(
    project: VisibleProject,
    caller: Caller,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<Map<String, Value>>), Problem> {
    streaming_definition_shape(app.vocabulary()).validate(&body)?;
    // A stored definition can be submitted again; its ID is replaced.
    let id = Uuid::new_v4();
    let mut definition = Map::from_iter([(ID_PARAMETER.to_owned(), Value::from(id.to_string()))]);
    definition.extend(body.into_iter().filter(|(member, _)| member != ID_PARAMETER));
    let pipeline = NewPipeline {
        id,
        project: project.id,
        name: definition.text_or_empty("name"),
        definition: Value::Object(definition.clone()).to_string(),
    };
    let author = app.author_for(&caller);
    app.store()
        .change(move |transaction| streaming::insert(transaction, &pipeline, &author))
        .await?;
    Ok((StatusCode::CREATED, Json(definition)))
}

/// Creates a 404: the project has no streaming pipeline with this ID.
fn unknown_pipeline(id: Uuid) -> Problem {
    Problem::not_found(format!("the project has no streaming pipeline {id}"))
}

/// Shows the definition of a streaming pipeline.
#[utoipa::path(
    get,
    path = "/v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}",
    operation_id = "showStreamingPipeline",
    tag = "Streaming pipelines",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project's ID."),
        ("streamingPipelineId" = String, Path, format = "uuid", description = "The streaming pipeline's ID."),
    ),
    responses((status = 200, body = ref("#/components/schemas/StreamingPipeline"), description = "The stored definition."))
)]
async fn show_streaming_pipeline(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
) -> Result<Json<Value>, Problem> {
    let id = request_path.uuid_parameter(ID_PARAMETER)?;
    let definition = app
        .store()
        .query(move |connection| streaming::find_definition(connection, project.id, id))
        .await?;
    let definition = definition.ok_or_else(|| unknown_pipeline(id))?;
    serde_json::from_str(&definition).map(Json).map_err(|error| {
        Problem::internal(format!(
            "the stored definition of streaming pipeline {id} is not valid JSON: {error}"
        ))
    })
}

/// Sends a streaming pipeline the command to start or stop. The response does not wait for the command to take effect.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}/commands",
    operation_id = "commandStreamingPipeline",
    tag = "Streaming pipelines",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project's ID."),
        ("streamingPipelineId" = String, Path, format = "uuid", description = "The streaming pipeline's ID."),
    ),
    request_body = ref("#/components/schemas/StreamingOrder"),
    responses((status = 200, body = Empty, description = "The streaming agent has received the command."))
)]
async fn command_streaming_pipeline(
    project: VisibleProject,
    caller: Caller,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<Json<Empty>, Problem> {
    let id = request_path.uuid_parameter(ID_PARAMETER)?;
    command_request_shape().validate(&body)?;
    let command = match body.text_or_empty("command").as_str() {
        "start" => StreamingCommand::Start,
        // The shape of the body allows only one other command.
        _ => StreamingCommand::Stop,
    };
    let author = app.author_for(&caller);
    app.store()
        .try_change(move |transaction| {
            let is_known = streaming::apply_command(transaction, project.id, id, command, &author)?;
            Ok(if is_known {
                Ok(())
            } else {
                Err(unknown_pipeline(id))
            })
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
        ("projectId" = String, Path, format = "uuid", description = "The project's ID."),
        ("streamingPipelineId" = String, Path, format = "uuid", description = "The streaming pipeline's ID."),
    ),
    responses((status = 200, body = StatusResponse, description = "The status of the streaming pipeline."))
)]
async fn show_streaming_status(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
) -> Result<Json<StatusResponse>, Problem> {
    let id = request_path.uuid_parameter(ID_PARAMETER)?;
    let now = app.clock().now();
    let status = app
        .store()
        .query(move |connection| streaming::find_status(connection, project.id, id, now))
        .await?;
    let status = status.ok_or_else(|| unknown_pipeline(id))?;
    Ok(Json(StatusResponse { status }))
}
