//! What was settled.

use super::{ContextError, base::Base};
use crate::base::git::CommitId;
use crate::job::ci::{CiContext, Host, Trigger};

/// What this run is about. `H` is the commit that is judged, or the one that may hold the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled<H> {
    pub ci: Host,
    /// The event, in the host's word.
    pub event: String,
    /// The branch to name to the platform; none if no remote branch is known to hold `head`. Of files that are in no
    /// commit: the one that the host names, else the one that is checked out.
    pub branch: Option<String>,
    pub head: H,
    /// The commits to compare with: the merge-bases, of which criss-cross merges leave several. Empty: every pipeline
    /// is selected.
    pub bases: Vec<CommitId>,
    /// Where `bases` came from, or why there is none; for people.
    pub base_source: String,
    /// The branch belongs to a fork, so the platform's remote does not have it.
    pub fork: bool,
    /// The tag that the event is about.
    pub tag: Option<String>,
    /// The number of the pull request or merge request.
    pub pull_request: Option<u64>,
    /// The event is about a change that is not merged.
    pub is_change: bool,
    /// The head is the commit that the host meant, not one that the job picked.
    pub is_hosts: bool,
    /// The host's number of this run.
    pub run_number: Option<String>,
    /// What the user should know, though it does not stop the run.
    pub warnings: Vec<String>,
    /// Why there is nothing to judge.
    pub nothing_to_do: Option<String>,
}

/// A commit, as the platform reads it from the remote.
pub type Target = Settled<CommitId>;

/// Files wherever they are: in a commit, or (none) in the index or the working tree. It needs no remote and no commit.
pub type Comparison = Settled<Option<CommitId>>;

impl<H> Settled<H> {
    pub(super) fn new(ci: &CiContext, head: H, branch: Option<String>, is_hosts: bool, base: Base) -> Self {
        Self {
            ci: ci.host,
            event: ci.event.clone(),
            branch,
            head,
            bases: base.commits,
            base_source: base.source,
            fork: ci.fork,
            tag: ci.tag.clone(),
            pull_request: ci.pull_request,
            is_change: ci.trigger == Trigger::Change,
            is_hosts,
            run_number: ci.run_number.clone(),
            warnings: base.warnings,
            nothing_to_do: None,
        }
    }

    /// A run without work, such as for a deleted branch.
    pub(super) fn idle(ci: &CiContext, head: H, why: &str) -> Self {
        let base = Base::everything(format!("nothing to do: {why}"));
        Self {
            nothing_to_do: Some(why.to_owned()),
            ..Self::new(ci, head, ci.branch.clone(), true, base)
        }
    }
}

impl From<Target> for Comparison {
    fn from(target: Target) -> Self {
        Self {
            ci: target.ci,
            event: target.event,
            branch: target.branch,
            head: Some(target.head),
            bases: target.bases,
            base_source: target.base_source,
            fork: target.fork,
            tag: target.tag,
            pull_request: target.pull_request,
            is_change: target.is_change,
            is_hosts: target.is_hosts,
            run_number: target.run_number,
            warnings: target.warnings,
            nothing_to_do: target.nothing_to_do,
        }
    }
}

impl Target {
    /// The branch, which a review by the platform cannot do without.
    pub fn require_branch(&self) -> Result<&str, ContextError> {
        self.branch.as_deref().ok_or_else(|| ContextError::NoBranch {
            head: self.head.clone(),
            host: self.ci,
        })
    }
}
