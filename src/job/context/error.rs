//! Why a run cannot be settled.

use crate::base::git::{CommitId, GitError, WHOLE_HISTORY};
use crate::job::ci::{CiError, Host};

/// The host's words and the clone do not meet.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// The repository cannot be read as needed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The clone is shallow, and its history does not tell what is needed.
    #[error("{why}")]
    Shallow {
        /// Which two commits it does not connect.
        why: GitError,
        host: Host,
    },
    /// The host's words cannot be used.
    #[error(transparent)]
    Ci(#[from] CiError),
    /// The commit that the host names is not in the clone.
    #[error("the commit {commit}, which {host} names as the one to judge, is not in this clone")]
    CommitNotInClone { commit: String, host: Host },
    /// The commit that the change began at is not in the clone.
    #[error("the commit {commit}, where the change began ({source_name}), is not in this clone")]
    BaseNotInClone {
        commit: String,
        source_name: &'static str,
        host: Host,
    },
    /// The branch that the change is compared with is not in the clone.
    #[error("the {role} branch `{branch}` is not among the remote branches of this clone")]
    BranchNotInClone {
        branch: String,
        /// What it is: target or default.
        role: &'static str,
        host: Host,
    },
    /// The revision that was asked for as the base has no history in common with head.
    #[error("`{revision}` and {head} have no commit in common")]
    NoCommonHistory { revision: String, head: CommitId },
    /// In a pull or merge request the commit to judge is in what it is compared with.
    #[error("the change brings nothing: {head} is already in {base}")]
    NothingBrought { base: String, head: CommitId },
    /// The checkout is not the commit that the event is about.
    #[error(
        "the checkout is at {}, neither the commit that the event is about ({}) nor a merge of it",
        checked_out.short(), crate::base::git::short_id(commit)
    )]
    OtherCheckout {
        /// The commit that is checked out.
        checked_out: CommitId,
        commit: String,
        host: Host,
        /// The event is about a pull or merge request.
        is_change: bool,
    },
    /// The commit to publish is in no branch that may be published.
    #[error("{}", not_merged(head, branches))]
    NotMerged {
        head: CommitId,
        /// The branches that were searched, as the remote has them.
        branches: Vec<String>,
    },
    /// Whether the commit to publish is merged cannot be determined.
    #[error("could not determine whether {head} is merged: {why}")]
    MergeUnknown {
        head: CommitId,
        /// Why not.
        why: String,
        host: Host,
    },
    /// A merge that the host made in the clone, of which neither side is surely the change.
    #[error(
        "{commit} is a merge made by {host}, and this clone does not tell which side of it is the change"
    )]
    MergeUntold { commit: CommitId, host: Host },
    /// No branch is checked out, and no remote branch holds the commit.
    #[error("no remote branch is known to hold the commit {head}")]
    NoBranch { head: CommitId, host: Host },
    /// The platform reads from the remote, and the remote does not have the commit.
    #[error("the commit {head} is not on the remote{}", on_branch(branch.as_deref()))]
    NotOnRemote {
        head: CommitId,
        /// The branch where it should be.
        branch: Option<String>,
    },
    /// The branch belongs to a fork, which the platform's remote does not have.
    #[error("the branch `{branch}` belongs to a fork, and the platform reads the project's own remote only")]
    Fork { branch: String },
}

fn not_merged(head: &CommitId, branches: &[String]) -> String {
    let branches: Vec<String> = branches.iter().map(|branch| format!("`{branch}`")).collect();
    format!(
        "the commit {head} is not merged: it is not in {} as the remote has it",
        branches.join(" or ")
    )
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
            Self::Shallow { host, .. }
            | Self::CommitNotInClone { host, .. }
            | Self::BaseNotInClone { host, .. }
            | Self::MergeUnknown { host, .. } => Some(history(*host)),
            Self::BranchNotInClone { host, branch, .. } => {
                Some(format!("{}; {}", fetch(branch), history(*host)))
            }
            Self::NoCommonHistory { .. } => {
                Some("name another --base, or review everything with --all".to_owned())
            }
            Self::NothingBrought { .. } => Some(
                "a job that runs after the merge has nothing left to judge: name another --base, or take everything with \
                 --all"
                    .to_owned(),
            ),
            Self::OtherCheckout { host, is_change, commit, .. } => Some(checkout(*host, *is_change, commit)),
            Self::NotMerged { .. } => Some(
                "merge it first, or list its branch in `publish-on.branches` of the default branch's sluicegate.yaml"
                    .to_owned(),
            ),
            Self::MergeUntold { host, .. } => {
                Some(format!("name the commit with --head, or {}", history(*host)))
            }
            Self::NoBranch { host: Host::None, .. } => {
                Some("push the commit, or name its branch with --branch".to_owned())
            }
            Self::NoBranch { host, .. } => {
                Some(format!("name its branch with --branch, or {}", history(*host)))
            }
            Self::NotOnRemote { .. } => {
                Some("push it first, or judge it on this machine with `sluicegate check`".to_owned())
            }
            Self::Fork { .. } => Some(
                "`sluicegate check` judges it on this machine and needs no remote and no token; `review --fork check` \
                 does so for forks alone"
                    .to_owned(),
            ),
        }
    }

    /// The same, with the host named where the clone is too shallow, as the remedy is the host's own.
    pub(super) fn at(self, host: Host) -> Self {
        match self {
            Self::Git(why @ GitError::ShallowHistory { .. }) => Self::Shallow { why, host },
            other => other,
        }
    }
}

/// How a job of this host gets the whole history.
fn history(host: Host) -> String {
    let whole = match (host, host.whole_history()) {
        (Host::None, _) => "fetch the whole history: `git fetch --unshallow`".to_owned(),
        (_, Some(setting)) => format!("fetch the whole history: {setting}"),
        (_, None) => WHOLE_HISTORY.to_owned(),
    };
    format!("{whole}; or have what is missing fetched by --deepen (SLUICEGATE_DEEPEN=true)")
}

/// How a job checks out the commit that its event is about.
fn checkout(host: Host, is_change: bool, commit: &str) -> String {
    let how = match (host, is_change) {
        (Host::GitHub | Host::Gitea, true) => {
            "add `ref: ${{ github.event.pull_request.head.sha }}` to the `with:` of actions/checkout"
                .to_owned()
        }
        (Host::GitHub | Host::Gitea, false) => {
            "remove `ref:` from the `with:` of actions/checkout".to_owned()
        }
        _ => format!("run `git checkout {commit}` before it"),
    };
    format!("{how}; or check the commit without its files on disk: `--head {commit}`")
}

/// How a branch gets into the clone. A name that a shell would read as more than a name is not offered to be pasted.
fn fetch(branch: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    if branch.chars().all(plain) {
        format!("fetch it: `git fetch origin +refs/heads/{branch}:refs/remotes/origin/{branch}`")
    } else {
        "fetch it into refs/remotes/origin".to_owned()
    }
}
