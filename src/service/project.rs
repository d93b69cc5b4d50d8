//! The projects that there are for a caller, and the one that a path names.
//!
//! A project is either given when the service is started, with its repository, and then everybody sees it; or it is
//! made through the API, and then only a super admin does (API document, "Authentication", rule 6).

use super::app::App;
use super::options::Role;
use super::place::RequestPath;
use super::problem::Problem;
use super::store::projects;
use super::tokens::Caller;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::path::PathBuf;
use std::sync::Arc;
use uuid::Uuid;

const PARAMETER: &str = "projectId";

/// The project in the path: 400 if its id is no UUID, 404 if there is no such project for the caller.
#[derive(Debug)]
pub(super) struct CallersProject {
    pub id: Uuid,
    /// Its remote; projects made through the API have none.
    pub repository: Option<PathBuf>,
}

impl CallersProject {
    /// The project with this id, if there is one for the caller.
    pub(super) async fn find(app: &App, caller: &Caller, id: Uuid) -> Result<Self, Problem> {
        if let Some(given) = app.given_project(id) {
            return Ok(Self {
                id,
                repository: Some(given.repository.clone()),
            });
        }
        let made = caller.role == Role::SuperAdmin
            && app
                .store()
                .read(move |connection| projects::exists(connection, id))
                .await?;
        if made {
            Ok(Self { id, repository: None })
        } else {
            Err(Problem::not_found(format!("there is no project {id}")))
        }
    }
}

impl FromRequestParts<Arc<App>> for CallersProject {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let id = RequestPath::from_request_parts(parts, app)
            .await?
            .uuid(PARAMETER)?;
        let caller = Caller::from_request_parts(parts, app).await?;
        Self::find(app, &caller, id).await
    }
}
