//! Environments (API document, "Projects, environments, provisioning").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::check::BodyCheck;
use crate::fields::Fields as _;
use crate::page::{Page, Paged, Query};
use crate::problem::{Problem, ProblemBody};
use crate::project::CallersProject;
use crate::routes::Empty;
use crate::shape::{Shape, any_text, at_least_one_of, list_of, may, needs, object, one_of, rule, text, uuid};
use crate::store::connections;
use crate::store::environments::{self, EnvironmentItem, EnvironmentRecord};
use crate::tokens::Caller;
use crate::vocabulary::Vocabulary;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use rusqlite::Connection;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

/// The access levels that a user who is added to the project can be given.
const ACCESS_LEVELS: [&str; 5] = ["default", "admin", "runner", "readOnly", "noAccess"];

/// The properties of a connection that contain a plain value, for both warehouse kinds.
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

/// The properties of a connection that name a secret and a key within it.
const KEYED_SECRETS: [&str; 2] = ["passphrase", "password"];

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for environments.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, create))
}

/// Returns the schemas of the request bodies.
fn shapes(vocabulary: &Vocabulary) -> Vec<Shape> {
    vec![environment_request(vocabulary)]
}

fn environment_request(vocabulary: &Vocabulary) -> Shape {
    let warehouses = warehouse_connections(vocabulary.lower_warehouses());
    let connections =
        object([needs("DWH", warehouses)
            .about("The name of a connection of the project for each warehouse kind.")])
        .named(
            "DefaultConnections",
            "The default connections, by the type of their target.",
        );
    object([
        needs("name", text()).about("The name that other requests use; it never changes."),
        needs("defaultAgentId", uuid()).about("The runner used by default."),
        needs("defaultUserAccessLevel", one_of(&ACCESS_LEVELS)),
        may("displayName", any_text()),
        may("description", any_text()),
        needs("defaultConnections", connections),
        rule(check_overrides, None),
        needs("connectionOverrides", list_of(connection_override())),
    ])
    .named("EnvironmentRequest", "The body of an environment creation.")
}

fn warehouse_connections(kinds: [String; 2]) -> Shape {
    let [a, b] = kinds.clone();
    let check = move |check: &mut BodyCheck, warehouses: &Map<String, Value>| {
        if warehouses.values().all(Value::is_null) {
            check.note(&kinds[0], "must not be null");
        }
        let named = warehouses.iter().filter(|(_, name)| !name.is_null());
        for (kind, _) in named.filter(|(kind, _)| !kinds.contains(kind)) {
            check.note(
                kind,
                format!("is no warehouse kind; these are {}", kinds.join(", ")),
            );
        }
    };
    at_least_one_of([may(a, text()), may(b, text()), rule(check, None)]).named(
        "WarehouseConnections",
        "The name of a connection for each warehouse kind; at least one.",
    )
}

/// Returns the shape of a connection override: the properties in the API document; others are accepted unchecked.
fn connection_override() -> Shape {
    let plain = PLAIN_PROPERTIES.map(|property| may(property, object([needs("value", any_text())])));
    let secret = may("privateKey", object([needs("secretName", text())]));
    let keyed = KEYED_SECRETS.map(|property| {
        let secret = object([needs("secretName", text()), needs("secretKey", text())]);
        may(property, secret)
    });
    let properties = object(plain.into_iter().chain([secret]).chain(keyed));
    object([
        needs("connectionName", text()).about("One of the default connections."),
        needs("connectionProperties", properties)
            .about("Each property is `{ value }`, or refers to a secret."),
    ])
    .named(
        "ConnectionOverride",
        "The credentials of a connection in this environment.",
    )
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
    project: CallersProject,
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

/// Creates an environment; its default connections must exist in the project.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/environments",
    operation_id = "createEnvironment",
    tag = "Projects",
    params(("projectId" = String, Path, format = "uuid", description = "The project.")),
    request_body = ref("#/components/schemas/EnvironmentRequest"),
    responses(
        (status = 201, body = Empty, description = "The environment exists."),
        (status = 409, body = ProblemBody, description = "The environment name is already in use."),
    )
)]
async fn create(
    project: CallersProject,
    caller: Caller,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<Empty>), Problem> {
    environment_request(app.vocabulary()).hold(&body)?;
    let environment = EnvironmentRecord {
        project: project.id,
        name: body.text("name"),
        agent: body.uuid("defaultAgentId"),
        access_level: body.text("defaultUserAccessLevel"),
        definition: Value::Object(body.clone()).to_string(),
    };
    let connections = default_connections(&body);
    let taken = Problem::conflict(format!(
        "the project has an environment `{}` already",
        environment.name
    ));
    let author = app.author(&caller);
    app.store()
        .try_change(move |transaction| {
            if let Err(problem) = missing_connections(transaction, project.id, &connections)? {
                return Ok(Err(problem));
            }
            let inserted = environments::insert(transaction, &environment, &author)?;
            Ok(inserted.then_some(()).ok_or(taken))
        })
        .await??;
    Ok((StatusCode::CREATED, Json(Empty {})))
}

/// A default connection: its warehouse kind and its name.
type DefaultConnection = (String, String);

fn default_connections(body: &Map<String, Value>) -> Vec<DefaultConnection> {
    let warehouses = body
        .object("defaultConnections")
        .and_then(|connections| connections.object("DWH"));
    let named = |(kind, name): (&String, &Value)| Some((kind.clone(), name.as_str()?.to_owned()));
    warehouses.into_iter().flatten().filter_map(named).collect()
}

/// Checks that each override refers to a default connection.
fn check_overrides(check: &mut BodyCheck, body: &Map<String, Value>) {
    let connections = default_connections(body);
    for (index, item) in body.objects("connectionOverrides").iter().flatten().enumerate() {
        let name = item.text("connectionName");
        if !name.trim().is_empty() && !connections.iter().any(|(_, known)| *known == name) {
            check.note(
                &format!("connectionOverrides[{index}].connectionName"),
                "must be one of the default connections",
            );
        }
    }
}

/// Returns a 400 that lists the default connections that are missing in the project or have another warehouse kind.
fn missing_connections(
    connection: &Connection,
    project: Uuid,
    connections: &[DefaultConnection],
) -> rusqlite::Result<Result<(), Problem>> {
    let mut check = BodyCheck::default();
    for (kind, name) in connections {
        let field = format!("defaultConnections.DWH.{kind}");
        match connections::find_provider(connection, project, name)? {
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
