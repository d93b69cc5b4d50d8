//! Versions of shared pipeline artifacts: list, details, publish, enable and disable (API document, "Shared pipeline
//! artifacts").

use super::Resource;
use crate::app::App;
use crate::auth::Admin;
use crate::body::{BoundedBody, JsonObject};
use crate::body_check::BodyCheck;
use crate::form_reader::FormReader;
use crate::json_fields::JsonFields as _;
use crate::page::{Page, PagedList, Query};
use crate::problem::{Problem, ProblemBody};
use crate::received_upload::{IgnoredResource, ReceivedUpload};
use crate::shape::{Shape, boolean, object, required_member, text};
use crate::store::artifacts::{self, ArtifactFilter, StoredArtifact, StoredSharedPipeline};
use crate::vocabulary::Vocabulary;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const PREFIX_FIELD: &str = "sharedPipelineIdPrefix";
const VERSION_FIELD: &str = "versionName";

/// The value of `provider` for a version that was published through the API.
const API_PROVIDER: &str = "public-api";

/// Maximum size of a publish request, in bytes.
const MAX_PUBLISH_BYTES: u64 = 1024 * 1024 * 1024;

/// Maximum time to receive a publish request.
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for artifacts.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list_artifacts, publish_artifact, change_artifact))
        .routes(routes!(show_artifact))
}

/// A version and its shared pipelines.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Details)]
struct VersionDetails {
    artifact_details: StoredArtifact,
    shared_pipelines: Vec<StoredSharedPipeline>,
}

/// The result of a publish.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Published)]
struct PublishOutcome {
    version_name: String,
    /// The excluded files; if there are any, the artifact may be incomplete.
    ignored_resources: Vec<IgnoredResource>,
}

/// Returns the shapes of the request bodies, whose schemas are added to the API description.
fn shapes(_: &Vocabulary) -> Vec<Shape> {
    vec![enable_request_shape()]
}

/// Returns the shape of a request to enable or disable a version.
fn enable_request_shape() -> Shape {
    object([
        required_member(PREFIX_FIELD, text()),
        required_member(VERSION_FIELD, text()),
        required_member("enabled", boolean()),
    ])
    .with_name_and_description("Change", "A request to enable or disable a version.")
}

