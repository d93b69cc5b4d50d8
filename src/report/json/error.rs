//! Why a file is not read as a report.

/// A text is no report of this program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// It is not JSON, or lacks what a report has, or has what a report does not have.
    #[error("it is not a report: {0}")]
    Form(#[from] serde_path_to_error::Error<serde_json::Error>),
    /// A value that a report cannot have.
    #[error("it is not a report: {0}")]
    Value(String),
}

pub(super) fn wrong(what: impl Into<String>) -> ReadError {
    ReadError::Value(what.into())
}
