//! Projects: API document, sections "Project" and "Projects, environments, provisioning".

use super::{ApiList, ApiValue, Platform};
use crate::http::{HttpError, Method, Repeat, Request};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A project in the list of projects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Project {
    pub id: Option<String>,
    pub name: Option<String>,
    pub description: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewProject {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Warehouse type, in upper case.
    pub warehouse: String,
    /// `HYBRID` or `FULL_SAAS`.
    pub agent_deployment_type: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectCreated {
    pub project_id: Option<String>,
}

impl Platform {
    /// Returns all projects: `GET /v1/projects`, page by page.
    pub async fn fetch_projects(&self) -> Result<ApiList<Project>, HttpError> {
        self.fetch_all_entries(self.client.url(&["projects"])?).await
    }

    /// Creates a project: `POST /v1/projects`. The request is repeated only if it was certainly not processed.
    pub async fn create_project(&self, project: &NewProject) -> Result<ApiValue<ProjectCreated>, HttpError> {
        let url = self.client.url(&["projects"])?;
        self.send_and_parse(&Request::new(Method::POST, url, Repeat::OnlyIfUnprocessed).json(&json!(project)))
            .await
    }
}
