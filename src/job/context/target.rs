//! The resolved subject of a run.

use super::base::{Base, EarlierCommit};
use super::history_remedy::HistoryRemedy;
use super::{BranchOrigin, CommitSource, ContextError};
use crate::job::ci::{CiContext, HistoryFetch, Host, Trigger};
use sluicegate_git::CommitId;

/// The subject of this run. `H` is the commit to review, or an optional commit for files outside of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSubject<H> {
    pub host: Host,
    /// The host's name for the event.
    pub event: String,
    /// The branch name to send to the platform, or `None` if no known remote branch contains `head`. For files outside
    /// of a commit, the branch that the host sets, otherwise the checked-out one.
    pub branch: Option<String>,
    pub branch_origin: BranchOrigin,
    pub head: H,
    /// The commits to compare with. Criss-cross merges have several merge-bases. If empty, every pipeline is selected.
    pub bases: Vec<CommitId>,
    /// The commit whose findings are known although all pipelines are selected. A run with bases has none.
    pub earlier_commit: EarlierCommit,
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
    pub commit_source: CommitSource,
    /// The number of this run on the host.
    pub run_number: Option<String>,
    pub warnings: Vec<String>,
    /// The reasons in `base_source` that the warnings contain.
    pub explained_reasons: Vec<String>,
    /// Why the run has no pipelines to review.
    pub idle_reason: Option<String>,
    /// The job requests with `--deepen` that this run fetches missing commits.
    pub is_deepened: bool,
}

/// The subject of a run that reviews a commit, which the platform reads from the remote.
pub type Target = RunSubject<CommitId>;

/// The subject of a run that reviews files: those of a commit or, with the head `None`, those of the index or the
/// working tree. A comparison does not need a remote.
pub type Comparison = RunSubject<Option<CommitId>>;

impl<H> RunSubject<H> {
    /// Returns the commits that findings and interfaces are compared with, and a description of these commits: the
    /// earlier commit of the branch if the run has one, otherwise the bases. Fails if a shallow clone lacks the earlier
    /// commit.
    pub fn select_baseline_commits(&self) -> Result<(Vec<CommitId>, String), ContextError> {
        match &self.earlier_commit {
            EarlierCommit::Found { commits, source, .. } => Ok((commits.clone(), source.clone())),
            EarlierCommit::NotInClone { commit, source, .. } => Err(ContextError::BaseNotInClone {
                commit: commit.clone(),
                source_name: source,
                remedy: self.history_remedy(),
            }),
            EarlierCommit::None | EarlierCommit::Unknown => {
                Ok((self.bases.clone(), self.base_source.clone()))
            }
        }
    }

    /// Returns how to get the history that the clone lacks.
    const fn history_remedy(&self) -> HistoryRemedy {
        HistoryRemedy {
            host: self.host,
            is_deepened: self.is_deepened,
        }
    }

    /// Returns whether an earlier run may have reviewed the same commit: the run is scheduled or manual, or it is a run
    /// of the default branch on a host that does not report a push. A commit that the job selects itself is a change.
    pub fn may_repeat_run(&self, ci: &CiContext) -> bool {
        let has_earlier_commit = matches!(
            self.earlier_commit,
            EarlierCommit::Found { .. } | EarlierCommit::NotInClone { .. }
        );
        match ci.trigger {
            Trigger::Change => false,
            Trigger::Commit => has_earlier_commit && !ci.is_push() && !ci.host.is_local(),
            Trigger::Any => has_earlier_commit || self.commit_source.is_host(),
        }
    }

    /// Returns whether the break of an earlier run may be found again, so that the interface is not compared. If the
    /// host names the commit of the previous run, a run for a commit is compared with it like a push.
    pub fn may_repeat_break(&self, ci: &CiContext) -> bool {
        let has_previous_run = matches!(
            self.earlier_commit,
            EarlierCommit::Found {
                is_named_by_host: true,
                ..
            } | EarlierCommit::NotInClone {
                is_named_by_host: true,
                ..
            }
        );
        self.may_repeat_run(ci) && !(ci.trigger == Trigger::Commit && has_previous_run)
    }

