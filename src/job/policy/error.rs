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
    /// The configuration file that the job names does not exist.
    #[error("the configuration file {name} does not exist")]
    MissingFile { name: String },
}

impl PolicyError {
    /// Returns what the user can do about the error, or `None` if the message already says everything.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.hint(),
            Self::Unreadable { .. } => None,
            Self::MissingFile { .. } => Some(
                "correct --config or the variable SLUICEGATE_CONFIG; the path is relative to the current directory"
                    .to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_of_git_keeps_its_hint() {
        let error = || GitError::MissingObject {
            kind: "commit",
            id: "4444444444444444444444444444444444444444".to_owned(),
            partial: true,
        };
        assert!(error().hint().is_some());
        assert_eq!(PolicyError::Git(error()).hint(), error().hint());
        let unreadable = PolicyError::Unreadable {
            name: "sluicegate.yaml".to_owned(),
            reason: "it is a directory".to_owned(),
        };
        assert_eq!(unreadable.hint(), None);
    }
}
