//! Finds the base of a run whose host names neither a target nor an earlier commit: the default branch.

use super::ContextError;
use super::base::{Base, EarlierCommit};
use super::base_search::BaseSearch;
use super::branch_role::BranchRole;
use super::history_remedy::HistoryRemedy;
use super::merge_check::may_be_on_branch;
use crate::job::ci::Host;
use sluicegate_git::GitError;

const DEFAULT_BRANCH_UNKNOWN: &str = "this clone does not know the remote's default branch";

const NO_REMOTE: &str = "this clone has no remote";

/// The warning for a shallow clone, which by default has only one branch.
const SHALLOW_CLONE_WARNING: &str = "there is no base to compare with: this clone does not know the remote's default \
     branch, because it is shallow (run `git fetch --unshallow origin '+refs/heads/*:refs/remotes/origin/*'`, then \
     `git remote set-head origin --auto`)";

impl BaseSearch<'_> {
    /// Returns the merge-base with the default branch. A CI run on that branch reviews all pipelines and compares
    /// findings with an earlier commit. If the default branch is not known, all pipelines are reviewed, too. That is an
    /// error instead if the branch can still be fetched, if no remote is the target's repository, or on an unknown
    /// host. Errors call the branch `HEAD`, because its name is not known.
    pub(super) fn find_default_branch_base(&self) -> Result<Base, ContextError> {
        let Some(name) = self.find_default_branch_name()? else {
            return match self.ci.host {
                _ if self.branches.is_unproven() => Err(self.branches.unproven_target_error("HEAD")),
                _ if self.may_fetch => Err(self.missing_branch_error("HEAD", BranchRole::Default)),
                Host::Unknown => Err(ContextError::UnknownHost {
                    missing: "the base",
                    reason: DEFAULT_BRANCH_UNKNOWN.to_owned(),
                }),
                _ => self.build_base_without_default_branch(),
            };
        };
        if self.is_ci_run_on_default_branch(&name)? {
            let base = Base::for_all_pipelines(describe_default_branch_run(&name));
            return self.set_earlier_commit(base, &name);
        }
        let Some(tip) = self.branches.find_tip(&name)? else {
            return Err(self.missing_branch_error(&name, BranchRole::Default));
        };
        let base = self.add_missing_merge_bases(self.find_branch_base(&tip, BranchRole::Default)?, &tip)?;
        // An unknown host does not report whether the run is on the default branch: the run is on it if the branch
        // contains head. Otherwise head has no common history with the branch, and no earlier commit.
        if base.commits.is_empty() && self.ci.host == Host::Unknown {
            if self.repo.contains_commit(&tip.commit, &self.head.commit)? {
                return self.set_earlier_commit(base, &name);
            }
            return Ok(base.with_earlier_commit(EarlierCommit::Unknown));
        }
        Ok(base)
    }

    /// Returns whether this is a CI run on the default branch, whose remote-tracking branch already contains the push.
    /// It is false for a local run, where the commits that are not pushed yet are the change, and for an unknown host,
    /// whose checked-out branch may belong to a fork. If the host does not name this branch for its commit, the clone
    /// must show that the branch contains head.
    pub(super) fn is_ci_run_on_default_branch(&self, default: &str) -> Result<bool, ContextError> {
        let (ci, head) = (self.ci, self.head);
        if matches!(ci.host, Host::None | Host::Unknown) {
            return Ok(false);
        }
        match head.branch.as_deref() {
            Some(branch) if branch != default => Ok(false),
            Some(_) if !head.commit_source.is_host() || ci.branch.as_deref() == Some(default) => Ok(true),
            _ => may_be_on_branch(self.repo, ci, default, &head.commit, head.commit_source),
        }
    }

    /// Returns the name of the default branch from the host, otherwise from the clone. In CI, a branch is not chosen
    /// for its usual name, because anyone could choose the base by pushing a branch `main` in addition to the real
    /// default branch.
    pub(super) fn find_default_branch_name(&self) -> Result<Option<String>, GitError> {
        if self.ci.host == Host::None && self.ci.default_branch.is_none() {
            let branch = self.repo.find_likely_default_branch()?;
            return Ok(branch.map(|branch| branch.branch));
        }
        self.branches.find_default_branch_name()
    }

    /// Returns a base for all pipelines, because the default branch is not known. The warning explains how to make it
    /// known; a local run has no warning in a complete clone.
    fn build_base_without_default_branch(&self) -> Result<Base, ContextError> {
        if self.ci.host.is_local() {
            let has_remote = !self.repo.list_remote_repositories()?.is_empty();
            let reason = if has_remote {
                DEFAULT_BRANCH_UNKNOWN
            } else {
                NO_REMOTE
            };
            let base = Base::for_unknown_base(reason);
            return Ok(if has_remote && self.repo.is_shallow() {
                base.with_explanation(reason, SHALLOW_CLONE_WARNING.to_owned())
            } else {
                base
            });
        }
        let base = Base::for_unknown_base(DEFAULT_BRANCH_UNKNOWN);
        let warning = format!(
            "all pipelines are selected: this clone does not know the remote's default branch; run `git remote set-head \
             origin BRANCH` first{}",
            HistoryRemedy::for_run(self.ci).choose_advice(", or pass --deepen")
        );
        Ok(base.with_explanation(DEFAULT_BRANCH_UNKNOWN, warning))
    }
}

fn describe_default_branch_run(name: &str) -> String {
    format!("the run is on the default branch `{name}`")
}
