//! Versions of shared pipeline artifacts: list, details, publish, enable and disable (API document, "Shared pipeline
//! artifacts").

use super::Resource;
use crate::app::App;
use crate::auth::Admin;
use crate::body::{BoundedBody, JsonObject};
use crate::check::BodyCheck;
use crate::fields::Fields as _;
use crate::multipart::FormReader;
use crate::page::{Page, Paged, Query};
use crate::problem::{Problem, ProblemBody};
use crate::shape::{Shape, boolean, needs, object, text};
use crate::store::artifacts::{self, ArtifactFilter, StoredArtifact, StoredSharedPipeline};
use crate::upload::{IgnoredResource, ReceivedUpload};
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

const PREFIX: &str = "sharedPipelineIdPrefix";
const VERSION: &str = "versionName";

/// The value of `provider` for a version that was published through the API.
const PROVIDER: &str = "public-api";

/// Maximum size of a publish request, in bytes.
const PUBLISH_LIMIT: u64 = 1024 * 1024 * 1024;

/// Maximum time to receive a publish request.
const PUBLISH_TIME: Duration = Duration::from_secs(60 * 60);

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for artifacts.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, publish, change))
        .routes(routes!(details))
}

/// A version and its shared pipelines.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Details {
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

/// Returns the schemas of the request bodies.
fn shapes(_: &Vocabulary) -> Vec<Shape> {
    vec![change_request()]
}

fn change_request() -> Shape {
    object([
        needs(PREFIX, text()),
        needs(VERSION, text()),
        needs("enabled", boolean()),
    ])
    .named("Change", "A request to enable or disable a version.")
}

/// Lists the published versions, the most recent first.
#[utoipa::path(
    get,
    path = "/v1/shared-pipelines/artifacts",
    operation_id = "listArtifacts",
    tag = "Shared pipelines",
    params(
        Page,
        ("sharedPipelineIdPrefix" = Option<String>, Query, description = "Only versions with this prefix."),
        ("versionName" = Option<String>, Query, description = "Only versions with this name."),
        ("enabled" = Option<bool>, Query, description = "Only enabled, or only disabled versions."),
    ),
    responses(
        (status = 200, body = Paged<StoredArtifact>, description = "A page of the versions."),
        (status = 400, body = ProblemBody, description = "A parameter is outside its bounds."),
        (status = 403, body = ProblemBody, description = "The role is neither Admin nor Super Admin."),
    )
)]
async fn list(
    _: Admin,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<Paged<StoredArtifact>>, Problem> {
    let mut check = BodyCheck::default();
    let page = Page::read(&query, &mut check);
    let filter = ArtifactFilter {
        prefix: query.find_value(PREFIX).map(str::to_owned),
        version_name: query.find_value(VERSION).map(str::to_owned),
        enabled: query.boolean(&mut check, "enabled"),
    };
    let filter = check.done(filter)?;
    let found = app
        .store()
        .read(move |connection| artifacts::list(connection, &filter, page))
        .await?;
    Ok(Json(Paged::new(page, found)))
}

/// Shows a version; without a name, the last published version that is enabled.
#[utoipa::path(
    get,
    path = "/v1/shared-pipelines/artifacts/details",
    operation_id = "showArtifact",
    tag = "Shared pipelines",
    params(
        ("sharedPipelineIdPrefix" = String, Query, min_length = 1, description = "The prefix of the version."),
        ("versionName" = Option<String>, Query, description = "The version; `latest` is not special."),
    ),
    responses(
        (status = 200, body = Details, description = "The version and its shared pipelines."),
        (status = 400, body = ProblemBody, description = "The prefix is missing."),
        (status = 403, body = ProblemBody, description = "The role is neither Admin nor Super Admin."),
        (status = 404, body = ProblemBody, description = "There is no such version, or no enabled one."),
    )
)]
async fn details(_: Admin, State(app): State<Arc<App>>, query: Query) -> Result<Json<Details>, Problem> {
    let prefix = query
        .find_value(PREFIX)
        .filter(|prefix| !prefix.is_empty())
        .map(str::to_owned);
    let prefix = prefix.ok_or_else(|| Problem::invalid_field(PREFIX, "must not be empty"))?;
    let version = query.find_value(VERSION).map(str::to_owned);
    let missing = match &version {
        Some(version) => no_such_version(&prefix, version),
        None => Problem::not_found(format!("the prefix `{prefix}` has no enabled version")),
    };
    let found = app
        .store()
        .read(move |connection| artifacts::find(connection, &prefix, version.as_deref()))
        .await?;
    let (artifact_details, shared_pipelines) = found.ok_or(missing)?;
    Ok(Json(Details {
        artifact_details,
        shared_pipelines,
    }))
}

