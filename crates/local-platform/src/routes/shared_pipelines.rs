//! The shared pipelines of the account (API document, "Shared pipeline artifacts").

use super::Resource;
use crate::app::App;
use crate::auth::Admin;
use crate::page::{Page, Paged, Query};
use crate::problem::{Problem, ProblemBody};
use crate::store::artifacts::{self, SharedPipelineItem};
use axum::Json;
use axum::extract::State;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource {
    routes,
    shapes: |_| Vec::new(),
};

/// Returns the HTTP routes for shared pipelines.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Lists the shared pipelines of all prefixes, each with its latest enabled version.
#[utoipa::path(
    get,
    path = "/v1/shared-pipelines",
    operation_id = "listSharedPipelines",
    tag = "Shared pipelines",
    params(Page),
    responses(
        (status = 200, body = Paged<SharedPipelineItem>, description = "A page of the shared pipelines."),
        (status = 400, body = ProblemBody, description = "`page` or `size` is outside its bounds."),
        (status = 403, body = ProblemBody, description = "The role is neither Admin nor Super Admin."),
    )
)]
async fn list(
    _: Admin,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<Paged<SharedPipelineItem>>, Problem> {
    let page = Page::only(&query)?;
    let found = app
        .store()
        .read(move |connection| artifacts::list_shared_pipelines(connection, page))
        .await?;
    Ok(Json(Paged::new(page, found)))
}
