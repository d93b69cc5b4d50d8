//! Overrides of variables in single environments (API document, "Project variables").

use super::Resource;
use super::variables::{NAME, does_not_fit, missing};
use crate::app::App;
use crate::body::JsonObject;
use crate::fields::Fields as _;
use crate::options::Role;
use crate::page::Query;
use crate::place::RequestPath;
use crate::problem::{Problem, ProblemBody};
use crate::project::CallersProject;
use crate::shape::{Shape, list_of, needs, object, text, text_or_number};
use crate::store::environments;
use crate::store::variables::{self, StoredOverride, VariableRow, VariableValue};
use crate::tokens::Caller;
use crate::vocabulary::Vocabulary;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use rusqlite::{Connection, Transaction};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

/// The access levels of an environment that do not let a member change overrides.
const LOOKING_ONLY: [&str; 3] = ["runner", "readOnly", "noAccess"];

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for overrides.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, put))
        .routes(routes!(remove))
}

/// The overrides of a variable.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Overrides)]
struct OverridesAnswer {
    variable: OverriddenVariable,
    overrides: Vec<StoredOverride>,
}

/// The variable that is overridden.
#[derive(Debug, Serialize, ToSchema)]
struct OverriddenVariable {
    #[schema(format = "uuid")]
    id: String,
    name: String,
    r#type: String,
}

/// Returns the schemas of the request bodies.
fn shapes(_: &Vocabulary) -> Vec<Shape> {
    vec![overrides_request()]
}

fn overrides_request() -> Shape {
    let item = object([needs("environmentName", text()), needs("value", text_or_number())])
        .named("OverrideRequest", "The value in one environment.");
    object([needs("overrides", list_of(item))])
        .named("OverridesRequest", "The body of a request to set overrides.")
}

/// The result for each override.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AppliedOverrides {
    variable_name: String,
    r#type: String,
    successful_overrides: Vec<SuccessfulOverride>,
    failed_overrides: Vec<FailedOverride>,
}

/// An override that was created or changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SuccessfulOverride {
    environment_name: String,
}

/// An override that could not be created or changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FailedOverride {
    environment_name: String,
    reason: String,
}

/// Lists the overrides of a variable by environment.
#[utoipa::path(
    get,
    path = "/v1/projects/{projectId}/variables/{variableName}/environment-overrides",
    operation_id = "listOverrides",
    tag = "Project variables",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project."),
        ("variableName" = String, Path, description = "The variable."),
        ("environmentName" = Option<String>, Query, description = "Only the override in this environment."),
    ),
    responses((status = 200, body = OverridesAnswer, description = "The overrides."))
)]
async fn list(
    project: CallersProject,
    State(app): State<Arc<App>>,
    place: RequestPath,
    query: Query,
) -> Result<Json<OverridesAnswer>, Problem> {
    let name = place.text(NAME).to_owned();
    let missing = missing(&name);
    let environment = query.find_value("environmentName").map(str::to_owned);
    let overrides = app
        .store()
        .read(move |connection| {
            let Some(found) = variables::find(connection, project.id, &name)? else {
                return Ok(None);
            };
            let overrides = variables::list_overrides(connection, &found, environment.as_deref())?;
            let variable = OverriddenVariable {
                id: found.variable.id,
                name: found.variable.name,
                r#type: found.variable.kind,
            };
            Ok(Some(OverridesAnswer { variable, overrides }))
        })
        .await?;
    overrides.map(Json).ok_or(missing)
}

