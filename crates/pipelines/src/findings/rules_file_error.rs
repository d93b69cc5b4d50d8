//! An error in the rules file that keeps pipelines from being evaluated.

use serde::{Deserialize, Serialize};

/// An error in the rules file, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RulesFileError {
    /// The evaluation error that it causes.
    pub error_type: String,
    pub message: String,
    /// The path, the line and the column.
    pub place: String,
}
