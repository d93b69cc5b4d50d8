//! Gathers everything that is wrong with a request before it is refused.

use super::problem::{FieldError, Problem};
use axum::http::HeaderMap;

/// Gathers findings; each reading gives a harmless value where there is one, so that the others are still made.
#[derive(Debug, Default)]
pub(super) struct BodyCheck {
    pub(super) findings: Vec<FieldError>,
    /// The dotted path of the object that is being read; empty for the request itself.
    path: String,
}

impl BodyCheck {
    pub(super) fn note(&mut self, field: &str, message: impl Into<String>) {
        let field = self.place_of(field);
        self.findings.push(FieldError {
            field,
            message: message.into(),
        });
    }

    fn place_of(&self, field: &str) -> String {
        match self.path.as_str() {
            "" => field.to_owned(),
            path => format!("{path}.{field}"),
        }
    }

    /// The value, if nothing was found.
    pub(super) fn done<T>(self, value: T) -> Result<T, Problem> {
        if self.findings.is_empty() {
            Ok(value)
        } else {
            Err(Problem::invalid(self.findings))
        }
    }

    /// Reads with findings put below a field.
    pub(super) fn below<T>(&mut self, field: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let inner = self.place_of(field);
        let outer = std::mem::replace(&mut self.path, inner);
        let value = read(self);
        self.path = outer;
        value
    }

    pub(super) fn header(&mut self, headers: &HeaderMap, name: &str) -> String {
        self.optional_header(headers, name).unwrap_or_else(|| {
            if !self.findings.iter().any(|finding| finding.field == name) {
                self.note(name, "the header must be there and must not be empty");
            }
            String::new()
        })
    }

    /// A header that may be missing; an empty one counts as missing.
    pub(super) fn optional_header(&mut self, headers: &HeaderMap, name: &str) -> Option<String> {
        let value = headers.get(name)?;
        let Ok(text) = std::str::from_utf8(value.as_bytes()) else {
            self.note(name, "the header must be UTF-8");
            return None;
        };
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}
