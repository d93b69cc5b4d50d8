//! Project variables (API document, "Project variables").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::check::BodyCheck;
use crate::fields::Fields as _;
use crate::page::{Page, Paged, Query};
use crate::place::RequestPath;
use crate::problem::{Problem, ProblemBody};
use crate::project::CallersProject;
use crate::shape::{
    Shape, ShapePart, any_text, boolean, may, needs, object, one_of, rule, text, text_or_number,
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

/// Name of the path parameter.
pub(super) const NAME: &str = "variableName";

const TYPES: [&str; 2] = ["TEXT", "NUMBER"];
const BEHAVIOURS: [&str; 2] = ["SHARED", "COPIED"];

/// Default page size of the list of variables.
const SIZE: u32 = 25;

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for variables.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(update, remove))
}

/// Returns the schemas of the request bodies.
fn shapes(_: &Vocabulary) -> Vec<Shape> {
    vec![variable_request(), variable_change()]
}

fn variable_request() -> Shape {
    object([
        needs("name", text()).about("The name, which never changes."),
        needs("type", one_of(&TYPES)),
        needs("behaviour", one_of(&BEHAVIOURS)),
        needs("value", text_or_number()),
        fitting(),
        may("description", any_text()),
        may("supportsDoubleResolution", boolean()),
    ])
    .named("VariableRequest", "The body of a variable creation.")
}

fn variable_change() -> Shape {
    object([
        needs("type", one_of(&TYPES)),
        needs("behaviour", one_of(&BEHAVIOURS)),
        may("description", any_text()),
        may("value", text_or_number()),
        fitting(),
        may("supportsDoubleResolution", boolean()),
    ])
    .named(
        "VariableChange",
        "The body of a change; missing fields keep their values.",
    )
}

/// Checks that the value matches the type.
fn fitting() -> ShapePart {
    let case = |kind: &str, values: &str| {
        json!({"type": "object", "properties": {
            "type": {"type": "string", "enum": [kind]}, "value": {"type": [values, "null"]},
        }})
    };
    let check = |check: &mut BodyCheck, body: &Map<String, Value>| {
        let (kind, value) = (body.text("type"), value_of(body));
        if TYPES.contains(&kind.as_str()) && value.is_some_and(|value| !value.has_type(&kind)) {
            check.note("value", does_not_fit(&kind));
        }
    };
    let cases = [case("TEXT", "string"), case("NUMBER", "number")];
    rule(check, Some(json!({"oneOf": cases})))
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
        ("projectId" = String, Path, format = "uuid", description = "The project."),
        ("page" = Option<u64>, Query, format = "uint64", minimum = 0, description = "The page number, from 0."),
        ("size" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Items in a page; 25 by default."),
    ),
    responses((status = 200, body = Paged<StoredVariable>, description = "A page of the variables."))
)]
async fn list(
    project: CallersProject,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<Paged<StoredVariable>>, Problem> {
    let mut check = BodyCheck::default();
    let page = Page::of_size(SIZE, &query, &mut check);
    let page = check.done(page)?;
    let found = app
        .store()
        .read(move |connection| variables::list(connection, project.id, page))
        .await?;
    Ok(Json(Paged::new(page, found)))
}

/// Creates a variable.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/variables",
    operation_id = "createVariable",
    tag = "Project variables",
    params(("projectId" = String, Path, format = "uuid", description = "The project.")),
    request_body = ref("#/components/schemas/VariableRequest"),
    responses(
        (status = 201, body = CreatedVariable, description = "The variable exists."),
        (status = 409, body = ProblemBody, description = "The variable name is already in use."),
    )
)]
async fn create(
    project: CallersProject,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<CreatedVariable>), Problem> {
    variable_request().hold(&body)?;
    let variable = StoredVariable {
        id: Uuid::new_v4().to_string(),
        name: body.text("name"),
        kind: body.text("type"),
        behaviour: body.text("behaviour"),
        description: body.text("description"),
        value: value_of(&body).unwrap_or(VariableValue::Text(String::new())),
        supports_double_resolution: body.flag("supportsDoubleResolution").unwrap_or_default(),
    };
    let created = CreatedVariable {
        id: variable.id.clone(),
        name: variable.name.clone(),
        value: variable.value.clone(),
    };
    let taken = Problem::conflict(format!("the project has a variable `{}` already", created.name));
    app.store()
        .try_change(move |transaction| {
            let inserted = variables::insert(transaction, project.id, &variable)?;
            Ok(inserted.then_some(()).ok_or(taken))
        })
        .await??;
    Ok((StatusCode::CREATED, Json(created)))
}

