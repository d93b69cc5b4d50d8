//! The names and identifiers in a request's path.

use super::problem::Problem;
use axum::extract::FromRequestParts;
use axum::extract::path::{ErrorKind, Path};
use axum::extract::rejection::PathRejection;
use axum::http::request::Parts;
use uuid::Uuid;
use uuid::fmt::Hyphenated;

/// The decoded parameters of the path.
#[derive(Debug)]
pub(super) struct RequestPath(Vec<(String, String)>);

impl RequestPath {
    /// Returns the value of a parameter, or an empty string if the path has no such parameter.
    pub(super) fn parameter(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }

    /// Returns the UUID in a parameter, or a 400 if the value is not a UUID with hyphens.
    pub(super) fn uuid_parameter(&self, name: &str) -> Result<Uuid, Problem> {
        parse_uuid(self.parameter(name)).ok_or_else(|| Problem::invalid_field(name, "must be a UUID"))
    }
}

/// Parses a UUID with hyphens. The library also accepts other notations, which the API does not.
pub(super) fn parse_uuid(text: &str) -> Option<Uuid> {
    (text.len() == Hyphenated::LENGTH)
        .then(|| Uuid::try_parse(text).ok())
        .flatten()
}

impl<S: Send + Sync> FromRequestParts<S> for RequestPath {
    type Rejection = Problem;

    /// Reads the parameters in the path of the request. They must be UTF-8.
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Path::<Vec<(String, String)>>::from_request_parts(parts, state).await {
            Ok(Path(parameters)) => Ok(Self(parameters)),
            Err(rejection) => Err(Problem::invalid_field(
                undecodable_parameter(&rejection),
                "must be UTF-8",
            )),
        }
    }
}

/// Returns the name of the parameter that cannot be decoded; empty if the rejection does not name it.
fn undecodable_parameter(rejection: &PathRejection) -> &str {
    match rejection {
        PathRejection::FailedToDeserializePathParams(error) => match error.kind() {
            ErrorKind::InvalidUtf8InPathParam { key } => key,
            _ => "",
        },
        _ => "",
    }
}