/// Lists the published versions, the most recent first.
#[utoipa::path(
    get,
    path = "/v1/shared-pipelines/artifacts",
    operation_id = "listArtifacts",
    tag = "Shared pipelines",
    params(
        Page,
        ("sharedPipelineIdPrefix" = Option<String>, Query, description = "Return only versions with this \
             prefix."),
        ("versionName" = Option<String>, Query, description = "Return only versions with this name."),
        ("enabled" = Option<bool>, Query, description = "Return only enabled versions (true) or only \
             disabled versions (false)."),
    ),
    responses(
        (status = 200, body = PagedList<StoredArtifact>, description = "A page of versions."),
        (status = 400, body = ProblemBody, description = "A parameter is outside its bounds."),
        (status = 403, body = ProblemBody, description = "The role is neither Admin nor Super Admin."),
    )
)]
async fn list_artifacts(
    _: Admin,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<PagedList<StoredArtifact>>, Problem> {
    let mut check = BodyCheck::default();
    let page = Page::from_query(&query, &mut check);
    let filter = ArtifactFilter {
        prefix: query.find_value(PREFIX_FIELD).map(str::to_owned),
        version_name: query.find_value(VERSION_FIELD).map(str::to_owned),
        enabled: query.find_boolean(&mut check, "enabled"),
    };
    let filter = check.into_result(filter)?;
    let (artifacts, total) = app
        .store()
        .query(move |connection| artifacts::list_artifacts(connection, &filter, page))
        .await?;
    Ok(Json(PagedList::new(page, artifacts, total)))
}

/// Shows a version; without a name, the last published version that is enabled.
#[utoipa::path(
    get,
    path = "/v1/shared-pipelines/artifacts/details",
    operation_id = "showArtifact",
    tag = "Shared pipelines",
    params(
        ("sharedPipelineIdPrefix" = String, Query, min_length = 1, description = "The prefix of the version."),
        ("versionName" = Option<String>, Query, description = "The version's name; `latest` has no special meaning."),
    ),
    responses(
        (status = 200, body = VersionDetails, description = "The version and its shared pipelines."),
        (status = 400, body = ProblemBody, description = "The prefix is missing."),
        (status = 403, body = ProblemBody, description = "The role is neither Admin nor Super Admin."),
        (status = 404, body = ProblemBody, description = "The version does not exist, or no version is enabled."),
    )
)]
async fn show_artifact(
    _: Admin,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<VersionDetails>, Problem> {
    let prefix = query
        .find_value(PREFIX_FIELD)
        .filter(|prefix| !prefix.is_empty())
        .ok_or_else(|| Problem::invalid_field(PREFIX_FIELD, "must not be empty"))?
        .to_owned();
    let version = query.find_value(VERSION_FIELD).map(str::to_owned);
    let not_found = match &version {
        Some(version) => unknown_version(&prefix, version),
        None => Problem::not_found(format!("the prefix `{prefix}` has no enabled version")),
    };
    let details = app
        .store()
        .query(move |connection| artifacts::find_artifact(connection, &prefix, version.as_deref()))
        .await?;
    let (artifact_details, shared_pipelines) = details.ok_or(not_found)?;
    Ok(Json(VersionDetails {
        artifact_details,
        shared_pipelines,
    }))
}

/// Creates a 404: the prefix has no version with this name.
fn unknown_version(prefix: &str, version: &str) -> Problem {
    Problem::not_found(format!("the prefix `{prefix}` has no version `{version}`"))
}

/// Publishes a version from one form part per file, each with the file's path as its name.
#[utoipa::path(
    post,
    path = "/v1/shared-pipelines/artifacts",
    operation_id = "publishArtifact",
    tag = "Shared pipelines",
    params(
        ("sharedPipelineIdPrefix" = String, Header, pattern = r"\S", description = "The version's prefix."),
        ("versionName" = String, Header, pattern = r"\S", description = "The version's name, which cannot be reused."),
        ("commitHash" = Option<String>, Header, description = "The hash of the published commit."),
        ("branch" = Option<String>, Header, description = "The branch of the published commit."),
    ),
    request_body(
        content = BTreeMap<String, String>,
        content_type = "multipart/form-data",
        description = "One part for each file, including `.<folder>/shared-pipelines.yaml`."
    ),
    responses(
        (status = 200, body = PublishOutcome, description = "The version was published."),
        (status = 403, body = ProblemBody, description = "The role is neither Admin nor Super Admin."),
        (status = 409, body = ProblemBody, description = "The prefix already has a version with this name."),
    )
)]
async fn publish_artifact(
    Admin(caller): Admin,
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<PublishOutcome>, Problem> {
    let body = BoundedBody::new(&headers, body, MAX_PUBLISH_BYTES)?;
    let artifact = parse_artifact_headers(&headers)?;
    let form = FormReader::new(&headers, body)?;
    // Rejects a version that exists before its files are uploaded. Another request may store the version during the
    // upload, so `insert` checks this again.
    reject_existing_version(&app, &artifact).await?;
    let upload = timeout(PUBLISH_TIMEOUT, ReceivedUpload::receive(form))
        .await
        .map_err(|_| Problem::slow_body())??;
    let (contents, ignored_resources) = upload.into_artifact()?;
    let version_name = artifact.version_name.clone();
    let conflict = duplicate_version(&artifact);
    let author = app.author_for(&caller);
    // The audit event belongs to the project whose name is the prefix.
    let project = app.find_startup_project_id(&artifact.shared_pipeline_id_prefix);
    let artifact = StoredArtifact {
        created_at: author.time.to_string(),
        ..artifact
    };
    app.store()
        .try_change(move |transaction| {
            let is_inserted = artifacts::insert(transaction, &artifact, &contents, &author, project)?;
            Ok(is_inserted.then_some(()).ok_or(conflict))
        })
        .await??;
    Ok(Json(PublishOutcome {
        version_name,
        ignored_resources,
    }))
}

/// Parses the metadata of a version in the headers. The time of creation stays empty until the version is stored.
fn parse_artifact_headers(headers: &HeaderMap) -> Result<StoredArtifact, Problem> {
    let mut check = BodyCheck::default();
    let artifact = StoredArtifact {
        shared_pipeline_id_prefix: check.required_header(headers, PREFIX_FIELD),
        version_name: check.required_header(headers, VERSION_FIELD),
        enabled: true,
        created_at: String::new(),
        provider: API_PROVIDER.to_owned(),
        commit_hash: check.optional_header(headers, "commitHash"),
        branch: check.optional_header(headers, "branch"),
    };
    check.into_result(artifact)
}

/// Rejects a version that already exists. This check comes before the upload is read, because the upload may be long.
/// The version is checked again when it is stored, because another request may store it first.
async fn reject_existing_version(app: &App, artifact: &StoredArtifact) -> Result<(), Problem> {
    let prefix = artifact.shared_pipeline_id_prefix.clone();
    let version = artifact.version_name.clone();
    let exists = app
        .store()
        .query(move |connection| artifacts::exists(connection, &prefix, &version))
        .await?;
    if exists {
        Err(duplicate_version(artifact))
    } else {
        Ok(())
    }
}

/// Creates a 409: the prefix already has a version with this name.
fn duplicate_version(artifact: &StoredArtifact) -> Problem {
    let (prefix, version) = (&artifact.shared_pipeline_id_prefix, &artifact.version_name);
    Problem::conflict(format!("the prefix `{prefix}` already has a version `{version}`"))
}

/// Enables or disables a version and returns its new state.
#[utoipa::path(
    patch,
    path = "/v1/shared-pipelines/artifacts",
    operation_id = "changeArtifact",
    tag = "Shared pipelines",
    request_body = ref("#/components/schemas/Change"),
    responses(
        (status = 200, body = StoredArtifact, description = "The new state of the version."),
        (status = 403, body = ProblemBody, description = "The role is neither Admin nor Super Admin."),
        (status = 404, body = ProblemBody, description = "The version does not exist."),
    )
)]
async fn change_artifact(
    Admin(caller): Admin,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<Json<StoredArtifact>, Problem> {
    enable_request_shape().validate(&body)?;
    let (prefix, version) = (
        body.text_or_empty(PREFIX_FIELD),
        body.text_or_empty(VERSION_FIELD),
    );
    let is_enabled = body.find_boolean("enabled").unwrap_or_default();
    let not_found = unknown_version(&prefix, &version);
    let author = app.author_for(&caller);
    // The audit event belongs to the project whose name is the prefix.
    let project = app.find_startup_project_id(&prefix);
    let artifact = app
        .store()
        .try_change(move |transaction| {
            let artifact =
                artifacts::set_enabled(transaction, [&prefix, &version], is_enabled, &author, project)?;
            Ok(artifact.ok_or(not_found))
        })
        .await??;
    Ok(Json(artifact))
}