fn value_of(body: &Map<String, Value>) -> Option<VariableValue> {
    body.given("value").and_then(VariableValue::from_json)
}

/// Returns the reason why a value does not match the type.
pub(super) fn does_not_fit(kind: &str) -> String {
    let needed = if kind == "NUMBER" { "number" } else { "string" };
    format!("must be a {needed}, as the type is {kind}")
}

/// Creates a 404: the project has no such variable.
pub(super) fn missing(name: &str) -> Problem {
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
        ("projectId" = String, Path, format = "uuid", description = "The project."),
        ("variableName" = String, Path, description = "The variable."),
    ),
    request_body = ref("#/components/schemas/VariableChange"),
    responses(
        (status = 204, description = "The variable was changed."),
        (status = 409, body = ProblemBody, description = "An override does not match the new type."),
    )
)]
async fn update(
    project: CallersProject,
    State(app): State<Arc<App>>,
    place: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<StatusCode, Problem> {
    variable_change().hold(&body)?;
    let change = VariablePatch {
        kind: body.text("type"),
        behaviour: body.text("behaviour"),
        description: body.optional_text("description"),
        value: value_of(&body),
        supports_double_resolution: body.flag("supportsDoubleResolution"),
    };
    let name = place.text(NAME).to_owned();
    app.store()
        .try_change(move |transaction| apply(transaction, project.id, &name, change))
        .await??;
    Ok(StatusCode::NO_CONTENT)
}

fn apply(
    transaction: &Transaction<'_>,
    project: Uuid,
    name: &str,
    change: VariablePatch,
) -> rusqlite::Result<Result<(), Problem>> {
    let Some(mut found) = variables::find(transaction, project, name)? else {
        return Ok(Err(missing(name)));
    };
    let value = change.value.unwrap_or_else(|| found.variable.value.clone());
    if !value.has_type(&change.kind) {
        return Ok(Err(Problem::invalid_field("value", does_not_fit(&change.kind))));
    }
    let overrides = variables::list_overrides(transaction, &found, None)?;
    if let Some(other) = overrides.iter().find(|item| !item.value.has_type(&change.kind)) {
        let environment = &other.environment_name;
        return Ok(Err(Problem::conflict(format!(
            "the override in the environment `{environment}` does not fit the type {}; delete it first",
            change.kind
        ))));
    }
    let variable = &mut found.variable;
    variable.value = value;
    variable.kind = change.kind;
    variable.behaviour = change.behaviour;
    if let Some(description) = change.description {
        variable.description = description;
    }
    if let Some(supports) = change.supports_double_resolution {
        variable.supports_double_resolution = supports;
    }
    variables::update(transaction, &found)?;
    Ok(Ok(()))
}

/// Removes a variable and all its overrides.
#[utoipa::path(
    delete,
    path = "/v1/projects/{projectId}/variables/{variableName}",
    operation_id = "deleteVariable",
    tag = "Project variables",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project."),
        ("variableName" = String, Path, description = "The variable."),
    ),
    responses((status = 204, description = "The variable was removed."))
)]
async fn remove(
    project: CallersProject,
    State(app): State<Arc<App>>,
    place: RequestPath,
) -> Result<StatusCode, Problem> {
    let name = place.text(NAME).to_owned();
    let missing = missing(&name);
    app.store()
        .try_change(move |transaction| {
            let removed = variables::remove(transaction, project.id, &name)?;
            Ok(removed.then_some(()).ok_or(missing))
        })
        .await??;
    Ok(StatusCode::NO_CONTENT)
}
