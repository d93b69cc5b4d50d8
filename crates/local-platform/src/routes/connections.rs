//! Default warehouse connections (API document, "Projects, environments, provisioning").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::body_check::BodyCheck;
use crate::json_fields::JsonFields as _;
use crate::problem::{Problem, ProblemBody};
use crate::project::VisibleProject;
use crate::routes::Empty;
use crate::shape::{Shape, ShapePart, object, one_of, required_member, rule, text};
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
const AUTHENTICATION_TYPES: [&str; 2] = ["key_pair", "password"];

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for warehouse connections.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(create_connection))
}

/// Returns the shapes of the request bodies, whose schemas are added to the API description.
fn shapes(vocabulary: &Vocabulary) -> Vec<Shape> {
    vec![connection_request_shape(vocabulary)]
}

/// Returns the shape of a request to create a connection.
fn connection_request_shape(vocabulary: &Vocabulary) -> Shape {
    let kinds = vocabulary.lowercase_warehouses();
    object([
        authentication_rule(kinds.clone()),
        required_member("name", text()),
        required_member("platformConnectionType", one_of(&["dwh"])),
        required_member("authProvider", one_of(&kinds)),
        required_member("authType", one_of(&AUTHENTICATION_TYPES)),
    ])
    .with_name_and_description(
        "ConnectionRequest",
        "The body of a request to create a connection.",
    )
}

/// Returns the rule that the authentication type must match the warehouse kind, with the rule's JSON schema.
fn authentication_rule(kinds: [String; 2]) -> ShapePart {
    let cases: Vec<Value> = kinds
        .iter()
        .zip(AUTHENTICATION_TYPES)
        .map(|(kind, authentication)| {
            json!({"type": "object", "required": ["authProvider", "authType"], "properties": {
                "authProvider": {"type": "string", "enum": [kind]},
                "authType": {"type": "string", "enum": [authentication]},
            }})
        })
        .collect();
    rule(
        move |check, body| check_authentication(check, body, &kinds),
        Some(json!({"oneOf": cases})),
    )
}

/// Reports an authentication type that does not match the warehouse kind. Ignores an unknown type or kind, because
/// another check of the body reports it.
fn check_authentication(check: &mut BodyCheck, body: &Map<String, Value>, kinds: &[String; 2]) {
    let provider = body.text_or_empty("authProvider");
    let authentication = body.text_or_empty("authType");
    if !AUTHENTICATION_TYPES.contains(&authentication.as_str()) {
        return;
    }
    for (kind, required_authentication) in kinds.iter().zip(AUTHENTICATION_TYPES) {
        if *kind == provider && required_authentication != authentication {
            check.add_error(
                "authType",
                format!("must be {required_authentication} for this `authProvider`"),
            );
            return;
        }
    }
}

/// Adds a default warehouse connection to a project.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/data-platform-connections",
    operation_id = "createConnection",
    tag = "Projects",
    params(("projectId" = String, Path, format = "uuid", description = "The project's ID.")),
    request_body = ref("#/components/schemas/ConnectionRequest"),
    responses(
        (status = 201, body = Empty, description = "The connection was created."),
        (status = 409, body = ProblemBody, description = "The connection name is already in use."),
    )
)]
async fn create_connection(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<Empty>), Problem> {
    connection_request_shape(app.vocabulary()).validate(&body)?;
    let (name, provider) = (body.text_or_empty("name"), body.text_or_empty("authProvider"));
    let conflict = Problem::conflict(format!("the project already has a connection `{name}`"));
    app.store()
        .try_change(move |transaction| {
            let is_inserted = connections::insert(transaction, project.id, &name, &provider)?;
            Ok(is_inserted.then_some(()).ok_or(conflict))
        })
        .await??;
    Ok((StatusCode::CREATED, Json(Empty {})))
}
