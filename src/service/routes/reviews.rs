//! Reviews (API document, "Pipeline review").

use crate::service::app::App;
use crate::service::body::JsonObject;
use crate::service::check::Check;
use crate::service::problem::{Problem, ProblemBody};
use crate::service::project::Project;
use crate::service::review::{self, Request, Review};
use crate::service::routes::texts;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use std::sync::Arc;
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
    #[schema(pattern = r"\S")]
    branch_name: String,
    /// The full id of a commit of that branch.
    #[schema(pattern = r"\S")]
    commit_id: String,
    /// Paths of files in that commit.
    #[schema(schema_with = texts)]
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
        ("Agent-Version" = String, Header, pattern = r"\S", description = "The version of the agent that asks."),
    ),
    request_body = ReviewRequest,
    responses(
        (status = 200, body = Review, description = "The results by file."),
        (status = 404, body = ProblemBody, description = "No such project, branch, commit or file."),
    )
)]
async fn create(
    project: Project,
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
    let repository = project
        .repository
        .ok_or_else(|| Problem::not_found("the project has no repository here"))?;
    let reviewed = app.in_repository(move || review::review(&repository, &request));
    Ok(Json(reviewed.await?))
}
