//! Published artifact versions: API document, section "Shared pipeline artifacts".

use super::lenient_values::none_if_empty;
use super::lists::Paging;
use super::{ApiList, Platform, add_role_hint, parse_platform_time};
use crate::http::{ErrorKind, HttpError, Method, Repeat, Request, Response, Success};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

/// A published version of a group of shared pipelines.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// The group of related shared pipelines.
    pub shared_pipeline_id_prefix: Option<String>,
    pub version_name: Option<String>,
    pub enabled: Option<bool>,
    /// Publication time, ISO 8601.
    pub created_at: Option<String>,
    pub provider: Option<String>,
    /// The commit that the version was built from. An empty text becomes `None`: it names no commit.
    #[serde(default, deserialize_with = "none_if_empty")]
    pub commit_hash: Option<String>,
    /// The branch that the version was built from.
    pub branch: Option<String>,
}

/// A shared pipeline within an artifact.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactPipeline {
    pub shared_pipeline_id: Option<String>,
    /// Path of the pipeline file, without extension.
    pub source_pipeline: Option<String>,
    pub description: Option<String>,
}

/// A version and its shared pipelines.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactDetails {
    /// The version.
    #[serde(rename = "artifactDetails")]
    pub artifact: Artifact,
    pub shared_pipelines: Vec<ArtifactPipeline>,
}

impl Artifact {
    /// Returns the version name for a message, or `without a name` if the platform returned none.
    pub fn display_name(&self) -> &str {
        self.version_name.as_deref().unwrap_or("without a name")
    }

    /// Returns the creation time; `None` if it is missing or invalid.
    pub fn creation_time(&self) -> Option<Timestamp> {
        parse_platform_time(self.created_at.as_deref()?)
    }

    /// Returns whether the platform states that the version is enabled.
    pub fn is_certainly_enabled(&self) -> bool {
        self.enabled == Some(true)
    }

    /// Returns whether the platform states that the version is disabled.
    pub fn is_disabled(&self) -> bool {
        self.enabled == Some(false)
    }

    /// Returns whether the version is not disabled. A version whose state is unknown is treated as enabled.
    pub fn may_be_enabled(&self) -> bool {
        !self.is_disabled()
    }
}

impl Platform {
    /// Returns the published versions of a prefix, or of all: `GET /v1/shared-pipelines/artifacts`. The API document
    /// does not show the list's shape, so a bare array and any envelope are accepted, and all pages are read.
    pub async fn fetch_artifacts(&self, prefix: Option<&str>) -> Result<ApiList<Artifact>, HttpError> {
        let mut url = self.client.url(&["shared-pipelines", "artifacts"])?;
        if let Some(prefix) = prefix {
            url.query_pairs_mut()
                .append_pair("sharedPipelineIdPrefix", prefix);
        }
        self.fetch_list(url, Paging::IfPaged).await.map_err(add_role_hint)
    }

    /// Returns the content of a version, or of the latest enabled one: `GET /v1/shared-pipelines/artifacts/details`.
    pub async fn fetch_artifact_details(
        &self,
        prefix: &str,
        version: Option<&str>,
    ) -> Result<ArtifactDetails, HttpError> {
        let response = self.request_details(prefix, version).await?;
        parse_details(&response, prefix, version)
    }

    /// Returns the content of a version; `None` if the platform responds that there is no such version.
    pub async fn find_artifact(
        &self,
        prefix: &str,
        version: &str,
    ) -> Result<Option<ArtifactDetails>, HttpError> {
        missing_as_none(self.fetch_artifact_details(prefix, Some(version)).await)
    }

    /// Returns the content of the latest enabled version; `None` if the platform responds that no version is enabled.
    pub async fn find_latest_artifact(&self, prefix: &str) -> Result<Option<ArtifactDetails>, HttpError> {
        // Without a version name, the platform returns the latest enabled version.
        missing_as_none(self.fetch_artifact_details(prefix, None).await)
    }

    /// Returns the same response as [`Platform::fetch_artifact_details`] as raw JSON, after a check that it has the
    /// expected form.
    pub async fn fetch_raw_artifact_details(
        &self,
        prefix: &str,
        version: Option<&str>,
    ) -> Result<Value, HttpError> {
        let response = self.request_details(prefix, version).await?;
        parse_details(&response, prefix, version)?;
        response.json()
    }

    /// Requests the details of a version. Without a version, the platform returns those of the latest enabled version.
    async fn request_details(&self, prefix: &str, version: Option<&str>) -> Result<Response, HttpError> {
        let url = self.client.url(&["shared-pipelines", "artifacts", "details"])?;
        let mut request = Request::get(url).query("sharedPipelineIdPrefix", prefix);
        if let Some(version) = version {
            request = request.query("versionName", version);
        }
        self.client.send(&request).await.map_err(add_role_hint)
    }

    /// Enables or disables a version: `PATCH /v1/shared-pipelines/artifacts`. The request is idempotent. The API
    /// document does not show a response body, so the response's JSON is returned, or null if its body is not JSON.
    pub async fn set_artifact_enabled(
        &self,
        prefix: &str,
        version: &str,
        is_enabled: bool,
    ) -> Result<Value, HttpError> {
        let url = self.client.url(&["shared-pipelines", "artifacts"])?;
        let body = json!({ "sharedPipelineIdPrefix": prefix, "versionName": version, "enabled": is_enabled });
        let request = Request::new(Method::PATCH, url, Repeat::Safe).json(&body);
        self.send_and_read_body(&request.with_success(Success::Undocumented))
            .await
            .map_err(add_role_hint)
    }
}

/// Converts the error that the version is missing to `None`.
fn missing_as_none(
    details: Result<ArtifactDetails, HttpError>,
) -> Result<Option<ArtifactDetails>, HttpError> {
    match details {
        Ok(details) => Ok(Some(details)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
/// Parses the details of a version. Fails if they are those of another prefix or version, for example because a gateway
/// drops a parameter of the URL: a wrong version would be verified, compared or shown. A prefix or a version name that
/// the response does not contain is not compared.
fn parse_details(
    response: &Response,
    prefix: &str,
    version: Option<&str>,
) -> Result<ArtifactDetails, HttpError> {
    let details: ArtifactDetails = response.json()?;
    let artifact = &details.artifact;
    let values = [
        ("prefix", &artifact.shared_pipeline_id_prefix, Some(prefix)),
        ("version name", &artifact.version_name, version),
    ];
    for (label, returned_value, requested_value) in values {
        if let (Some(returned_value), Some(requested_value)) = (returned_value, requested_value)
            && returned_value != requested_value
        {
            return Err(response.unusable_error(&format!(
                "the request was for the {label} `{requested_value}`, but the platform returned `{returned_value}`"
            )));
        }
    }
    Ok(details)
}
