//! Why a run cannot be settled.

use crate::ci::{CiError, Host};
use crate::git::{CommitId, GitError, WHOLE_HISTORY};

/// The host's words and the clone do not meet.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// The repository cannot be read as needed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The host's words cannot be used.
    #[error(transparent)]
    Ci(#[from] CiError),
    /// The commit that the host names is not in the clone.
    #[error("the commit {commit}, which {host} names as the one to judge, is not in this clone")]
    CommitNotInClone {
        /// The commit.
        commit: String,
        /// The host.
        host: Host,
    },
    /// The commit that the change began at is not in the clone.
    #[error("the commit {commit}, where the change began ({source_name}), is not in this clone")]
    BaseNotInClone {
        /// The commit.
        commit: String,
        /// Where the host names it.
        source_name: &'static str,
    },
    /// The branch that the change is compared with is not in the clone.
    #[error("the {role} branch `{branch}` is not among the remote branches of this clone")]
    BranchNotInClone {
        /// The branch.
        branch: String,
        /// What it is: target or default.
        role: &'static str,
    },
    /// The revision that was asked for as the base has no history in common with head.
    #[error("`{revision}` and {head} have no commit in common")]
    NoCommonHistory {
        /// The revision.
        revision: String,
        /// The commit to judge.
        head: CommitId,
    },
    /// No branch is checked out, and no remote branch holds the commit.
    #[error("no remote branch is known to hold the commit {head}")]
    NoBranch {
        /// The commit to judge.
        head: CommitId,
    },
    /// The platform reads from the remote, and the remote does not have the commit.
    #[error("the commit {head} is not on the remote{}", on_branch(branch.as_deref()))]
    NotOnRemote {
        /// The commit to judge.
        head: CommitId,
        /// The branch where it should be.
        branch: Option<String>,
    },
    /// The branch belongs to a fork, which the platform's remote does not have.
    #[error("the branch `{branch}` belongs to a fork, and the platform reads the project's own remote only")]
    Fork {
        /// The branch.
        branch: String,
    },
}

fn on_branch(branch: Option<&str>) -> String {
    branch
        .map(|branch| format!(", branch `{branch}`"))
        .unwrap_or_default()
}

impl ContextError {
    /// What the user can do, where there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.hint(),
            Self::Ci(error) => Some(error.hint()),
            Self::CommitNotInClone { .. } | Self::BaseNotInClone { .. } | Self::BranchNotInClone { .. } => {
                Some(WHOLE_HISTORY.to_owned())
            }
            Self::NoCommonHistory { .. } => {
                Some("name another --base, or review everything with --all".to_owned())
            }
            Self::NoBranch { .. } => Some("push the commit, or name its branch with --branch".to_owned()),
            Self::NotOnRemote { .. } => {
                Some("push it first, or judge it on this machine with `sluicegate check`".to_owned())
            }
            Self::Fork { .. } => Some(
                "`sluicegate check` judges it on this machine and needs no remote and no token".to_owned(),
            ),
        }
    }
}
