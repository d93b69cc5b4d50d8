//! The resolved subject of a run.

use super::base_commits::{Base, EarlierCommit};
use super::{BranchOrigin, ContextError};
use crate::job::ci::{CiContext, Host, Trigger};
use sluicegate_git::CommitId;

/// The subject of this run. `H` is the commit to review, or an optional commit for files outside of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled<H> {
    pub ci: Host,
    /// The host's name for the event.
    pub event: String,
    /// The branch name to send to the platform, or `None` if no known remote branch contains `head`. For files outside
    /// of a commit, the branch that the host sets, otherwise the checked-out one.
    pub branch: Option<String>,
    pub branch_origin: BranchOrigin,
    pub head: H,
    /// The commits to compare with. Criss-cross merges have several merge-bases. If empty, every pipeline is selected.
    pub bases: Vec<CommitId>,
    /// The commit whose findings are known although `bases` is empty.
    pub earlier: EarlierCommit,
    /// The source of `bases`, or why there is no base, as human-readable text.
    pub base_source: String,
    /// The branch belongs to a fork, so it is not on the platform's remote.
    pub fork: bool,
    /// The tag of the event.
    pub tag: Option<String>,
    /// The number of the pull request or merge request.
    pub pull_request: Option<u64>,
    /// The event is about an unmerged change.
    pub is_change: bool,
    /// The head is the commit of the host's event, not another one that the job selected.
    pub is_hosts: bool,
    /// The number of this run on the host.
    pub run_number: Option<String>,
    pub warnings: Vec<String>,
    /// Why the run has no pipelines to review.
    pub nothing_to_do: Option<String>,
}

/// A commit, which the platform reads from the remote.
pub type Target = Settled<CommitId>;

/// Files in a commit, or with `None` in the index or the working tree. A comparison needs no remote.
pub type Comparison = Settled<Option<CommitId>>;

impl<H> Settled<H> {
    /// Returns the commits that findings and interfaces are compared with, and their source: the bases, or in a run that
    /// selects all pipelines, the earlier commit. Fails if only the shallow clone hides that commit.
    pub fn known_at(&self) -> Result<(Vec<CommitId>, String), ContextError> {
        match &self.earlier {
            EarlierCommit::Found { commits, source } if self.bases.is_empty() => {
                Ok((commits.clone(), source.clone()))
            }
            EarlierCommit::NotInClone { commit, source } if self.bases.is_empty() => {
                Err(ContextError::BaseNotInClone {
                    commit: commit.clone(),
                    source_name: source,
                    host: self.ci,
                })
            }
            _ => Ok((self.bases.clone(), self.base_source.clone())),
        }
    }

    pub(super) fn new(ci: &CiContext, head: H, branch: Option<String>, is_hosts: bool, base: Base) -> Self {
        Self {
            ci: ci.host,
            event: ci.event.clone(),
            branch,
            branch_origin: BranchOrigin::Named,
            head,
            bases: base.commits,
            earlier: base.earlier,
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

    /// Creates a run without pipelines to review, for example for a deleted branch.
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
            branch_origin: target.branch_origin,
            head: Some(target.head),
            bases: target.bases,
            earlier: target.earlier,
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
    /// Returns the branch for the name of a version, which is permanent: in a CI job, not one that was only found among
    /// those that contain the commit, unless the event is about a tag.
    pub fn named_branch(&self) -> Option<&str> {
        let is_guess =
            self.branch_origin == BranchOrigin::Inferred && self.tag.is_none() && !self.ci.is_local();
        self.branch.as_deref().filter(|_| !is_guess)
    }

    /// Returns the branch, or an error if it is unknown, because a review by the platform needs it.
    pub fn require_branch(&self) -> Result<&str, ContextError> {
        self.branch.as_deref().ok_or_else(|| {
            if self.ci.is_local() || self.tag.is_some() || (!self.is_hosts && self.ci != Host::Unknown) {
                return ContextError::NoBranch {
                    head: self.head.clone(),
                    host: self.ci,
                };
            }
            ContextError::BranchNotNamed { host: self.ci }
        })
    }
}
