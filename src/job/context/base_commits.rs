//! The commits that the change is compared with, and the reason for them.

use crate::base::git::CommitId;

/// The base. Without a commit, every pipeline is selected.
pub(super) struct Base {
    pub commits: Vec<CommitId>,
    pub source: String,
    pub warnings: Vec<String>,
}

impl Base {
    pub(super) fn everything(why: impl Into<String>) -> Self {
        Self {
            commits: Vec::new(),
            source: why.into(),
            warnings: Vec::new(),
        }
    }

    pub(super) fn at(commits: Vec<CommitId>, source: String) -> Self {
        Self {
            commits,
            source,
            warnings: Vec::new(),
        }
    }

    /// Adds to the source why the base that the host set is not used.
    pub(super) fn because(mut self, why: &str) -> Self {
        self.source = format!("{}; {why}", self.source);
        self
    }

    pub(super) fn warn(mut self, warning: String) -> Self {
        self.warnings.push(warning);
        self
    }
}
