//! The names and identifiers in the path of a request.

use super::problem::Problem;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use uuid::Uuid;
use uuid::fmt::Hyphenated;

/// The parameters of the path, decoded.
#[derive(Debug)]
pub struct Place(Vec<(String, String)>);

impl Place {
    /// A parameter as it came.
    pub fn text(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map_or("", |(_, value)| value)
    }

    /// A parameter that is a UUID in its usual form; 400 for anything else.
    pub fn uuid(&self, name: &str) -> Result<Uuid, Problem> {
        uuid(self.text(name)).ok_or_else(|| Problem::invalid_field(name, "must be a UUID"))
    }
}

/// A UUID in its usual form, with hyphens.
pub fn uuid(text: &str) -> Option<Uuid> {
    (text.len() == Hyphenated::LENGTH)
        .then(|| Uuid::try_parse(text).ok())
        .flatten()
}

impl<S: Send + Sync> FromRequestParts<S> for Place {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let parameters = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| Problem::invalid_field("", "the path must be UTF-8"))?;
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Ok(Self(parameters.iter().map(owned).collect()))
    }
}
