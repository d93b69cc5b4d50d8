//! Reviews (API document, "Pipeline review").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::check::BodyCheck;
use crate::fields::Fields as _;
use crate::problem::{Problem, ProblemBody};
use crate::project::CallersProject;
use crate::review::{self, ReviewOutcome, ReviewWish};
use crate::shape::{Shape, needs, object, text, texts};
use crate::vocabulary::{ReviewFields, Vocabulary};
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for reviews.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(create))
}

/// Returns the schemas of the request bodies.
fn shapes(vocabulary: &Vocabulary) -> Vec<Shape> {
    vec![review_request(vocabulary.review)]
}

fn review_request(fields: ReviewFields) -> Shape {
    let mut parts = vec![
        needs("branchName", text()).about("A branch of the project's repository."),
        needs("commitId", text()).about("The full id of a commit of that branch."),
        needs(files_in(fields), texts()).about("Paths of files in that commit."),
    ];
    if fields == ReviewFields::FilePaths {
        parts.push(needs("dataWarehouseType", text()).about("The project's warehouse, in upper case."));
    }
    object(parts).named("ReviewWish", "The body of a review request.")
}

/// Returns the name of the field that lists the files.
const fn files_in(fields: ReviewFields) -> &'static str {
    match fields {
        ReviewFields::Pipelines => "pipelines",
        ReviewFields::FilePaths => "filePaths",
    }
}

/// Reviews pipelines of a branch and commit against the quality rules of that commit.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/reviews",
    operation_id = "createReview",
    tag = "Reviews",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project."),
        ("Agent-Version" = String, Header, pattern = r"\S", description = "Version of the requesting agent."),
    ),
    request_body = ref("#/components/schemas/ReviewWish"),
    responses(
        (status = 200, body = ReviewOutcome, description = "The results by file."),
        (status = 404, body = ProblemBody, description = "Unknown project, branch, commit or file."),
    )
)]
async fn create(
    project: CallersProject,
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    JsonObject(body): JsonObject,
) -> Result<Json<ReviewOutcome>, Problem> {
    let mut check = BodyCheck::default();
    check.require_header(&headers, "Agent-Version");
    let fields = app.vocabulary().review;
    review_request(fields).check(&mut check, &body);
    let request = ReviewWish {
        branch: body.text("branchName"),
        commit: body.text("commitId"),
        pipelines: body.texts(files_in(fields)),
    };
    let request = check.done(request)?;
    let repository = project
        .repository
        .ok_or_else(|| Problem::not_found("the project has no repository here"))?;
    let reviewed = app.in_repository(move || review::review(&repository, &request));
    Ok(Json(reviewed.await?))
}
