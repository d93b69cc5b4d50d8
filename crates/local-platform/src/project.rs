//! The projects that are visible to a caller, and the project in a request's path.
//!
//! A project is either passed when the service starts, with its repository, and visible to everybody; or it is created
//! through the API and visible only to a super admin (API document, "Authentication", rule 6).

use super::app::App;
use super::options::Role;
use super::problem::Problem;
use super::request_path::RequestPath;
use super::store::projects;
use super::tokens::Caller;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::path::PathBuf;
use std::sync::Arc;
use uuid::Uuid;

const PARAMETER: &str = "projectId";

/// The project in the path: 400 if its ID is not a UUID, 404 if the project does not exist or is not visible to the
/// caller.
#[derive(Debug)]
pub(super) struct VisibleProject {
    pub id: Uuid,
    /// The remote of the project; `None` for a project that was created through the API.
    pub repository: Option<PathBuf>,
}

impl VisibleProject {
    /// Returns the project with this ID, or a 404 if it does not exist or is not visible to the caller. Everybody sees
    /// the projects from the command line; only a super admin sees those that were created later.
    pub(super) async fn find_visible(app: &App, caller: &Caller, id: Uuid) -> Result<Self, Problem> {
        if let Some(startup_project) = app.find_startup_project(id) {
            return Ok(Self {
                id,
                repository: Some(startup_project.repository.clone()),
            });
        }
        let is_visible = caller.role == Role::SuperAdmin
            && app
                .store()
                .query(move |connection| projects::exists(connection, id))
                .await?;
        if is_visible {
            Ok(Self { id, repository: None })
        } else {
            Err(Problem::not_found(format!("there is no project {id}")))
        }
    }
}

impl FromRequestParts<Arc<App>> for VisibleProject {
    type Rejection = Problem;

    /// Returns the project whose ID is in the path of the request, or a 404 if the caller may not see it.
    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let id = RequestPath::from_request_parts(parts, app)
            .await?
            .uuid_parameter(PARAMETER)?;
        let caller = Caller::from_request_parts(parts, app).await?;
        Self::find_visible(app, &caller, id).await
    }
}
