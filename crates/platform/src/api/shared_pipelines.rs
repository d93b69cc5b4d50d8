//! The shared pipelines of the account: API document, section "Shared pipeline artifacts".

use super::lenient_values::convert_json;
use super::lists::Paging;
use super::{Platform, add_role_hint};
use crate::http::HttpError;
use serde::Deserialize;
use serde_json::Value;

/// A shared pipeline in the list of shared pipelines.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedPipeline {
    /// The group of related shared pipelines.
    pub shared_pipeline_id_prefix: Option<String>,
    pub shared_pipeline_id: Option<String>,
    pub description: Option<String>,
    /// The version that \[Latest\] refers to; `None` if all are disabled.
    pub latest_version_name: Option<String>,
    /// The entry as raw JSON.
    #[serde(skip)]
    pub raw: Value,
}

impl Platform {
    /// Returns all shared pipelines of the account: `GET /v1/shared-pipelines`, page by page.
    pub async fn fetch_shared_pipelines(&self) -> Result<Vec<SharedPipeline>, HttpError> {
        let url = self.client.url(&["shared-pipelines"])?;
        self.fetch_list(url, Paging::Always, |raw, path, response| {
            let pipeline = convert_json(&raw, path, response)?;
            Ok(SharedPipeline { raw, ..pipeline })
        })
        .await
        .map_err(add_role_hint)
    }
}
