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
    /// Returns a parameter as text.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map_or("", |(_, value)| value)
    }

    /// Returns a parameter that is a UUID in its usual form; any other value gets a 400.
    pub(super) fn uuid(&self, name: &str) -> Result<Uuid, Problem> {
        uuid(self.text(name)).ok_or_else(|| Problem::invalid_field(name, "must be a UUID"))
    }
}

/// Parses a UUID in its usual form, with hyphens.
pub(super) fn uuid(text: &str) -> Option<Uuid> {
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
            Err(refused) => Err(Problem::invalid_field(
                find_undecoded_parameter(&refused),
                "must be UTF-8",
            )),
        }
    }
}

/// Returns the name of the parameter that cannot be decoded.
fn find_undecoded_parameter(refused: &PathRejection) -> &str {
    match refused {
        PathRejection::FailedToDeserializePathParams(why) => match why.kind() {
            ErrorKind::InvalidUtf8InPathParam { key } => key,
            _ => "",
        },
        _ => "",
    }
}
