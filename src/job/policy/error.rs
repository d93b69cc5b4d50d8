//! What is wrong with the gate's own files.

use crate::base::git::GitError;

/// A file of the gate that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    #[error(transparent)]
    Git(#[from] GitError),
    /// The file is there and cannot be read.
    #[error("{name} cannot be read: {why}")]
    Unreadable { name: String, why: String },
}

impl PolicyError {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.hint(),
            Self::Unreadable { .. } => None,
        }
    }
}
