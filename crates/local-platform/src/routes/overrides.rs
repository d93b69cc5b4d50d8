//! Overrides of variables in single environments (API document, "Project variables").

use super::Resource;
use super::variables::{NAME_PARAMETER, describe_type_mismatch, unknown_variable};
use crate::app::App;
use crate::body::JsonObject;
use crate::json_fields::JsonFields as _;
use crate::options::Role;
use crate::page::Query;
use crate::problem::{Problem, ProblemBody};
use crate::project::VisibleProject;
use crate::request_path::RequestPath;
use crate::shape::{Shape, list_of, object, required_member, text, text_or_number};
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
const READ_ONLY_LEVELS: [&str; 3] = ["runner", "readOnly", "noAccess"];

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for overrides.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list_overrides, set_overrides))
        .routes(routes!(delete_override))
}

/// The overrides of a variable.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Overrides)]
struct OverridesResponse {
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

/// Returns the shapes of the request bodies, whose schemas are added to the API description.
fn shapes(_: &Vocabulary) -> Vec<Shape> {
    vec![overrides_request_shape()]
}

/// Returns the shape of a request to set overrides.
fn overrides_request_shape() -> Shape {
    let item = object([
        required_member("environmentName", text()),
        required_member("value", text_or_number()),
    ])
    .with_name_and_description("OverrideRequest", "The value of a variable in one environment.");
    object([required_member("overrides", list_of(item))])
        .with_name_and_description("OverridesRequest", "The body of a request to set overrides.")
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
        ("projectId" = String, Path, format = "uuid", description = "The project's ID."),
        ("variableName" = String, Path, description = "The variable's name."),
        ("environmentName" = Option<String>, Query, description = "Return only the override in this \
             environment."),
    ),
    responses((status = 200, body = OverridesResponse, description = "The overrides of the variable."))
)]
async fn list_overrides(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
    query: Query,
) -> Result<Json<OverridesResponse>, Problem> {
    let name = request_path.parameter(NAME_PARAMETER).to_owned();
    let not_found = unknown_variable(&name);
    let environment = query.find_value("environmentName").map(str::to_owned);
    let overrides = app
        .store()
        .query(move |connection| {
            let Some(variable) = variables::find_variable(connection, project.id, &name)? else {
                return Ok(None);
            };
            let overrides = variables::list_overrides(connection, &variable, environment.as_deref())?;
            let variable = OverriddenVariable {
                id: variable.variable.id,
                name: variable.variable.name,
                r#type: variable.variable.kind,
            };
            Ok(Some(OverridesResponse { variable, overrides }))
        })
        .await?;
    overrides.map(Json).ok_or(not_found)
}

