//! What was settled.

use super::{ContextError, base::Base, head::Head};
use crate::ci::{CiContext, Host};
use crate::git::CommitId;

/// What the user asked for, instead of what is detected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wish {
    /// The revision to compare with; its merge-base with head is the base.
    pub base: Option<String>,
    /// The revision to judge.
    pub head: Option<String>,
    /// The branch to name to the platform.
    pub branch: Option<String>,
    /// Every pipeline of head, whatever changed.
    pub all: bool,
}

impl Wish {
    pub(super) const fn names_a_commit(&self) -> bool {
        self.base.is_some() || self.head.is_some() || self.all
    }
}

/// What this run is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The host.
    pub ci: Host,
    /// The event, in the host's word.
    pub event: String,
    /// The branch to name to the platform; none if no remote branch is known to hold `head`.
    pub branch: Option<String>,
    /// The commit to judge.
    pub head: CommitId,
    /// The commit to compare with; none: every pipeline is taken.
    pub base: Option<CommitId>,
    /// Where `base` came from, or why there is none; for people.
    pub base_source: String,
    /// The branch belongs to a fork, so the platform's remote does not have it.
    pub fork: bool,
    /// The tag that the event is about.
    pub tag: Option<String>,
    /// The number of the pull request or merge request.
    pub pull_request: Option<u64>,
    /// The host's number of this run.
    pub run_number: Option<String>,
    /// What the user should know, though it does not stop the run.
    pub warnings: Vec<String>,
    /// Why there is nothing to judge.
    pub nothing_to_do: Option<String>,
}

impl Target {
    pub(super) fn new(ci: &CiContext, head: Head, base: Base) -> Self {
        Self {
            ci: ci.host,
            event: ci.event.clone(),
            branch: head.branch,
            head: head.commit,
            base: base.commit,
            base_source: base.source,
            fork: ci.fork,
            tag: ci.tag.clone(),
            pull_request: ci.pull_request,
            run_number: ci.run_number.clone(),
            warnings: [head.warnings, base.warnings].concat(),
            nothing_to_do: None,
        }
    }

    /// A run without work, such as for a deleted branch.
    pub(super) fn idle(ci: &CiContext, commit: CommitId, why: &str) -> Self {
        let head = Head {
            commit,
            branch: ci.branch.clone(),
            is_hosts: true,
            warnings: Vec::new(),
        };
        let base = Base::everything(format!("nothing to do: {why}"));
        Self {
            nothing_to_do: Some(why.to_owned()),
            ..Self::new(ci, head, base)
        }
    }

    /// The branch, which a review by the platform cannot do without.
    pub fn require_branch(&self) -> Result<&str, ContextError> {
        self.branch.as_deref().ok_or_else(|| ContextError::NoBranch {
            head: self.head.clone(),
            host: self.ci,
        })
    }
}
