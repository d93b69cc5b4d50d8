//! Default warehouse connections (API document, "Projects, environments, provisioning").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::check::BodyCheck;
use crate::fields::Fields as _;
use crate::problem::{Problem, ProblemBody};
use crate::project::CallersProject;
use crate::routes::Empty;
use crate::shape::{Shape, ShapePart, needs, object, one_of, rule, text};
use crate::store::connections;
use crate::vocabulary::Vocabulary;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The authentication type of each of the two warehouse kinds.
const AUTHENTICATION: [&str; 2] = ["key_pair", "password"];

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for warehouse connections.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(create))
}

/// Returns the schemas of the request bodies.
fn shapes(vocabulary: &Vocabulary) -> Vec<Shape> {
    vec![connection_request(vocabulary)]
}

fn connection_request(vocabulary: &Vocabulary) -> Shape {
    let kinds = vocabulary.lower_warehouses();
    object([
        fitting(kinds.clone()),
        needs("name", text()),
        needs("platformConnectionType", one_of(&["dwh"])),
        needs("authProvider", one_of(&kinds)),
        needs("authType", one_of(&AUTHENTICATION)),
    ])
    .named("ConnectionRequest", "The body of a connection creation.")
}

/// Checks that the authentication type matches the warehouse kind.
fn fitting(kinds: [String; 2]) -> ShapePart {
    let pairs = || kinds.iter().zip(AUTHENTICATION);
    let cases: Vec<Value> = pairs()
        .map(|(kind, authentication)| {
            json!({"type": "object", "required": ["authProvider", "authType"], "properties": {
                "authProvider": {"type": "string", "enum": [kind]},
                "authType": {"type": "string", "enum": [authentication]},
            }})
        })
        .collect();
    let check = move |check: &mut BodyCheck, body: &Map<String, Value>| {
        let (provider, given) = (body.text("authProvider"), body.text("authType"));
        let fitting = kinds
            .iter()
            .zip(AUTHENTICATION)
            .find(|(kind, _)| **kind == provider);
        if let Some((_, fitting)) = fitting
            && fitting != given
            && AUTHENTICATION.contains(&given.as_str())
        {
            check.note("authType", format!("must be one of {fitting}"));
        }
    };
    rule(check, Some(json!({"oneOf": cases})))
}

/// Gives a project a default warehouse connection.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/data-platform-connections",
    operation_id = "createConnection",
    tag = "Projects",
    params(("projectId" = String, Path, format = "uuid", description = "The project.")),
    request_body = ref("#/components/schemas/ConnectionRequest"),
    responses(
        (status = 201, body = Empty, description = "The connection exists."),
        (status = 409, body = ProblemBody, description = "The connection name is already in use."),
    )
)]
async fn create(
    project: CallersProject,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<Empty>), Problem> {
    connection_request(app.vocabulary()).hold(&body)?;
    let (name, provider) = (body.text("name"), body.text("authProvider"));
    let taken = Problem::conflict(format!("the project has a connection `{name}` already"));
    app.store()
        .try_change(move |transaction| {
            let inserted = connections::insert(transaction, project.id, &name, &provider)?;
            Ok(inserted.then_some(()).ok_or(taken))
        })
        .await??;
    Ok((StatusCode::CREATED, Json(Empty {})))
}
