//! Environments (API document, "Projects, environments, provisioning").

use crate::service::app::App;
use crate::service::body::JsonObject;
use crate::service::check::{Check, given};
use crate::service::page::{Page, Paged, Query};
use crate::service::problem::{Problem, ProblemBody};
use crate::service::project::Project;
use crate::service::routes::Empty;
use crate::service::store::connections;
use crate::service::store::environments::{self, EnvironmentItem, NewEnvironment};
use crate::service::tokens::Caller;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use rusqlite::Connection;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

/// The levels that a user who is added to the project can be given.
const ACCESS_LEVELS: [&str; 5] = ["default", "admin", "runner", "readOnly", "noAccess"];

/// The properties of a connection that hold a value, of both warehouse kinds.
const PLAIN_PROPERTIES: [&str; 10] = [
    "account",
    "username",
    "defaultRole",
    "defaultWarehouse",
    "defaultDatabase",
    "defaultSchema",
    "url",
    "port",
    "useSsl",
    "defaultStorageLocation",
];

/// The properties of a connection that name a secret and the key within it.
const KEYED_SECRETS: [&str; 2] = ["passphrase", "password"];

/// The routes of this resource.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, create))
}

/// The body of an environment creation.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct EnvironmentRequest {
    /// The name that other requests use; it never changes.
    #[schema(pattern = r"\S")]
    name: String,
    display_name: Option<String>,
    description: Option<String>,
    /// The runner used by default.
    #[schema(value_type = String, format = "uuid")]
    default_agent_id: Uuid,
    #[schema(inline)]
    default_user_access_level: AccessLevel,
    default_connections: DefaultConnections,
    connection_overrides: Vec<ConnectionOverride>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes a value")]
enum AccessLevel {
    Default,
    Admin,
    Runner,
    ReadOnly,
    NoAccess,
}

/// The default connections, by what they lead to.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct DefaultConnections {
    /// By warehouse kind, the name of a connection of the project.
    #[schema(rename = "DWH")]
    dwh: WarehouseConnections,
}

/// The name of a connection for each warehouse kind; at least one.
#[derive(ToSchema)]
#[schema(min_properties = 1)]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct WarehouseConnections {
    #[schema(pattern = r"\S")]
    warehouse_a: Option<String>,
    #[schema(pattern = r"\S")]
    warehouse_b: Option<String>,
}

/// The credentials of a connection in this environment.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct ConnectionOverride {
    /// One of the default connections.
    #[schema(pattern = r"\S")]
    connection_name: String,
    /// Each property is `{ value }`, or refers to a secret.
    connection_properties: BTreeMap<String, Value>,
}

/// Lists the environments of a project.
#[utoipa::path(
    get,
    path = "/v1/projects/{projectId}/environments",
    operation_id = "listEnvironments",
    tag = "Projects",
    params(("projectId" = String, Path, format = "uuid", description = "The project."), Page),
    responses((status = 200, body = Paged<EnvironmentItem>, description = "A page of the environments."))
)]
async fn list(
    project: Project,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<Paged<EnvironmentItem>>, Problem> {
    let page = Page::only(&query)?;
    let found = app
        .store()
        .read(move |connection| environments::list(connection, project.id, page))
        .await?;
    Ok(Json(Paged::new(page, found)))
}

/// Makes an environment, whose default connections the project must have.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/environments",
    operation_id = "createEnvironment",
    tag = "Projects",
    params(("projectId" = String, Path, format = "uuid", description = "The project.")),
    request_body = EnvironmentRequest,
    responses(
        (status = 201, body = Empty, description = "The environment exists."),
        (status = 409, body = ProblemBody, description = "The project has an environment of this name."),
    )
)]
async fn create(
    project: Project,
    caller: Caller,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<Empty>), Problem> {
    let mut check = Check::default();
    let environment = NewEnvironment {
        project: project.id,
        name: check.text(&body, "name"),
        agent: check.uuid(&body, "defaultAgentId"),
        access_level: check.one_of(&body, "defaultUserAccessLevel", &ACCESS_LEVELS),
        definition: Value::Object(body.clone()).to_string(),
    };
    check.any_text(&body, "displayName");
    check.any_text(&body, "description");
    let kinds = app.vocabulary().lower_warehouses();
    let connections = default_connections(&mut check, &body, &kinds);
    check_overrides(&mut check, &body, &connections);
    let environment = check.done(environment)?;
    let taken = Problem::conflict(format!(
        "the project has an environment `{}` already",
        environment.name
    ));
    let author = app.author(&caller);
    app.store()
        .attempt(move |transaction| {
            if let Err(problem) = missing_connections(transaction, project.id, &connections)? {
                return Ok(Err(problem));
            }
            let inserted = environments::insert(transaction, &environment, &author)?;
            Ok(inserted.then_some(()).ok_or(taken))
        })
        .await??;
    Ok((StatusCode::CREATED, Json(Empty {})))
}

/// A default connection: the warehouse kind and the name.
type DefaultConnection = (String, String);

fn default_connections(
    check: &mut Check,
    body: &Map<String, Value>,
    kinds: &[String; 2],
) -> Vec<DefaultConnection> {
    let read = |check: &mut Check, warehouses: &Map<String, Value>| {
        let mut named = warehouses.iter().filter(|(_, name)| !name.is_null()).peekable();
        if named.peek().is_none() {
            check.note(&kinds[0], "must not be null");
        }
        let mut found = Vec::new();
        for (kind, _) in named {
            if kinds.contains(kind) {
                found.push((kind.clone(), check.text(warehouses, kind)));
            } else {
                check.note(
                    kind,
                    format!("is no warehouse kind; these are {}", kinds.join(", ")),
                );
            }
        }
        found
    };
    let found = check.object(body, "defaultConnections", |check, connections| {
        check.object(connections, "DWH", read)
    });
    found.flatten().unwrap_or_default()
}

fn check_overrides(check: &mut Check, body: &Map<String, Value>, connections: &[DefaultConnection]) {
    check.objects(body, "connectionOverrides", |check, item| {
        let name = check.text(item, "connectionName");
        if !name.is_empty() && !connections.iter().any(|(_, known)| *known == name) {
            check.note("connectionName", "must be one of the default connections");
        }
        check.object(item, "connectionProperties", check_properties);
    });
}

/// The shapes of the properties that the API document names; others are taken as they are.
fn check_properties(check: &mut Check, properties: &Map<String, Value>) {
    for property in PLAIN_PROPERTIES {
        check.optional_object(properties, property, |check, value| {
            if given(value, "value").is_none() {
                check.note("value", "must not be null");
            }
            check.any_text(value, "value")
        });
    }
    check.optional_object(properties, "privateKey", |check, secret| {
        check.text(secret, "secretName")
    });
    for property in KEYED_SECRETS {
        check.optional_object(properties, property, |check, secret| {
            check.text(secret, "secretName");
            check.text(secret, "secretKey");
        });
    }
}

/// 400 that names every default connection that the project does not have, or has for another warehouse kind.
fn missing_connections(
    connection: &Connection,
    project: Uuid,
    connections: &[DefaultConnection],
) -> rusqlite::Result<Result<(), Problem>> {
    let mut check = Check::default();
    for (kind, name) in connections {
        let field = format!("defaultConnections.DWH.{kind}");
        match connections::provider(connection, project, name)? {
            None => check.note(&field, format!("the project has no connection `{name}`")),
            Some(provider) if provider != *kind => {
                check.note(
                    &field,
                    format!("the connection `{name}` is of the kind {provider}"),
                );
            }
            Some(_) => {}
        }
    }
    Ok(check.done(()))
}
