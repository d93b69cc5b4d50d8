//! Environments (API document, "Projects, environments, provisioning").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::body_check::BodyCheck;
use crate::json_fields::JsonFields as _;
use crate::page::{Page, PagedList, Query};
use crate::problem::{Problem, ProblemBody};
use crate::project::VisibleProject;
use crate::routes::Empty;
use crate::shape::{
    Shape, any_text, at_least_one_of, list_of, object, one_of, optional_member, required_member, rule, text,
    uuid,
};
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

/// The access levels that can be given to a user who is added to the project.
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
    OpenApiRouter::new().routes(routes!(list_environments, create_environment))
}

/// Returns the shapes of the request bodies, whose schemas are added to the API description.
fn shapes(vocabulary: &Vocabulary) -> Vec<Shape> {
    vec![environment_request_shape(vocabulary)]
}

/// Returns the shape of a request to create an environment.
fn environment_request_shape(vocabulary: &Vocabulary) -> Shape {
    let warehouses = warehouse_connections_shape(vocabulary.lowercase_warehouses());
    let connections = object([required_member("DWH", warehouses)
        .with_description("For each warehouse kind, the name of one of the project's connections.")])
    .with_name_and_description(
        "DefaultConnections",
        "The default connections, by the type of their target.",
    );
    object([
        required_member("name", text())
            .with_description("The name that other requests use for the environment; it never changes."),
        required_member("defaultAgentId", uuid()).with_description("The ID of the default runner."),
        required_member("defaultUserAccessLevel", one_of(&ACCESS_LEVELS)),
        optional_member("displayName", any_text()),
        optional_member("description", any_text()),
        required_member("defaultConnections", connections),
        // This rule has no JSON schema.
        rule(check_overrides, None),
        required_member("connectionOverrides", list_of(connection_override_shape())),
    ])
    .with_name_and_description(
        "EnvironmentRequest",
        "The body of a request to create an environment.",
    )
}

/// Returns the shape of an object that names a connection for at least one of the two warehouse kinds.
fn warehouse_connections_shape(kinds: [String; 2]) -> Shape {
    let [first_kind, second_kind] = kinds.clone();
    at_least_one_of([
        optional_member(first_kind, text()),
        optional_member(second_kind, text()),
        // This rule has no JSON schema. It checks the minimum, which `at_least_one_of` only adds to the schema.
        rule(
            move |check, warehouses| check_warehouses(check, warehouses, &kinds),
            None,
        ),
    ])
    .with_name_and_description(
        "WarehouseConnections",
        "The name of a connection for each warehouse kind; at least one.",
    )
}

/// Checks that the object names a connection for at least one of the warehouse kinds, and for no other kind. If all
/// values are null, the error is reported at the first kind.
fn check_warehouses(check: &mut BodyCheck, warehouses: &Map<String, Value>, kinds: &[String; 2]) {
    if warehouses.values().all(Value::is_null) {
        check.add_error(&kinds[0], "must not be null");
    }
    for (kind, name) in warehouses {
        if !name.is_null() && !kinds.contains(kind) {
            let message = format!("is not a warehouse kind; the kinds are {}", kinds.join(", "));
            check.add_error(kind, message);
        }
    }
}

/// Returns the shape of a connection override. The properties in the API document are checked; all others are accepted.
fn connection_override_shape() -> Shape {
    let plain_members = PLAIN_PROPERTIES
        .map(|property| optional_member(property, object([required_member("value", any_text())])));
    let key_member = optional_member("privateKey", object([required_member("secretName", text())]));
    let secret_members = KEYED_SECRETS.map(|property| {
        let secret_reference = object([
            required_member("secretName", text()),
            required_member("secretKey", text()),
        ]);
        optional_member(property, secret_reference)
    });
    let properties = object(
        plain_members
            .into_iter()
            .chain([key_member])
            .chain(secret_members),
    );
    object([
        required_member("connectionName", text()).with_description("The name of a default connection."),
        required_member("connectionProperties", properties)
            .with_description("Each property must be either `{ value: TEXT }` or a reference to a secret."),
    ])
    .with_name_and_description(
        "ConnectionOverride",
        "The credentials for a connection in this environment.",
    )
}

