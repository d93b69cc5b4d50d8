//! Environments: API document, sections "Environment" and "Projects, environments, provisioning".

use super::{ApiList, Platform};
use crate::http::{HttpError, Method, Repeat, Request};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use uuid::Uuid;

const ENVIRONMENTS: &str = "environments";

/// An environment in the list of environments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Environment {
    /// Unique name, which never changes.
    pub name: Option<String>,
    /// The default runner.
    pub default_agent_id: Option<String>,
    pub default_agent_name: Option<String>,
}

/// An environment to be created. Fields that the API document does not define are sent unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewEnvironment {
    /// Unique name, which never changes.
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The default runner.
    pub default_agent_id: String,
    /// Access level of a user who is added to the project: `default`, `admin`, `runner`, `readOnly`, `noAccess`.
    pub default_user_access_level: String,
    /// The name of the connection, by the key `DWH` and then by the warehouse type in lower case.
    pub default_connections: BTreeMap<String, BTreeMap<String, String>>,
    /// Connection properties for this environment.
    pub connection_overrides: Vec<ConnectionOverride>,
    /// Fields that the API document does not define.
    #[serde(flatten)]
    pub other_fields: Map<String, Value>,
}

/// The properties of a connection in an environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionOverride {
    /// Name of one of the default connections.
    pub connection_name: String,
    /// `{ value }` for each property, or `{ secretName, secretKey }` for a secret one.
    pub connection_properties: Map<String, Value>,
    /// Fields that the API document does not define.
    #[serde(flatten)]
    pub other_fields: Map<String, Value>,
}

impl Platform {
    /// Returns all environments: `GET /v1/projects/{projectId}/environments`, page by page.
    pub async fn fetch_environments(&self, project: Uuid) -> Result<ApiList<Environment>, HttpError> {
        self.fetch_all_entries(self.project_url(project, ENVIRONMENTS, &[])?)
            .await
    }

    /// Creates an environment: `POST /v1/projects/{projectId}/environments`. The request is repeated only if it was
    /// certainly not processed.
    pub async fn create_environment(
        &self,
        project: Uuid,
        environment: &NewEnvironment,
    ) -> Result<Value, HttpError> {
        let url = self.project_url(project, ENVIRONMENTS, &[])?;
        self.create_resource(
            &Request::new(Method::POST, url, Repeat::OnlyIfUnprocessed).json(&json!(environment)),
        )
        .await
    }
}
