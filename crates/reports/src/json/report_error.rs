//! The errors of reading a JSON report.

/// The text is not a report of this program.
#[derive(Debug, thiserror::Error)]
pub enum ReportReadError {
    /// The text is not JSON, lacks a required key, or has an unknown one.
    #[error("not a valid report: {0}")]
    Form(serde_path_to_error::Error<serde_json::Error>),
    /// A value is invalid or contradicts another one.
    #[error("not a valid report: {0}")]
    Value(String),
}

/// Without a source: the message contains it, and a chain of errors would repeat it.
impl From<serde_path_to_error::Error<serde_json::Error>> for ReportReadError {
    fn from(error: serde_path_to_error::Error<serde_json::Error>) -> Self {
        Self::Form(error)
    }
}

/// Creates the error for a value that is invalid or contradicts another one.
pub(super) fn invalid_value(reason: impl Into<String>) -> ReportReadError {
    ReportReadError::Value(reason.into())
}
