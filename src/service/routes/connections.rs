//! Default warehouse connections (API document, "Projects, environments, provisioning").

use crate::service::app::App;
use crate::service::body::JsonObject;
use crate::service::check::Check;
use crate::service::problem::{Problem, ProblemBody};
use crate::service::project::Project;
use crate::service::routes::Empty;
use crate::service::store::connections;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// How each of the two warehouse kinds authenticates.
const AUTHENTICATION: [&str; 2] = ["key_pair", "password"];

/// The routes of this resource.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(create))
}

/// The body of a connection creation.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct ConnectionRequest {
    #[schema(pattern = r"\S")]
    name: String,
    #[schema(inline)]
    platform_connection_type: ConnectionType,
    #[schema(inline)]
    auth_provider: AuthProvider,
    #[schema(inline)]
    auth_type: AuthType,
    #[serde(flatten)]
    fitting: ConnectionAuthentication,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes a value")]
enum AuthProvider {
    #[schema(rename = "warehouse_a")]
    A,
    #[schema(rename = "warehouse_b")]
    B,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "it describes a value")]
enum AuthType {
    KeyPair,
    Password,
}

/// Which authentication belongs to which warehouse kind.
#[derive(ToSchema)]
#[serde(tag = "authProvider")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
enum ConnectionAuthentication {
    #[serde(rename = "warehouse_a")]
    A {
        #[schema(inline, rename = "authType")]
        auth_type: KeyPair,
    },
    #[serde(rename = "warehouse_b")]
    B {
        #[schema(inline, rename = "authType")]
        auth_type: Password,
    },
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "it describes a value")]
enum ConnectionType {
    Dwh,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "it describes a value")]
enum KeyPair {
    KeyPair,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "it describes a value")]
enum Password {
    Password,
}

/// Gives a project a default warehouse connection.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/data-platform-connections",
    operation_id = "createConnection",
    tag = "Projects",
    params(("projectId" = String, Path, format = "uuid", description = "The project.")),
    request_body = ConnectionRequest,
    responses(
        (status = 201, body = Empty, description = "The connection exists."),
        (status = 409, body = ProblemBody, description = "The project has a connection of this name."),
    )
)]
async fn create(
    project: Project,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<Empty>), Problem> {
    let mut check = Check::default();
    let name = check.text(&body, "name");
    check.one_of(&body, "platformConnectionType", &["dwh"]);
    let kinds = app.vocabulary().lower_warehouses();
    let provider = check.one_of(&body, "authProvider", &kinds.each_ref().map(String::as_str));
    let fitting = kinds
        .iter()
        .zip(AUTHENTICATION)
        .find(|(kind, _)| **kind == provider);
    match fitting {
        Some((_, authentication)) => check.one_of(&body, "authType", &[authentication]),
        None => check.one_of(&body, "authType", &AUTHENTICATION),
    };
    let (name, provider) = check.done((name, provider))?;
    let taken = Problem::conflict(format!("the project has a connection `{name}` already"));
    app.store()
        .attempt(move |transaction| {
            let inserted = connections::insert(transaction, project.id, &name, &provider)?;
            Ok(inserted.then_some(()).ok_or(taken))
        })
        .await??;
    Ok((StatusCode::CREATED, Json(Empty {})))
}
