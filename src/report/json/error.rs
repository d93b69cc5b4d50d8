//! The errors of reading a JSON report.

/// The text is not a report of this program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// The text is not JSON, lacks a required key, or has an unknown one.
    #[error("not a valid report: {0}")]
    Form(#[from] serde_path_to_error::Error<serde_json::Error>),
    /// A value is invalid or contradicts another one.
    #[error("not a valid report: {0}")]
    Value(String),
}

pub(super) fn wrong(what: impl Into<String>) -> ReadError {
    ReadError::Value(what.into())
}
