//! The action of a gate run, for messages.

use std::fmt;

/// The action of a gate run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GateAction {
    /// The local engine evaluates the files.
    Check,
    /// The platform evaluates the files of a commit, or the local engine does for the change of a fork.
    Review,
}

impl fmt::Display for GateAction {
    /// Writes the verb.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Check => "check",
            Self::Review => "review",
        })
    }
}
