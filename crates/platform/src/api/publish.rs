//! Publishing an artifact: API document, section "Shared pipeline artifacts", "Publish rules".

use super::multipart::{MultipartForm, PartSource, UploadPart};
use super::{HeaderError, Platform, add_role_hint, to_header_value};
use crate::http::{HeaderName, HttpError, Method, Repeat, Request};
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The files to publish, and the metadata of the version.
#[derive(Clone)]
pub struct Upload {
    pub prefix: String,
    pub version: String,
    /// Commit that the files are from.
    pub commit_hash: Option<String>,
    /// Branch that the files are from.
    pub branch: Option<String>,
    /// The files, in the order in which they are sent.
    pub parts: Vec<UploadPart>,
    pub source: Arc<dyn PartSource>,
    /// Receives the number of bytes of the request body that were sent so far; starts again with each try.
    pub progress: Option<Arc<dyn Fn(u64) + Send + Sync>>,
}

impl fmt::Debug for Upload {
    /// Formats the upload without its source and its progress function, which cannot be printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload")
            .field("prefix", &self.prefix)
            .field("version", &self.version)
            .field("commit_hash", &self.commit_hash)
            .field("branch", &self.branch)
            .field("parts", &self.parts)
            .finish_non_exhaustive()
    }
}

/// The platform's response to an upload.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishResponse {
    pub version_name: Option<String>,
    /// Files that the platform omitted from the artifact; `None` if the response has no such list.
    pub ignored_resources: Option<Vec<Value>>,
}

impl Platform {
    /// Publishes an artifact: `POST /v1/shared-pipelines/artifacts`, one streaming request. It is repeated only if the
    /// first request was certainly not processed or the platform requests a repetition, because the platform accepts a
    /// version name once. On an error, [`HttpError::is_accepted`] returns whether the platform
    /// accepted the artifact (2xx) and only its response was unusable, and [`HttpError::is_maybe_processed`]
    /// whether it may have accepted it.
    pub async fn publish(&self, upload: Upload) -> Result<PublishResponse, HttpError> {
        let url = self.client.url(&["shared-pipelines", "artifacts"])?;
        let headers = [
            ("sharedpipelineidprefix", "prefix", Some(&upload.prefix)),
            ("versionname", "version name", Some(&upload.version)),
            ("commithash", "commit hash", upload.commit_hash.as_ref()),
            ("branch", "branch", upload.branch.as_ref()),
        ];
        let mut request = Request::new(Method::POST, url, Repeat::RejectedByServer);
        for (header, label, text) in headers {
            if let Some(text) = text {
                let value = to_header_value(text).map_err(|error| header_error(label, &error))?;
                request = request.header(HeaderName::from_static(header), value);
            }
        }
        let form = MultipartForm::new(upload.parts, upload.source, upload.progress);
        let response = self
            .client
            .send(&request.with_upload_body(Arc::new(form)))
            .await
            .map_err(add_role_hint)?;
        if !matches!(response.status(), 200 | 201) {
            return Err(
                response.unusable_error("only status 200 or 201 confirms that the artifact is published")
            );
        }
        let raw: Value = response.json()?;
        let root_path = "";
        super::lenient_values::convert_json(&raw, root_path, &response)
    }
}

/// Creates the error for a value that cannot be sent as a header. `label` is the name of the value in the message.
fn header_error(label: &str, error: &HeaderError) -> HttpError {
    HttpError::configuration(format!("the {label} cannot be sent as a header: {error}"))
}
