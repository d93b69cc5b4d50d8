//! Reviews (API document, "Pipeline review").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::body_check::BodyCheck;
use crate::json_fields::JsonFields as _;
use crate::pipeline_review::{self, ReviewOutcome, ReviewSubject};
use crate::problem::{Problem, ProblemBody};
use crate::project::VisibleProject;
use crate::shape::{Shape, object, required_member, text, texts};
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
    OpenApiRouter::new().routes(routes!(create_review))
}

/// Returns the shapes of the request bodies, whose schemas are added to the API description.
fn shapes(vocabulary: &Vocabulary) -> Vec<Shape> {
    vec![review_request_shape(vocabulary.review)]
}

/// Returns the shape of a request to review files. `fields` selects one of the two variants in the API document, which
/// have different names for the list of files; only one of them has the warehouse.
fn review_request_shape(fields: ReviewFields) -> Shape {
    let mut parts = vec![
        required_member("branchName", text())
            .with_description("The name of a branch in the project's repository."),
        required_member("commitId", text()).with_description("The full ID of a commit in that branch."),
        required_member(files_field_name(fields), texts()).with_description("Paths of files in that commit."),
    ];
    if fields == ReviewFields::FilePaths {
        parts.push(
            required_member("dataWarehouseType", text())
                .with_description("The project's warehouse, in upper case."),
        );
    }
    object(parts).with_name_and_description("ReviewWish", "The body of a review request.")
}

/// Returns the name of the field that lists the files.
const fn files_field_name(fields: ReviewFields) -> &'static str {
    match fields {
        ReviewFields::Pipelines => "pipelines",
        ReviewFields::FilePaths => "filePaths",
    }
}

/// Reviews pipelines in a commit of a branch against the quality rules in this commit.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/reviews",
    operation_id = "createReview",
    tag = "Reviews",
    params(
        ("projectId" = String, Path, format = "uuid", description = "The project's ID."),
        ("Agent-Version" = String, Header, pattern = r"\S", description = "Version of the requesting agent."),
    ),
    request_body = ref("#/components/schemas/ReviewWish"),
    responses(
        (status = 200, body = ReviewOutcome, description = "The results for each file."),
        (status = 404, body = ProblemBody, description = "The project, branch, commit or file does not exist."),
    )
)]
async fn create_review(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    JsonObject(body): JsonObject,
) -> Result<Json<ReviewOutcome>, Problem> {
    let mut check = BodyCheck::default();
    // The header must be present, but its value has no effect.
    check.required_header(&headers, "Agent-Version");
    let fields = app.vocabulary().review;
    review_request_shape(fields).check_members(&mut check, &body);
    let request = ReviewSubject {
        branch: body.text_or_empty("branchName"),
        commit: body.text_or_empty("commitId"),
        pipelines: body.text_list(files_field_name(fields)),
    };
    let request = check.into_result(request)?;
    let repository = project
        .repository
        .ok_or_else(|| Problem::not_found("the local platform has no repository for this project"))?;
    let outcome = app.run_repository_work(move || pipeline_review::review_pipelines(&repository, &request));
    Ok(Json(outcome.await?))
}
