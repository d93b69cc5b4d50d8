//! Publishing an artifact: API document, section "Shared pipeline artifacts", "Publish rules".

use super::multipart::{Form, PartSource, UploadPart};
use super::{HeaderError, Platform, header_value, naming_role};
use crate::platform::http::{HeaderName, HttpError, Method, Repeat, Request};
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// What is published, and as what.
#[derive(Clone)]
pub struct Upload {
    pub prefix: String,
    pub version: String,
    /// The commit that the files are from.
    pub commit_hash: Option<String>,
    /// The branch that the files are from.
    pub branch: Option<String>,
    /// The files, in the order in which they are sent.
    pub parts: Vec<UploadPart>,
    pub source: Arc<dyn PartSource>,
    /// Told how many bytes of the request's body were sent so far; begins anew when the upload does.
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

/// What the platform made of an upload.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishAnswer {
    pub version_name: Option<String>,
    /// What was left out of the artifact; none if the answer does not tell, which is not the same as nothing.
    pub ignored_resources: Option<Vec<Value>>,
    /// The answer as it came.
    #[serde(skip)]
    pub raw: Value,
}

impl Platform {
    /// Publishes an artifact: `POST /v1/shared-pipelines/artifacts`, one streaming request. It is sent again only
    /// where it surely was not processed. Of an error, [`HttpError::was_accepted`] tells whether the platform took
    /// the artifact (2xx) and only its answer was unusable, and [`HttpError::may_have_been_processed`] whether it
    /// may have taken it.
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
            return Err(response.unusable("only 200 and 201 say that the artifact is published"));
        }
        let raw: Value = response.json()?;
        let answer = super::lenient::from_value(&raw, "", &response)?;
        Ok(PublishAnswer { raw, ..answer })
    }
}

fn unfit(what: &str, why: &HeaderError) -> HttpError {
    HttpError::configuration(format!("the {what} cannot be sent as a header: {why}"))
}
