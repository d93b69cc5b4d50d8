//! Errors of the gate configuration.

use sluicegate_git::GitError;

/// A file of the gate configuration could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    #[error(transparent)]
    Git(#[from] GitError),
    /// The file exists but could not be read.
    #[error("{name} cannot be read: {reason}")]
    Unreadable { name: String, reason: String },
}

impl PolicyError {
    /// Returns what the user can do about the error, or `None` if the message already says everything.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.hint(),
            Self::Unreadable { .. } => None,
        }
    }
}
