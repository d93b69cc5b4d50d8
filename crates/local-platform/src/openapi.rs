//! The router of all resources, and the API description that is built from it.

use super::app::App;
use super::routes;
use super::vocabulary::Vocabulary;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json, Router};
use serde_json::Value;
use std::sync::Arc;
use utoipa::openapi::path::{Operation, ParameterIn, PathItem};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Info, OpenApi, Paths, Ref, RefOr, Required, ResponseBuilder, Schema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const TOKEN_SCHEME: &str = "token";

/// The operation that shows the description.
const DESCRIPTION_OPERATION: &str = "describe";

/// Responses that any operation with a token can return.
const TOKEN_RESPONSES: [(&str, &str); 1] = [("401", "The token is missing or unknown.")];

/// Responses that any operation can return.
const COMMON_RESPONSES: [(&str, &str); 1] = [("500", "The local platform failed.")];

/// Responses that any operation with a body or parameters can return.
const INPUT_RESPONSES: [(&str, &str); 1] = [(
    "400",
    "The request is invalid; the response lists every validation error.",
)];

/// Responses that any operation with path parameters can return.
const PATH_RESPONSES: [(&str, &str); 1] = [(
    "404",
    "The resource does not exist, or is not visible to the caller.",
)];

/// Responses that any operation with a body can return.
const BODY_RESPONSES: [(&str, &str); 2] = [
    ("408", "The body arrived too slowly."),
    ("413", "The body is too large."),
];

/// Builds the router of all resources and of the API description. The shapes of the request bodies are added to the
/// description here, because the names that they allow depend on the vocabulary.
pub(super) fn build_router(vocabulary: &Vocabulary) -> Router<Arc<App>> {
    let (router, mut description) = build_resource_router().split_for_parts();
    complete_description(&mut description);
    let mut description = serde_json::to_value(description).unwrap_or_default();
    if let Some(Value::Object(schemas)) = description.pointer_mut("/components/schemas") {
        for shape in routes::shapes(vocabulary) {
            shape.to_schema(schemas);
        }
    }
    router.layer(Extension(Arc::new(description)))
}

/// Builds the router of all resources and of the endpoint that shows the API description. utoipa collects the
/// description from the routes.
fn build_resource_router() -> OpenApiRouter<Arc<App>> {
    let router = OpenApiRouter::with_openapi(OpenApi::new(api_information(), Paths::new()));
    routes::add_routes(router).routes(routes!(show_description))
}

/// Shows the description of this API.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = DESCRIPTION_OPERATION,
    tag = "Description",
    security(()),
    responses((status = 200, body = Object, description = "The description of this API."))
)]
async fn show_description(Extension(description): Extension<Arc<Value>>) -> Response {
    Json(&*description).into_response()
}

/// Returns the title, the version and the summary of the API.
fn api_information() -> Info {
    let mut information = Info::new("Local platform", "v1");
    information.description = Some("The endpoints of the local platform.".to_owned());
    information
}

/// Adds what all operations share to the description: the token and the common responses. Also marks every request body
/// as required.
fn complete_description(description: &mut OpenApi) {
    let components = description.components.get_or_insert_default();
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    components.add_security_scheme(TOKEN_SCHEME, SecurityScheme::Http(bearer));
    description.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], &str>(
        TOKEN_SCHEME,
        [],
    )]);
    for operation in description.paths.paths.values_mut().flat_map(list_operations) {
        add_common_responses(operation);
        add_defaults(operation);
        if let Some(RefOr::T(body)) = &mut operation.request_body {
            body.required = Some(Required::True);
        }
    }
}

/// Returns the operations of a path in the description, one for each method that the path supports. The API uses only
/// these five methods.
fn list_operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem {
        get,
        put,
        post,
        delete,
        patch,
        ..
    } = item;
    [get, put, post, delete, patch].into_iter().flatten()
}

/// Adds the default to each parameter whose description ends in it, because the attribute of an operation cannot state
/// it. The page of a list is 0 by default.
fn add_defaults(operation: &mut Operation) {
    for parameter in operation.parameters.iter_mut().flatten() {
        let RefOr::T(parameter) = parameter else { continue };
        let described_default = parameter.description.as_deref().and_then(|description| {
            description
                .strip_suffix(").")?
                .rsplit_once("(default: ")?
                .1
                .parse()
                .ok()
        });
        let default: Option<u64> = match parameter.name.as_str() {
            "page" => Some(0),
            _ => described_default,
        };
        if let Some(RefOr::T(Schema::Object(schema))) = &mut parameter.schema {
            schema.default = schema.default.take().or_else(|| default.map(Value::from));
        }
    }
}

/// Adds the error responses that the operation may have, depending on its body and its parameters. Keeps responses that
/// the operation itself describes. An operation that everyone may use needs no token.
fn add_common_responses(operation: &mut Operation) {
    let needs_token = operation.operation_id.as_deref() != Some(DESCRIPTION_OPERATION);
    let has_body = operation.request_body.is_some();
    let parameters = operation.parameters.as_deref().unwrap_or_default();
    let has_path_parameters = parameters.iter().any(
        |parameter| matches!(parameter, RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Path),
    );
    let has_input = has_body || !parameters.is_empty();
    let response_groups = [
        (needs_token, TOKEN_RESPONSES.as_slice()),
        (true, &COMMON_RESPONSES),
        (has_input, &INPUT_RESPONSES),
        (has_path_parameters, &PATH_RESPONSES),
        (has_body, &BODY_RESPONSES),
    ];
    let applicable_responses = response_groups
        .into_iter()
        .filter(|(is_applicable, _)| *is_applicable)
        .flat_map(|(_, responses)| responses);
    for (status, description) in applicable_responses {
        let problem = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("Problem")))
            .build();
        let response = ResponseBuilder::new()
            .description(*description)
            .content("application/json", problem)
            .build();
        operation
            .responses
            .responses
            .entry((*status).to_owned())
            .or_insert_with(|| response.into());
    }
}
