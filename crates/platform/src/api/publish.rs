//! Publishing an artifact: API document, section "Shared pipeline artifacts", "Publish rules".

use super::multipart::{Form, PartSource, UploadPart};
use super::{HeaderError, Platform, header_value, naming_role};
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
pub struct PublishAnswer {
    pub version_name: Option<String>,
    /// Files that were left out of the artifact; `None` if the response has no such list.
    pub ignored_resources: Option<Vec<Value>>,
    /// The response as raw JSON.
    #[serde(skip)]
    pub raw: Value,
}

impl Platform {
    /// Publishes an artifact: `POST /v1/shared-pipelines/artifacts`, one streaming request. It is repeated only if the
    /// first request was certainly not processed. On an error, [`HttpError::was_accepted`] returns whether the platform
    /// accepted the artifact (2xx) and only its response was unusable, and [`HttpError::may_have_been_processed`]
    /// whether it may have accepted it.
    pub async fn publish(&self, upload: Upload) -> Result<PublishAnswer, HttpError> {
        let url = self.client.url(&["shared-pipelines", "artifacts"])?;
        let headers = [
            ("sharedpipelineidprefix", "prefix", Some(&upload.prefix)),
            ("versionname", "version name", Some(&upload.version)),
            ("commithash", "commit hash", upload.commit_hash.as_ref()),
            ("branch", "branch", upload.branch.as_ref()),
        ];
        let mut request = Request::new(Method::POST, url, Repeat::OnlyIfUnprocessed);
        for (header, what, text) in headers {
            if let Some(text) = text {
                let value = header_value(text).map_err(|why| unfit(what, &why))?;
                request = request.header(HeaderName::from_static(header), value);
            }
        }
        let form = Form::new(upload.parts, upload.source, upload.progress);
        let response = self
            .client
            .send(&request.upload(Arc::new(form)))
            .await
            .map_err(naming_role)?;
        if !matches!(response.status(), 200 | 201) {
            return Err(response.unusable("only status 200 or 201 confirms that the artifact is published"));
        }
        let raw: Value = response.json()?;
        let answer = super::lenient::from_value(&raw, "", &response)?;
        Ok(PublishAnswer { raw, ..answer })
    }
}

fn unfit(what: &str, why: &HeaderError) -> HttpError {
    HttpError::configuration(format!("the {what} cannot be sent as a header: {why}"))
}
