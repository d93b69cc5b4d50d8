//! Project variables (API document, "Project variables").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::body_check::BodyCheck;
use crate::json_fields::JsonFields as _;
use crate::page::{Page, PagedList, Query};
use crate::problem::{Problem, ProblemBody};
use crate::project::VisibleProject;
use crate::request_path::RequestPath;
use crate::shape::{
    Shape, ShapePart, any_text, boolean, object, one_of, optional_member, required_member, rule, text,
    text_or_number,
};
use crate::store::variables::{self, StoredVariable, VariableValue};
use crate::vocabulary::Vocabulary;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use rusqlite::Transaction;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

/// Name of the path parameter that contains the variable's name.
pub(super) const NAME_PARAMETER: &str = "variableName";

const TYPES: [&str; 2] = ["TEXT", "NUMBER"];
const BEHAVIOURS: [&str; 2] = ["SHARED", "COPIED"];

/// Default page size of the list of variables.
const DEFAULT_SIZE: u32 = 25;

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for variables.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list_variables, create_variable))
        .routes(routes!(change_variable, delete_variable))
}

/// Returns the shapes of the request bodies, whose schemas are added to the API description.
fn shapes(_: &Vocabulary) -> Vec<Shape> {
    vec![variable_request_shape(), change_request_shape()]
}

/// Returns the shape of a request to create a variable.
fn variable_request_shape() -> Shape {
    object([
        required_member("name", text()).with_description("The name, which never changes."),
        required_member("type", one_of(&TYPES)),
        required_member("behaviour", one_of(&BEHAVIOURS)),
        required_member("value", text_or_number()),
        value_type_rule(),
        optional_member("description", any_text()),
        optional_member("supportsDoubleResolution", boolean()),
    ])
    .with_name_and_description("VariableRequest", "The body of a request to create a variable.")
}

/// Returns the shape of a request to change a variable.
fn change_request_shape() -> Shape {
    object([
        required_member("type", one_of(&TYPES)),
        required_member("behaviour", one_of(&BEHAVIOURS)),
        optional_member("description", any_text()),
        optional_member("value", text_or_number()),
        value_type_rule(),
        optional_member("supportsDoubleResolution", boolean()),
        rule(check_name_absence, Some(json!({"not": {"required": ["name"]}}))),
    ])
    .with_name_and_description(
        "VariableChange",
        "The body of a request to change a variable; missing fields keep their values.",
    )
}

/// Returns the rule that a variable's value matches its type, with the rule's JSON schema.
fn value_type_rule() -> ShapePart {
    let cases = [("TEXT", "string"), ("NUMBER", "number")].map(|(kind, json_type)| {
        json!({"type": "object", "properties": {
            "type": {"type": "string", "enum": [kind]}, "value": {"type": [json_type, "null"]},
        }})
    });
    rule(check_value_type, Some(json!({"oneOf": cases})))
}

/// Reports a name in a change, which cannot change it.
fn check_name_absence(check: &mut BodyCheck, body: &Map<String, Value>) {
    if body.contains_key("name") {
        check.add_error("name", "must not be changed");
    }
}

/// Reports a value that does not match the variable's type. Ignores an unknown type, which the shape of its member
/// reports.
fn check_value_type(check: &mut BodyCheck, body: &Map<String, Value>) {
    let (kind, value) = (body.text_or_empty("type"), parse_value(body));
    if TYPES.contains(&kind.as_str()) && value.is_some_and(|value| !value.has_type(&kind)) {
        check.add_error("value", describe_type_mismatch(&kind));
    }
}

/// A variable that was created.
#[derive(Debug, Serialize, ToSchema)]
struct CreatedVariable {
    #[schema(format = "uuid")]
    id: String,
    name: String,
    value: VariableValue,
}

/// Lists the variables of a project.
#[utoipa::path(
    get,
    path = "/v1/projects/{projectId}/variables",
    operation_id = "listVariables",
    tag = "Project variables",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project's ID."),
        ("page" = Option<u64>, Query, format = "uint64", minimum = 0, description = "The number of the page, from 0."),
        ("size" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Number of items \
             per page (default: 25)."),
    ),
    responses((status = 200, body = PagedList<StoredVariable>, description = "A page of variables."))
)]
async fn list_variables(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<PagedList<StoredVariable>>, Problem> {
    let mut check = BodyCheck::default();
    let page = Page::from_query_with_default_size(DEFAULT_SIZE, &query, &mut check);
    let page = check.into_result(page)?;
    let (variables, total) = app
        .store()
        .query(move |connection| variables::list_variables(connection, project.id, page))
        .await?;
    Ok(Json(PagedList::new(page, variables, total)))
}

/// Creates a variable.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/variables",
    operation_id = "createVariable",
    tag = "Project variables",
    params(("projectId" = String, Path, format = "uuid", description = "The project's ID.")),
    request_body = ref("#/components/schemas/VariableRequest"),
    responses(
        (status = 201, body = CreatedVariable, description = "The variable was created."),
        (status = 409, body = ProblemBody, description = "The variable name is already in use."),
    )
)]
async fn create_variable(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<CreatedVariable>), Problem> {
    variable_request_shape().validate(&body)?;
    let variable = StoredVariable {
        id: Uuid::new_v4().to_string(),
        name: body.text_or_empty("name"),
        kind: body.text_or_empty("type"),
        behaviour: body.text_or_empty("behaviour"),
        description: body.text_or_empty("description"),
        value: parse_value(&body).unwrap_or(VariableValue::Text(String::new())),
        supports_double_resolution: body.find_boolean("supportsDoubleResolution").unwrap_or_default(),
    };
    let variable_summary = CreatedVariable {
        id: variable.id.clone(),
        name: variable.name.clone(),
        value: variable.value.clone(),
    };
    let conflict = Problem::conflict(format!(
        "the project already has a variable `{}`",
        variable_summary.name
    ));
    app.store()
        .try_change(move |transaction| {
            let is_inserted = variables::insert(transaction, project.id, &variable)?;
            Ok(if is_inserted { Ok(()) } else { Err(conflict) })
        })
        .await??;
    Ok((StatusCode::CREATED, Json(variable_summary)))
}