    /// Creates the target of a run from the host's context and the resolved commits.
    pub(super) fn new(
        ci: &CiContext,
        head: H,
        branch: Option<String>,
        commit_source: CommitSource,
        base: Base,
    ) -> Self {
        Self {
            host: ci.host,
            event: ci.event.clone(),
            branch,
            branch_origin: BranchOrigin::Named,
            head,
            bases: base.commits,
            earlier_commit: base.earlier_commit,
            base_source: base.source,
            fork: ci.fork,
            tag: ci.tag.clone(),
            pull_request: ci.pull_request,
            is_change: ci.trigger == Trigger::Change,
            commit_source,
            run_number: ci.run_number.clone(),
            warnings: base.warnings,
            explained_reasons: base.explained_reasons,
            idle_reason: None,
            is_deepened: ci.history_fetch == HistoryFetch::Requested,
        }
    }

    /// Creates the target of a run without pipelines to review, for example after a branch was deleted. The head is the
    /// host's commit, because a run for which the job selects a commit has something to review.
    pub(super) fn for_idle_run(ci: &CiContext, head: H, reason: &str) -> Self {
        let base = Base::for_all_pipelines(format!("nothing to do: {reason}"));
        Self {
            idle_reason: Some(reason.to_owned()),
            ..Self::new(ci, head, ci.branch.clone(), CommitSource::Host, base)
        }
    }
}

impl From<Target> for Comparison {
    /// Converts the target of a run, whose head is always known, to a comparison, whose head is optional.
    fn from(target: Target) -> Self {
        Self {
            host: target.host,
            event: target.event,
            branch: target.branch,
            branch_origin: target.branch_origin,
            head: Some(target.head),
            bases: target.bases,
            earlier_commit: target.earlier_commit,
            base_source: target.base_source,
            fork: target.fork,
            tag: target.tag,
            pull_request: target.pull_request,
            is_change: target.is_change,
            commit_source: target.commit_source,
            run_number: target.run_number,
            warnings: target.warnings,
            explained_reasons: target.explained_reasons,
            idle_reason: target.idle_reason,
            is_deepened: target.is_deepened,
        }
    }
}

impl Target {
    /// Returns the branch if it is certain enough for the name of a version, which is permanent. An inferred branch is
    /// only one of the branches that contain the commit. It is returned only for a tag and in a local run, for which
    /// the host never names a branch.
    pub fn certain_branch(&self) -> Option<&str> {
        let is_inferred =
            self.branch_origin == BranchOrigin::Inferred && self.tag.is_none() && !self.host.is_local();
        self.branch.as_deref().filter(|_| !is_inferred)
    }

    /// Returns the branch, or an error if it is unknown, because the platform cannot review a commit without a branch.
    /// If any branch with the commit would have been accepted, the error is that no remote branch contains the commit.
    /// Otherwise the error is that neither the host nor the job names the branch.
    pub fn require_branch(&self) -> Result<&str, ContextError> {
        self.branch.as_deref().ok_or_else(|| {
            if self.is_branch_searched() {
                return ContextError::NoBranch {
                    head: self.head.clone(),
                    remedy: self.history_remedy(),
                };
            }
            ContextError::BranchNotNamed { host: self.host }
        })
    }

    /// Returns the reason why the branch is unknown.
    pub const fn explain_missing_branch(&self) -> &'static str {
        if self.is_branch_searched() {
            "no branch contains the head commit"
        } else {
            "the CI host does not name the branch"
        }
    }

    /// Returns whether any branch that contains the commit is used, as in `may_infer_branch`, except for an unknown
    /// host, where only the default branch is searched.
    const fn is_branch_searched(&self) -> bool {
        self.host.is_local()
            || self.tag.is_some()
            || (!self.commit_source.is_host() && !matches!(self.host, Host::Unknown))
    }
}
