//! The shared pipelines of the account: API document, section "Shared pipeline artifacts".

use super::{ApiList, Platform, add_role_hint};
use crate::http::HttpError;
use serde::Deserialize;

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
}

impl Platform {
    /// Returns all shared pipelines of the account: `GET /v1/shared-pipelines`, page by page.
    pub async fn fetch_shared_pipelines(&self) -> Result<ApiList<SharedPipeline>, HttpError> {
        let url = self.client.url(&["shared-pipelines"])?;
        self.fetch_all_entries(url).await.map_err(add_role_hint)
    }
}
