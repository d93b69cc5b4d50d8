//! The names and identifiers in the path of a request.

use super::problem::Problem;
use axum::extract::FromRequestParts;
use axum::extract::path::{ErrorKind, Path};
use axum::extract::rejection::PathRejection;
use axum::http::request::Parts;
use uuid::Uuid;
use uuid::fmt::Hyphenated;

/// The parameters of the path, decoded.
#[derive(Debug)]
pub(super) struct RequestPath(Vec<(String, String)>);

impl RequestPath {
    /// A parameter as it came.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map_or("", |(_, value)| value)
    }

    /// A parameter that is a UUID in its usual form; 400 for anything else.
    pub(super) fn uuid(&self, name: &str) -> Result<Uuid, Problem> {
        uuid(self.text(name)).ok_or_else(|| Problem::invalid_field(name, "must be a UUID"))
    }
}

/// A UUID in its usual form, with hyphens.
pub(super) fn uuid(text: &str) -> Option<Uuid> {
    (text.len() == Hyphenated::LENGTH)
        .then(|| Uuid::try_parse(text).ok())
        .flatten()
}

impl<S: Send + Sync> FromRequestParts<S> for RequestPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Path::<Vec<(String, String)>>::from_request_parts(parts, state).await {
            Ok(Path(parameters)) => Ok(Self(parameters)),
            Err(refused) => Err(Problem::invalid_field(undecoded(&refused), "must be UTF-8")),
        }
    }
}

/// The parameter that cannot be decoded.
fn undecoded(refused: &PathRejection) -> &str {
    match refused {
        PathRejection::FailedToDeserializePathParams(why) => match why.kind() {
            ErrorKind::InvalidUtf8InPathParam { key } => key,
            _ => "",
        },
        _ => "",
    }
}
