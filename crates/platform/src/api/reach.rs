//! Checks whether the token has access to a resource: requests one entry of a list and ignores its content.

use super::{Platform, naming_role};
use crate::http::{HttpError, Request};
use serde_json::Value;
use uuid::Uuid;

/// Hint for a project that does not exist or is not visible.
const PROJECT_HINT: &str =
    "check the project id; only the role Super Admin sees a new project until users are invited";

impl Platform {
    /// Checks access to the account: `GET /v1/projects`.
    pub async fn reach_account(&self) -> Result<(), HttpError> {
        self.reach(&["projects"]).await
    }

    /// Checks access to shared pipelines, which needs the same role as a publish: `GET /v1/shared-pipelines`.
    pub async fn reach_shared_pipelines(&self) -> Result<(), HttpError> {
        self.reach(&["shared-pipelines"]).await.map_err(naming_role)
    }

    /// Checks access to the project: `GET /v1/projects/{projectId}/environments`.
    pub async fn reach_project(&self, project: Uuid) -> Result<(), HttpError> {
        let reached = self
            .reach(&["projects", &project.to_string(), "environments"])
            .await;
        reached.map_err(|error| match error.status() {
            Some(403 | 404) => error.with_hint(PROJECT_HINT),
            _ => error,
        })
    }

    async fn reach(&self, path: &[&str]) -> Result<(), HttpError> {
        let request = Request::get(self.client.url(path)?)
            .query("page", "0")
            .query("size", "1");
        let response = self.client.send(&request).await?;
        match response.json()? {
            Value::Array(_) | Value::Object(_) => Ok(()),
            _ => Err(response.unusable("it contains no list")),
        }
    }
}
