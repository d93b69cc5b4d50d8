//! Every resource, once: from here come both the router and the description of the API.

use super::app::App;
use super::routes::{artifacts, reviews, shared_pipelines};
use axum::extract::State;
use axum::{Json, Router};
use std::sync::Arc;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Info, OpenApi, Paths, Ref, ResponseBuilder};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Where the description is; it is the one path that needs no token.
pub const PATH: &str = "/openapi.json";

const TOKEN: &str = "token";

/// What any operation can answer, whatever it does.
const ANYWHERE: [(&str, &str); 2] = [
    ("401", "No token, or an unknown one."),
    ("500", "The local platform failed."),
];

/// What any operation with a body can answer.
const WITH_BODY: [(&str, &str); 3] = [
    (
        "400",
        "The request is not as it must be; every finding is listed.",
    ),
    ("408", "The body came too slowly."),
    ("413", "The body is too large."),
];

/// The router of all resources.
pub fn router() -> Router<Arc<App>> {
    resources().into()
}

/// The description of all resources.
pub fn description() -> OpenApi {
    let mut description = resources().into_openapi();
    complete(&mut description);
    description
}

fn resources() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(OpenApi::new(information(), Paths::new()))
        .merge(reviews::routes())
        .merge(shared_pipelines::routes())
        .merge(artifacts::routes())
        .routes(routes!(describe))
}

/// Describes the API.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "describe",
    tag = "Description",
    security(()),
    responses((status = 200, body = Object, description = "This description."))
)]
async fn describe(State(app): State<Arc<App>>) -> Json<OpenApi> {
    Json(app.description().clone())
}

fn information() -> Info {
    let mut information = Info::new("Local platform", "v1");
    information.description = Some("The endpoints that this program serves on this machine.".to_owned());
    information
}

/// Adds what is the same for every operation: the token, and the answers that any of them can give.
fn complete(description: &mut OpenApi) {
    let components = description.components.get_or_insert_default();
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    components.add_security_scheme(TOKEN, SecurityScheme::Http(bearer));
    description.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], &str>(TOKEN, [])]);
    for item in description.paths.paths.values_mut() {
        for operation in operations(item) {
            add_common_answers(operation);
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
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

fn add_common_answers(operation: &mut Operation) {
    let with_body = if operation.request_body.is_some() {
        WITH_BODY.as_slice()
    } else {
        &[]
    };
    for (status, text) in ANYWHERE.iter().chain(with_body) {
        let problem = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("Problem")))
            .build();
        let answer = ResponseBuilder::new()
            .description(*text)
            .content("application/json", problem)
            .build();
        operation
            .responses
            .responses
            .entry((*status).to_owned())
            .or_insert_with(|| answer.into());
    }
}