fn no_such_version(prefix: &str, version: &str) -> Problem {
    Problem::not_found(format!("the prefix `{prefix}` has no version `{version}`"))
}

/// Publishes a version from one form part per file, each with the file's path as its name.
#[utoipa::path(
    post,
    path = "/v1/shared-pipelines/artifacts",
    operation_id = "publishArtifact",
    tag = "Shared pipelines",
    params(
        ("sharedPipelineIdPrefix" = String, Header, pattern = r"\S", description = "The group of shared pipelines."),
        ("versionName" = String, Header, pattern = r"\S", description = "The version label; it cannot be reused."),
        ("commitHash" = Option<String>, Header, description = "The published commit."),
        ("branch" = Option<String>, Header, description = "The branch of that commit."),
    ),
    request_body(
        content = BTreeMap<String, String>,
        content_type = "multipart/form-data",
        description = "The files; among them one `.<folder>/shared-pipelines.yaml`."
    ),
    responses(
        (status = 200, body = PublishOutcome, description = "The version exists."),
        (status = 403, body = ProblemBody, description = "The role is neither Admin nor Super Admin."),
        (status = 409, body = ProblemBody, description = "The prefix already has a version of this name."),
    )
)]
async fn publish(
    Admin(caller): Admin,
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<PublishOutcome>, Problem> {
    let body = BoundedBody::new(&headers, body, PUBLISH_LIMIT)?;
    let artifact = read_headers(&headers)?;
    let form = FormReader::new(&headers, body)?;
    refuse_known(&app, &artifact).await?;
    let upload = timeout(PUBLISH_TIME, ReceivedUpload::receive(form))
        .await
        .map_err(|_| Problem::too_slow())??;
    let (contents, ignored_resources) = upload.settle()?;
    let version_name = artifact.version_name.clone();
    let taken = already_there(&artifact);
    let author = app.author(&caller);
    let project = app.given_project_called(&artifact.shared_pipeline_id_prefix);
    let artifact = StoredArtifact {
        created_at: author.at.to_string(),
        ..artifact
    };
    app.store()
        .try_change(move |transaction| {
            let inserted = artifacts::insert(transaction, &artifact, &contents, (&author, project))?;
            Ok(inserted.then_some(()).ok_or(taken))
        })
        .await??;
    Ok(Json(PublishOutcome {
        version_name,
        ignored_resources,
    }))
}

fn read_headers(headers: &HeaderMap) -> Result<StoredArtifact, Problem> {
    let mut check = BodyCheck::default();
    let artifact = StoredArtifact {
        shared_pipeline_id_prefix: check.require_header(headers, PREFIX),
        version_name: check.require_header(headers, VERSION),
        enabled: true,
        created_at: String::new(),
        provider: PROVIDER.to_owned(),
        commit_hash: check.optional_header(headers, "commitHash"),
        branch: check.optional_header(headers, "branch"),
    };
    check.done(artifact)
}

/// Rejects a version that already exists before a long upload. Whether the version is new is decided only when it is
/// stored.
async fn refuse_known(app: &App, artifact: &StoredArtifact) -> Result<(), Problem> {
    let prefix = artifact.shared_pipeline_id_prefix.clone();
    let version = artifact.version_name.clone();
    let exists = app
        .store()
        .read(move |connection| artifacts::exists(connection, &prefix, &version))
        .await?;
    if exists {
        Err(already_there(artifact))
    } else {
        Ok(())
    }
}

fn already_there(artifact: &StoredArtifact) -> Problem {
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
        (status = 404, body = ProblemBody, description = "There is no such version."),
    )
)]
async fn change(
    Admin(caller): Admin,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<Json<StoredArtifact>, Problem> {
    change_request().hold(&body)?;
    let (prefix, version) = (body.text(PREFIX), body.text(VERSION));
    let enabled = body.flag("enabled").unwrap_or_default();
    let missing = no_such_version(&prefix, &version);
    let author = app.author(&caller);
    let project = app.given_project_called(&prefix);
    let changed = app
        .store()
        .try_change(move |transaction| {
            let changed =
                artifacts::set_enabled(transaction, [&prefix, &version], enabled, (&author, project))?;
            Ok(changed.ok_or(missing))
        })
        .await??;
    Ok(Json(changed))
}
