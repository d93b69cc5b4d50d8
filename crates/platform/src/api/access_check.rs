//! Checks whether the token has access to a resource: requests one entry of a list and ignores its content.

use super::{Platform, add_role_hint};
use crate::http::{HttpError, Request};
use serde_json::Value;
use uuid::Uuid;

/// Hint for a project that does not exist or is not visible.
const PROJECT_HINT: &str =
    "check the project id; until users are invited, only the role Super Admin can see a new project";

impl Platform {
    /// Checks access to the account: `GET /v1/projects`.
    pub async fn check_account_access(&self) -> Result<(), HttpError> {
        self.check_access(&["projects"]).await
    }

    /// Checks access to shared pipelines, which needs the same role as a publish: `GET /v1/shared-pipelines`.
    pub async fn check_shared_pipelines_access(&self) -> Result<(), HttpError> {
        self.check_access(&["shared-pipelines"])
            .await
            .map_err(add_role_hint)
    }

    /// Checks access to the project: `GET /v1/projects/{projectId}/environments`. A 403 or 404 gets a hint about the
    /// project id and the required role.
    pub async fn check_project_access(&self, project: Uuid) -> Result<(), HttpError> {
        self.check_access(&["projects", &project.to_string(), "environments"])
            .await
            .map_err(|error| match error.status() {
                Some(403 | 404) => error.with_hint(PROJECT_HINT),
                _ => error,
            })
    }

    /// Requests one entry of a list, to learn whether the token may read it. A response that is neither a list nor an
    /// object is an error.
    async fn check_access(&self, path: &[&str]) -> Result<(), HttpError> {
        let request = Request::get(self.client.url(path)?)
            .query("page", "0")
            .query("size", "1");
        let response = self.client.send(&request).await?;
        match response.json()? {
            Value::Array(_) | Value::Object(_) => Ok(()),
            _ => Err(response.unusable_error("the response does not contain a list")),
        }
    }
}