/// Returns the variable's value in a request body; `None` if it is missing, or neither a string nor a number.
fn parse_value(body: &Map<String, Value>) -> Option<VariableValue> {
    body.find_value("value").and_then(VariableValue::from_json)
}

/// Returns the end of a sentence about a variable's value: which JSON type the value must have for this variable type.
pub(super) fn describe_type_mismatch(kind: &str) -> String {
    let required_type = if kind == "NUMBER" { "number" } else { "string" };
    format!("must be a {required_type} because the type is {kind}")
}

/// Creates a 404: the project has no variable with this name.
pub(super) fn unknown_variable(name: &str) -> Problem {
    Problem::not_found(format!("the project has no variable `{name}`"))
}

/// A change to a variable; `None` keeps the current value.
#[derive(Debug)]
struct VariablePatch {
    kind: String,
    behaviour: String,
    description: Option<String>,
    value: Option<VariableValue>,
    supports_double_resolution: Option<bool>,
}

/// Changes a variable; its type and value can change together.
#[utoipa::path(
    patch,
    path = "/v1/projects/{projectId}/variables/{variableName}",
    operation_id = "changeVariable",
    tag = "Project variables",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project's ID."),
        ("variableName" = String, Path, description = "The variable's name."),
    ),
    request_body = ref("#/components/schemas/VariableChange"),
    responses(
        (status = 204, description = "The variable was changed."),
        (status = 409, body = ProblemBody, description = "An override does not match the new type."),
    )
)]
async fn change_variable(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<StatusCode, Problem> {
    change_request_shape().validate(&body)?;
    let patch = VariablePatch {
        kind: body.text_or_empty("type"),
        behaviour: body.text_or_empty("behaviour"),
        description: body.find_text("description"),
        value: parse_value(&body),
        supports_double_resolution: body.find_boolean("supportsDoubleResolution"),
    };
    let name = request_path.parameter(NAME_PARAMETER).to_owned();
    app.store()
        .try_change(move |transaction| apply_patch(transaction, project.id, &name, patch))
        .await??;
    Ok(StatusCode::NO_CONTENT)
}

/// Changes a variable. Returns a 400 if its value would not match the new type, a 409 if an override would not, and a
/// 404 if the variable does not exist.
fn apply_patch(
    transaction: &Transaction<'_>,
    project: Uuid,
    name: &str,
    patch: VariablePatch,
) -> rusqlite::Result<Result<(), Problem>> {
    let Some(mut row) = variables::find_variable(transaction, project, name)? else {
        return Ok(Err(unknown_variable(name)));
    };
    let value = patch.value.unwrap_or_else(|| row.variable.value.clone());
    if !value.has_type(&patch.kind) {
        return Ok(Err(Problem::invalid_field(
            "value",
            describe_type_mismatch(&patch.kind),
        )));
    }
    let overrides = variables::list_overrides(transaction, &row, None)?;
    if let Some(mismatch) = overrides.iter().find(|item| !item.value.has_type(&patch.kind)) {
        let environment = &mismatch.environment_name;
        return Ok(Err(Problem::conflict(format!(
            "the override in the environment `{environment}` does not match the type {}; delete the override first",
            patch.kind
        ))));
    }
    let variable = &mut row.variable;
    variable.value = value;
    variable.kind = patch.kind;
    variable.behaviour = patch.behaviour;
    if let Some(description) = patch.description {
        variable.description = description;
    }
    if let Some(supports_double_resolution) = patch.supports_double_resolution {
        variable.supports_double_resolution = supports_double_resolution;
    }
    variables::update(transaction, &row)?;
    Ok(Ok(()))
}

/// Removes a variable and all its overrides.
#[utoipa::path(
    delete,
    path = "/v1/projects/{projectId}/variables/{variableName}",
    operation_id = "deleteVariable",
    tag = "Project variables",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project's ID."),
        ("variableName" = String, Path, description = "The variable's name."),
    ),
    responses((status = 204, description = "The variable was removed."))
)]
async fn delete_variable(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
) -> Result<StatusCode, Problem> {
    let name = request_path.parameter(NAME_PARAMETER).to_owned();
    let not_found = unknown_variable(&name);
    app.store()
        .try_change(move |transaction| {
            let is_removed = variables::remove(transaction, project.id, &name)?;
            Ok(is_removed.then_some(()).ok_or(not_found))
        })
        .await??;
    Ok(StatusCode::NO_CONTENT)
}
