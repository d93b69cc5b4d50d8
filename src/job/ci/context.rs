//! What every host's file makes.

use super::Host;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// A change that is not merged: a pull or merge request, or a merge queue.
    Change,
    /// A commit that was pushed, to a branch or as a tag.
    Commit,
    /// No commit: a schedule, a manual run, a comment, another workflow. It runs on the default branch or on one that
    /// somebody picked, and its job may check out any commit.
    Any,
}

impl Trigger {
    /// The trigger on a host where every run is about a commit or about a change.
    pub(super) const fn of_commit(is_change: bool) -> Self {
        if is_change { Self::Change } else { Self::Commit }
    }
}

/// What the host says about this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CiContext {
    pub host: Host,
    /// The event, in the host's own word; `local` without a host.
    pub event: String,
    /// What the event is about: by what the host says of it, never because a number could be read.
    pub trigger: Trigger,
    /// The branch to name to the platform, without `refs/heads/`.
    pub branch: Option<String>,
    /// The commit to review, which the remote has; none: the one that is checked out.
    pub commit: Option<String>,
    /// The commit that the host checks out for `commit`, where it is another one: a merge that it made to try one.
    pub checkout: Option<String>,
    /// `commit` may be a merge that the host made in the clone alone; then its first parent is meant.
    pub maybe_local_merge: bool,
    /// The tag, if the event is about one.
    pub tag: Option<String>,
    /// The number of the pull request or merge request.
    pub pull_request: Option<u64>,
    /// The branch belongs to another repository than the one that the change is for.
    pub fork: bool,
    pub base: BaseHint,
    /// A commit at which the host saw the branch that the change goes to, and where it says so. It may be old.
    pub target_tip: Option<(String, &'static str)>,
    /// The host's number of this run.
    pub run_number: Option<String>,
    /// The name of the repository's default branch.
    pub default_branch: Option<String>,
    /// Why there is nothing to review, such as a deleted branch.
    pub nothing_to_do: Option<String>,
}

/// Where the change began, as far as the host can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaseHint {
    /// The host does not tell: the merge-base with the default branch; on the default branch itself everything.
    DefaultBranch,
    /// The merge-base with a branch, the target of a pull request.
    MergeBaseWith {
        branch: String,
        /// A commit at which the host saw the target, for a clone without it. It may be old.
        seen_at: Option<String>,
    },
    Commit {
        id: String,
        source: &'static str,
        /// The target of the change, for a clone without the commit.
        target: Option<String>,
    },
    /// The commit that the branch was at before this push. It may be gone by a forced push.
    PushedFrom { before: String, source: &'static str },
    /// There is none: everything is reviewed.
    All { why: &'static str },
}

impl CiContext {
    pub(super) fn new(host: Host, event: impl Into<String>) -> Self {
        Self {
            host,
            event: event.into(),
            trigger: Trigger::Commit,
            branch: None,
            commit: None,
            checkout: None,
            maybe_local_merge: false,
            tag: None,
            pull_request: None,
            fork: false,
            base: BaseHint::DefaultBranch,
            target_tip: None,
            run_number: None,
            default_branch: None,
            nothing_to_do: None,
        }
    }

    /// The same for a tag: the branch is to be found, and everything is reviewed.
    pub(super) fn for_tag(self, tag: impl Into<String>) -> Self {
        let why = "a tag has no state before";
        Self {
            tag: Some(tag.into()),
            branch: None,
            base: BaseHint::All { why },
            ..self
        }
    }
}

/// Whether a host's "before" is its way to say that there was none.
pub(super) fn is_zeros(commit: &str) -> bool {
    commit.bytes().all(|byte| byte == b'0')
}

/// The name of a branch that a host may write in its long form.
pub(super) fn short_branch(name: &str) -> String {
    name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()
}
