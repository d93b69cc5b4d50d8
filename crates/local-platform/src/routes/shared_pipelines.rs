//! The shared pipelines of the account (API document, "Shared pipeline artifacts").

use super::Resource;
use crate::app::App;
use crate::auth::Admin;
use crate::page::{Page, PagedList, Query};
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
    OpenApiRouter::new().routes(routes!(list_shared_pipelines))
}

/// Lists the shared pipelines of all prefixes, each with its latest enabled version.
#[utoipa::path(
    get,
    path = "/v1/shared-pipelines",
    operation_id = "listSharedPipelines",
    tag = "Shared pipelines",
    params(Page),
    responses(
        (status = 200, body = PagedList<SharedPipelineItem>, description = "A page of shared pipelines."),
        (status = 400, body = ProblemBody, description = "`page` or `size` is outside its bounds."),
        (status = 403, body = ProblemBody, description = "The role is neither Admin nor Super Admin."),
    )
)]
async fn list_shared_pipelines(
    _: Admin,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<PagedList<SharedPipelineItem>>, Problem> {
    let page = Page::try_from_query(&query)?;
    let (pipelines, total) = app
        .store()
        .query(move |connection| artifacts::list_shared_pipelines(connection, page))
        .await?;
    Ok(Json(PagedList::new(page, pipelines, total)))
}
