//! Collects every error in a request before rejecting it.

use super::problem::{FieldError, Problem};
use axum::http::{HeaderMap, HeaderValue};

/// Collects validation errors. A reader that finds one returns a harmless value if possible, so that the remaining
/// checks still run.
#[derive(Debug, Default)]
pub(super) struct BodyCheck {
    pub(super) errors: Vec<FieldError>,
    /// The dotted path of the object being read; empty for the request itself.
    path: String,
}

impl BodyCheck {
    /// Records an error in a field of the request. `field` is the field's path from the object being read.
    pub(super) fn add_error(&mut self, field: &str, message: impl Into<String>) {
        let field = self.full_path(field);
        self.errors.push(FieldError {
            field,
            message: message.into(),
        });
    }

    /// Returns the dotted path from the request to a field of the object being read.
    fn full_path(&self, field: &str) -> String {
        match self.path.as_str() {
            "" => field.to_owned(),
            path => format!("{path}.{field}"),
        }
    }

    /// Returns the value, or a 400 with all recorded errors if there are any.
    pub(super) fn into_result<T>(self, value: T) -> Result<T, Problem> {
        if self.errors.is_empty() {
            Ok(value)
        } else {
            Err(Problem::invalid(self.errors))
        }
    }

    /// Runs `read`, which reads the object in `field`, so that the paths in its errors begin with `field`.
    pub(super) fn read_nested_field<T>(&mut self, field: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let inner_path = self.full_path(field);
        let outer_path = std::mem::replace(&mut self.path, inner_path);
        let value = read(self);
        self.path = outer_path;
        value
    }

    /// Returns the value of a header. If the header is missing, empty, repeated or not UTF-8, records one error for it
    /// and returns an empty string.
    pub(super) fn required_header(&mut self, headers: &HeaderMap, name: &str) -> String {
        self.optional_header(headers, name).unwrap_or_else(|| {
            if !self.errors.iter().any(|error| error.field == name) {
                self.add_error(name, "the header is required and must not be empty");
            }
            String::new()
        })
    }

    /// Returns the trimmed value of a header, or `None` if the header is missing or empty. Records an error if the
    /// header is repeated or not UTF-8.
    pub(super) fn optional_header(&mut self, headers: &HeaderMap, name: &str) -> Option<String> {
        let value = match find_single_header(headers, name) {
            Ok(value) => value?,
            Err(message) => {
                self.add_error(name, message);
                return None;
            }
        };
        let Ok(text) = std::str::from_utf8(value.as_bytes()) else {
            self.add_error(name, "the header must be UTF-8");
            return None;
        };
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

/// Returns the value of a header, or `None` if the header is missing. Fails if the header is repeated, because it is
/// unknown which of the values is meant.
pub(super) fn find_single_header<'h>(
    headers: &'h HeaderMap,
    name: &str,
) -> Result<Option<&'h HeaderValue>, &'static str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next();
    match values.next() {
        Some(_) => Err("the header must not be repeated"),
        None => Ok(value),
    }
}
