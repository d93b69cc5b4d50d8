//! Reviews (API document, "Pipeline review").

use crate::service::app::App;
use crate::service::body::JsonObject;
use crate::service::check::Check;
use crate::service::problem::{Problem, ProblemBody};
use crate::service::project::ProjectRepository;
use crate::service::review::{self, Request, Review};
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use std::sync::Arc;
use tokio::task;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The routes of this resource.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(create))
}

/// The body of a review request.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "it describes the body; the fields are read one by one, to find all that is wrong"
)]
struct ReviewRequest {
    /// A branch of the project's repository.
    #[schema(min_length = 1)]
    branch_name: String,
    /// The full id of a commit of that branch.
    #[schema(min_length = 1)]
    commit_id: String,
    /// Paths of files in that commit.
    #[schema(min_items = 1)]
    pipelines: Vec<String>,
}

/// Reviews pipelines of a branch and commit by the quality rules of that commit.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/reviews",
    operation_id = "createReview",
    tag = "Reviews",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project."),
        ("Agent-Version" = String, Header, description = "The version of the agent that asks."),
    ),
    request_body = ReviewRequest,
    responses(
        (status = 200, body = Review, description = "The results by file."),
        (status = 404, body = ProblemBody, description = "No such project, branch, commit or file."),
    )
)]
async fn create(
    ProjectRepository(repository): ProjectRepository,
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    JsonObject(body): JsonObject,
) -> Result<Json<Review>, Problem> {
    let mut check = Check::default();
    check.header(&headers, "Agent-Version");
    let request = Request {
        branch: check.text(&body, "branchName"),
        commit: check.text(&body, "commitId"),
        pipelines: check.texts(&body, "pipelines"),
    };
    let request = check.done(request)?;
    // The semaphore is never closed. The leave goes with the work, which goes on if the caller hangs up.
    let leave = app.reviews().acquire_owned().await;
    let work = move || {
        let _leave = leave;
        review::review(&repository, &request)
    };
    let reviewed = task::spawn_blocking(work).await;
    let reviewed =
        reviewed.map_err(|_| Problem::internal("a defect of the local platform ended the review"))?;
    Ok(Json(reviewed?))
}
