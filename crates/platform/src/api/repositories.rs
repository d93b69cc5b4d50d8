//! The project's git repository: API document, section "Repository".

use super::Platform;
use crate::http::{HttpError, Method, Repeat, Request};
use serde_json::{Value, json};
use uuid::Uuid;

/// The repository to connect to a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRepository {
    /// The git provider, in lower case.
    pub provider: String,
    /// The owner organization: `providerParameters.ownerName`.
    pub owner_name: String,
    pub repository_name: String,
}

impl Platform {
    /// Connects a repository to the project: `POST /v1/projects/{projectId}/repositories`, not for the full SaaS
    /// deployment. The platform authenticates at the git provider through an installed application, so an access token
    /// is not needed. The request is repeated only if it was certainly not processed.
    pub async fn create_repository(
        &self,
        project: Uuid,
        repository: &NewRepository,
    ) -> Result<Value, HttpError> {
        let url = self.project_url(project, "repositories", &[])?;
        let body = json!({
            "provider": repository.provider,
            "providerParameters": { "ownerName": repository.owner_name },
            "repositoryName": repository.repository_name,
        });
        self.create_resource(&Request::new(Method::POST, url, Repeat::OnlyIfUnprocessed).json(&body))
            .await
    }
}
