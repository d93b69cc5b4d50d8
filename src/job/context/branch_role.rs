//! The role of a branch in the search for a base or for the policy.

use std::fmt;

/// The role of a branch that a change is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchRole {
    /// The branch that the change goes to.
    Target,
    /// The default branch of the repository.
    Default,
}

impl fmt::Display for BranchRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Target => "target",
            Self::Default => "default",
        })
    }
}