/// Creates or changes overrides and lists those that could not be applied.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/variables/{variableName}/environment-overrides",
    operation_id = "setOverrides",
    tag = "Project variables",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project's ID."),
        ("variableName" = String, Path, description = "The variable's name."),
    ),
    request_body = ref("#/components/schemas/OverridesRequest"),
    responses((status = 200, body = AppliedOverrides, description = "The result for each override."))
)]
async fn set_overrides(
    project: VisibleProject,
    caller: Caller,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<Json<AppliedOverrides>, Problem> {
    overrides_request_shape().validate(&body)?;
    let items = body.find_objects("overrides").unwrap_or_default();
    let items: Vec<StoredOverride> = items.into_iter().filter_map(parse_override).collect();
    let name = request_path.parameter(NAME_PARAMETER).to_owned();
    let not_found = unknown_variable(&name);
    let overrides = app
        .store()
        .try_change(move |transaction| {
            let Some(variable) = variables::find_variable(transaction, project.id, &name)? else {
                return Ok(Err(not_found));
            };
            let overrides = apply_overrides(transaction, project.id, caller.role, variable, items)?;
            Ok(Ok(overrides))
        })
        .await??;
    Ok(Json(overrides))
}

/// Parses an override in a request body; `None` if the value is neither a string nor a number.
fn parse_override(item: &Map<String, Value>) -> Option<StoredOverride> {
    Some(StoredOverride {
        environment_name: item.text_or_empty("environmentName"),
        value: item.find_value("value").and_then(VariableValue::from_json)?,
    })
}

/// Stores the overrides whose environment the role may change and whose value matches the variable's type. Returns the
/// environments of the stored overrides, and those of all other overrides with the reason why each was not stored.
fn apply_overrides(
    transaction: &Transaction<'_>,
    project: Uuid,
    role: Role,
    variable: VariableRow,
    items: Vec<StoredOverride>,
) -> rusqlite::Result<AppliedOverrides> {
    let kind = variable.variable.kind.clone();
    let (mut successful_overrides, mut failed_overrides) = (Vec::new(), Vec::new());
    for item in items {
        let mut failure_reason = find_refusal(transaction, project, role, &item.environment_name)?;
        if failure_reason.is_none() && !item.value.has_type(&kind) {
            failure_reason = Some(format!("the value {}", describe_type_mismatch(&kind)));
        }
        if let Some(reason) = failure_reason {
            failed_overrides.push(FailedOverride {
                environment_name: item.environment_name,
                reason,
            });
            continue;
        }
        variables::put_override(transaction, &variable, &item)?;
        successful_overrides.push(SuccessfulOverride {
            environment_name: item.environment_name,
        });
    }
    Ok(AppliedOverrides {
        variable_name: variable.variable.name,
        r#type: kind,
        successful_overrides,
        failed_overrides,
    })
}

/// Returns the reason why the role cannot change overrides in the environment: the environment does not exist, or the
/// role is not an admin and may only read the environment. Returns `None` if the role can change overrides.
fn find_refusal(
    connection: &Connection,
    project: Uuid,
    role: Role,
    environment: &str,
) -> rusqlite::Result<Option<String>> {
    let access_level = environments::find_access_level(connection, project, environment)?;
    Ok(match access_level {
        None => Some("the environment does not exist".to_owned()),
        Some(level) if !role.is_admin() && READ_ONLY_LEVELS.contains(&level.as_str()) => Some(format!(
            "permission denied: users of the environment have the access level {level}"
        )),
        Some(_) => None,
    })
}

/// Removes the override of a variable in one environment.
#[utoipa::path(
    delete,
    path = "/v1/projects/{projectId}/variables/{variableName}/environment-overrides/{environmentName}",
    operation_id = "deleteOverride",
    tag = "Project variables",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project's ID."),
        ("variableName" = String, Path, description = "The variable's name."),
        ("environmentName" = String, Path, description = "The environment's name."),
    ),
    responses(
        (status = 204, description = "The override was removed."),
        (status = 403, body = ProblemBody, description = "The environment's access level is not sufficient."),
    )
)]
async fn delete_override(
    project: VisibleProject,
    caller: Caller,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
) -> Result<StatusCode, Problem> {
    let name = request_path.parameter(NAME_PARAMETER).to_owned();
    let environment = request_path.parameter("environmentName").to_owned();
    let not_found = unknown_variable(&name);
    let no_override = Problem::not_found(format!(
        "the variable `{name}` has no override in the environment `{environment}`"
    ));
    app.store()
        .try_change(move |transaction| {
            let Some(variable) = variables::find_variable(transaction, project.id, &name)? else {
                return Ok(Err(not_found));
            };
            if variables::list_overrides(transaction, &variable, Some(&environment))?.is_empty() {
                return Ok(Err(no_override));
            }
            if let Some(reason) = find_refusal(transaction, project.id, caller.role, &environment)? {
                return Ok(Err(Problem::forbidden(reason)));
            }
            variables::remove_override(transaction, &variable, &environment)?;
            Ok(Ok(()))
        })
        .await??;
    Ok(StatusCode::NO_CONTENT)
}
