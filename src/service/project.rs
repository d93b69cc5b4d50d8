//! The project that a path names.

use super::app::App;
use super::problem::Problem;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use std::path::PathBuf;
use std::sync::Arc;
use uuid::Uuid;
use uuid::fmt::Hyphenated;

const PARAMETER: &str = "projectId";

/// The repository of the project in the path: 400 if its id is no UUID, 404 if there is no such project.
#[derive(Debug)]
pub struct ProjectRepository(pub PathBuf);

impl FromRequestParts<Arc<App>> for ProjectRepository {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let no_uuid = || Problem::invalid_field(PARAMETER, "must be a UUID");
        let parameters = RawPathParams::from_request_parts(parts, app)
            .await
            .map_err(|_| no_uuid())?;
        let given = parameters
            .iter()
            .find(|(name, _)| *name == PARAMETER)
            .map(|(_, value)| value);
        let id = given
            .filter(|given| given.len() == Hyphenated::LENGTH)
            .and_then(|given| Uuid::try_parse(given).ok())
            .ok_or_else(no_uuid)?;
        let repository = app.repository(id).cloned();
        repository
            .map(Self)
            .ok_or_else(|| Problem::not_found(format!("there is no project {id}")))
    }
}