/// Creates or changes overrides and lists those that could not be applied.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/variables/{variableName}/environment-overrides",
    operation_id = "setOverrides",
    tag = "Project variables",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project."),
        ("variableName" = String, Path, description = "The variable."),
    ),
    request_body = ref("#/components/schemas/OverridesRequest"),
    responses((status = 200, body = AppliedOverrides, description = "The result for each override."))
)]
async fn put(
    project: CallersProject,
    caller: Caller,
    State(app): State<Arc<App>>,
    place: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<Json<AppliedOverrides>, Problem> {
    overrides_request().hold(&body)?;
    let items = body.objects("overrides").unwrap_or_default();
    let items: Vec<StoredOverride> = items.into_iter().filter_map(read_item).collect();
    let name = place.text(NAME).to_owned();
    let missing = missing(&name);
    let applied = app
        .store()
        .try_change(
            move |transaction| match variables::find(transaction, project.id, &name)? {
                Some(found) => apply(transaction, project.id, caller.role, found, items).map(Ok),
                None => Ok(Err(missing)),
            },
        )
        .await??;
    Ok(Json(applied))
}

fn read_item(item: &Map<String, Value>) -> Option<StoredOverride> {
    Some(StoredOverride {
        environment_name: item.text("environmentName"),
        value: item.given("value").and_then(VariableValue::from_json)?,
    })
}

fn apply(
    transaction: &Transaction<'_>,
    project: Uuid,
    role: Role,
    found: VariableRow,
    items: Vec<StoredOverride>,
) -> rusqlite::Result<AppliedOverrides> {
    let kind = found.variable.kind.clone();
    let (mut successful_overrides, mut failed_overrides) = (Vec::new(), Vec::new());
    for item in items {
        let failure = match refusal(transaction, project, role, &item.environment_name)? {
            None if item.value.has_type(&kind) => None,
            None => Some(format!("the value {}", does_not_fit(&kind))),
            refusal => refusal,
        };
        if failure.is_none() {
            variables::put_override(transaction, &found, &item)?;
        }
        let environment_name = item.environment_name;
        match failure {
            None => successful_overrides.push(SuccessfulOverride { environment_name }),
            Some(reason) => failed_overrides.push(FailedOverride {
                environment_name,
                reason,
            }),
        }
    }
    Ok(AppliedOverrides {
        variable_name: found.variable.name,
        r#type: kind,
        successful_overrides,
        failed_overrides,
    })
}

/// Returns the reason why the role may not change overrides in the environment, or `None` if it may.
fn refusal(
    connection: &Connection,
    project: Uuid,
    role: Role,
    environment: &str,
) -> rusqlite::Result<Option<String>> {
    let level = environments::find_access_level(connection, project, environment)?;
    Ok(match level {
        None => Some("the environment does not exist".to_owned()),
        Some(level) if !role.is_admin() && LOOKING_ONLY.contains(&level.as_str()) => Some(format!(
            "the permission is missing: the environment gives its users the level {level}"
        )),
        Some(_) => None,
    })
}

/// Removes the override in an environment.
#[utoipa::path(
    delete,
    path = "/v1/projects/{projectId}/variables/{variableName}/environment-overrides/{environmentName}",
    operation_id = "deleteOverride",
    tag = "Project variables",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project."),
        ("variableName" = String, Path, description = "The variable."),
        ("environmentName" = String, Path, description = "The environment."),
    ),
    responses(
        (status = 204, description = "The override was removed."),
        (status = 403, body = ProblemBody, description = "The environment's access level is not sufficient."),
    )
)]
async fn remove(
    project: CallersProject,
    caller: Caller,
    State(app): State<Arc<App>>,
    place: RequestPath,
) -> Result<StatusCode, Problem> {
    let name = place.text(NAME).to_owned();
    let environment = place.text("environmentName").to_owned();
    let missing = missing(&name);
    let no_override = Problem::not_found(format!(
        "the variable `{name}` has no override in the environment `{environment}`"
    ));
    app.store()
        .try_change(move |transaction| {
            let Some(found) = variables::find(transaction, project.id, &name)? else {
                return Ok(Err(missing));
            };
            if variables::list_overrides(transaction, &found, Some(&environment))?.is_empty() {
                return Ok(Err(no_override));
            }
            if let Some(why) = refusal(transaction, project.id, caller.role, &environment)? {
                return Ok(Err(Problem::forbidden(why)));
            }
            variables::remove_override(transaction, &found, &environment)?;
            Ok(Ok(()))
        })
        .await??;
    Ok(StatusCode::NO_CONTENT)
}
