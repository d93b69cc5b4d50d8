//! The default warehouse connection: API document, section "Default warehouse connection".

use super::Platform;
use crate::http::{HttpError, Method, Repeat, Request};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

/// A connection to be created, without credentials, which belong to the environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewConnection {
    pub name: String,
    /// `dwh`.
    pub platform_connection_type: String,
    /// Warehouse type, in lower case.
    pub auth_provider: String,
    /// `key_pair` or `password`, depending on the warehouse.
    pub auth_type: String,
}

impl Platform {
    /// Creates this connection to the project's warehouse, which the API document calls the default one:
    /// `POST /v1/projects/{projectId}/data-platform-connections`. The request is repeated only if it was certainly not
    /// processed.
    pub async fn create_connection(
        &self,
        project: Uuid,
        connection: &NewConnection,
    ) -> Result<Value, HttpError> {
        let url = self.project_url(project, "data-platform-connections", &[])?;
        self.create_resource(
            &Request::new(Method::POST, url, Repeat::OnlyIfUnprocessed).json(&json!(connection)),
        )
        .await
    }
}
