//! The reason why a clone cannot show whether a commit is merged.

#[derive(Debug, thiserror::Error)]
pub enum MergeUnknownReason {
    #[error("the clone is shallow")]
    ShallowClone,
    #[error("this clone does not know the remote's default branch")]
    NoDefaultBranch { remote: String },
    #[error("the default branch `{branch}` is not among the remote branches of this clone")]
    NoRemoteBranch { branch: String, remote: String },
}

/// Returns the hint that records the default branch of this remote in the clone.
pub(super) fn default_branch_hint(remote: &str) -> String {
    format!("name the branch: `git remote set-head {remote} BRANCH`")
}