/// Lists the environments of a project.
#[utoipa::path(
    get,
    path = "/v1/projects/{projectId}/environments",
    operation_id = "listEnvironments",
    tag = "Projects",
    params(("projectId" = String, Path, format = "uuid", description = "The project's ID."), Page),
    responses((status = 200, body = PagedList<EnvironmentItem>, description = "A page of environments."))
)]
async fn list_environments(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<PagedList<EnvironmentItem>>, Problem> {
    let page = Page::try_from_query(&query)?;
    let (environments, total) = app
        .store()
        .query(move |connection| environments::list_environments(connection, project.id, page))
        .await?;
    Ok(Json(PagedList::new(page, environments, total)))
}

/// Creates an environment; its default connections must exist in the project.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/environments",
    operation_id = "createEnvironment",
    tag = "Projects",
    params(("projectId" = String, Path, format = "uuid", description = "The project's ID.")),
    request_body = ref("#/components/schemas/EnvironmentRequest"),
    responses(
        (status = 201, body = Empty, description = "The environment was created."),
        (status = 409, body = ProblemBody, description = "The environment name is already in use."),
    )
)]
async fn create_environment(
    project: VisibleProject,
    caller: Caller,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<Empty>), Problem> {
    let check = environment_request_shape(app.vocabulary()).check(&body);
    let environment = EnvironmentRecord {
        project: project.id,
        name: body.text_or_empty("name"),
        agent: body.uuid_or_nil("defaultAgentId"),
        access_level: body.text_or_empty("defaultUserAccessLevel"),
        definition: Value::Object(body.clone()).to_string(),
    };
    let connections = parse_default_connections(&body);
    let conflict = Problem::conflict(format!(
        "the project already has an environment `{}`",
        environment.name
    ));
    let author = app.author_for(&caller);
    app.store()
        .try_change(move |transaction| {
            if let Err(problem) = check_connections(transaction, project.id, &connections, check)? {
                return Ok(Err(problem));
            }
            let is_inserted = environments::insert(transaction, &environment, &author)?;
            Ok(if is_inserted { Ok(()) } else { Err(conflict) })
        })
        .await??;
    Ok((StatusCode::CREATED, Json(Empty {})))
}

/// A default connection: its warehouse kind and its name.
type DefaultConnection = (String, String);

/// Returns the default connections in a request body, as pairs of warehouse kind and connection name. They are in the
/// member `defaultConnections.DWH`.
fn parse_default_connections(body: &Map<String, Value>) -> Vec<DefaultConnection> {
    let warehouses = body
        .find_object("defaultConnections")
        .and_then(|connections| connections.find_object("DWH"));
    warehouses
        .into_iter()
        .flatten()
        .filter_map(|(kind, name)| Some((kind.clone(), name.as_str()?.to_owned())))
        .collect()
}

/// Checks that each connection override refers to a default connection. Ignores an empty name, which the shape of its
/// member reports.
fn check_overrides(check: &mut BodyCheck, body: &Map<String, Value>) {
    let connections = parse_default_connections(body);
    for (index, item) in body
        .find_objects("connectionOverrides")
        .iter()
        .flatten()
        .enumerate()
    {
        let name = item.text_or_empty("connectionName");
        let has_name = !name.trim().is_empty();
        let is_default = connections
            .iter()
            .any(|(_, connection_name)| *connection_name == name);
        if has_name && !is_default {
            check.add_error(
                &format!("connectionOverrides[{index}].connectionName"),
                "must be one of the default connections",
            );
        }
    }
}

/// Checks that the project has the default connections, each with the given warehouse kind. Returns a 400 that lists
/// the errors of `check`, and all connections that are missing or have another kind.
fn check_connections(
    connection: &Connection,
    project: Uuid,
    connections: &[DefaultConnection],
    mut check: BodyCheck,
) -> rusqlite::Result<Result<(), Problem>> {
    for (kind, name) in connections {
        let field = format!("defaultConnections.DWH.{kind}");
        // One error for each field: an empty name, for example, is reported already.
        if check.errors.iter().any(|error| error.field == field) {
            continue;
        }
        match connections::find_warehouse_kind(connection, project, name)? {
            None => check.add_error(&field, format!("the project has no connection `{name}`")),
            Some(provider) if provider != *kind => {
                check.add_error(&field, format!("the connection `{name}` has the kind {provider}"));
            }
            Some(_) => {}
        }
    }
    Ok(check.into_result(()))
}
