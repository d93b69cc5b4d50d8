//! Whether the token reaches something: one entry of a list is asked for, and what it says does not matter.

use super::{Platform, naming_role};
use crate::platform::http::{HttpError, Request};
use serde_json::Value;
use uuid::Uuid;

/// What to do about a project that is not there.
const PROJECT_HINT: &str =
    "check the project id; a new project is seen by the role Super Admin alone until users are invited";

impl Platform {
    /// Whether the account can be read: `GET /v1/projects`.
    pub async fn reach_account(&self) -> Result<(), HttpError> {
        self.reach(&["projects"]).await
    }

    /// Whether shared pipelines can be read, which needs the role that a publish needs: `GET /v1/shared-pipelines`.
    pub async fn reach_shared_pipelines(&self) -> Result<(), HttpError> {
        self.reach(&["shared-pipelines"]).await.map_err(naming_role)
    }

    /// Whether the project is there for this token: `GET /v1/projects/{projectId}/environments`.
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
            _ => Err(response.unusable("it holds no list")),
        }
    }
}
