//! Collects every error in a request before rejecting it.

use super::problem::{FieldError, Problem};
use axum::http::HeaderMap;

/// Collects validation errors. A reader that finds one returns a harmless value if possible, so that the remaining
/// checks still run.
#[derive(Debug, Default)]
pub(super) struct BodyCheck {
    pub(super) findings: Vec<FieldError>,
    /// The dotted path of the object being read; empty for the request itself.
    path: String,
}

impl BodyCheck {
    /// Records what is wrong with a field of the request.
    pub(super) fn note(&mut self, field: &str, message: impl Into<String>) {
        let field = self.qualify_field(field);
        self.findings.push(FieldError {
            field,
            message: message.into(),
        });
    }

    /// Returns the full path of a field in the body.
    fn qualify_field(&self, field: &str) -> String {
        match self.path.as_str() {
            "" => field.to_owned(),
            path => format!("{path}.{field}"),
        }
    }

    /// Returns the value if there were no errors.
    pub(super) fn done<T>(self, value: T) -> Result<T, Problem> {
        if self.findings.is_empty() {
            Ok(value)
        } else {
            Err(Problem::invalid(self.findings))
        }
    }

    /// Runs `read` with its errors reported below `field`.
    pub(super) fn below<T>(&mut self, field: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let inner = self.qualify_field(field);
        let outer = std::mem::replace(&mut self.path, inner);
        let value = read(self);
        self.path = outer;
        value
    }

    /// Returns the value of a header. Records an error if it is missing or empty.
    pub(super) fn require_header(&mut self, headers: &HeaderMap, name: &str) -> String {
        self.optional_header(headers, name).unwrap_or_else(|| {
            if !self.findings.iter().any(|finding| finding.field == name) {
                self.note(name, "the header must be there and must not be empty");
            }
            String::new()
        })
    }

    /// Returns a header that may be missing; an empty header is treated as missing.
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
