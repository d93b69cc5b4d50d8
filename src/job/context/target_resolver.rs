//! Resolves the subject of a run: a commit, or the checked-out files.

use super::base::Base;
use super::base_search::BaseSearch;
use super::head::{self, ReviewedHead};
use super::target_branches::TargetBranches;
use super::{CommitSource, Comparison, ContextError, RequestedRevisions, Target};
use crate::job::ci::CiContext;
use sluicegate_git::{GitError, Repository};

pub(super) struct TargetResolver<'a> {
    pub repo: &'a Repository,
    pub ci: &'a CiContext,
    pub revisions: &'a RequestedRevisions,
    /// Missing commits are an error even if there is a fallback, because they can be fetched.
    pub may_fetch: bool,
}

impl TargetResolver<'_> {
    /// Resolves the commit to review, its branch and its base. The target of a run with nothing to review, for example
    /// after a branch was deleted, is the checked-out commit.
    pub(super) fn resolve_commit(&self) -> Result<Target, ContextError> {
        if let Some(reason) = self.idle_reason() {
            return Ok(Target::for_idle_run(self.ci, self.repo.head()?.commit, reason));
        }
        self.resolve_head_and_base()
            .map_err(|error| error.with_remedy_for(self.ci))
    }

    /// Resolves head and its base. The warnings about head come before the warnings about the base.
    fn resolve_head_and_base(&self) -> Result<Target, ContextError> {
        let head = head::find_head(self.repo, self.ci, self.revisions)?;
        let includes_uncommitted = false;
        let mut base = self.find_base(&head, includes_uncommitted)?;
        base.warnings.splice(..0, head.warnings);
        Ok(Target {
            branch_origin: head.branch_origin,
            ..Target::new(self.ci, head.commit, head.branch, head.commit_source, base)
        })
    }

    /// Resolves the base for a review of the files in the working tree or the index. Without a commit, as in a
    /// directory without git, there is no base, so all pipelines are reviewed; a base that `--base` requests is then an
    /// error.
    pub(super) fn resolve_checkout(&self) -> Result<Comparison, ContextError> {
        // The comparison names no commit, because the reviewed files may differ from every commit.
        let head_commit = None;
        if let Some(reason) = self.idle_reason() {
            return Ok(Comparison::for_idle_run(self.ci, head_commit, reason));
        }
        let checked_out = match self.repo.head() {
            Ok(checked_out) => checked_out,
            Err(GitError::NoCommit { .. }) if self.revisions.base.is_none() => {
                return Ok(self.build_comparison_without_commit());
            }
            Err(error) => return Err(error.into()),
        };
        let head = head::find_checkout_head(self.repo, self.ci, checked_out)
            .map_err(|error| error.with_remedy_for(self.ci))?;
        // Only a local run reviews uncommitted files: in CI, the files of the checked-out commit are read.
        let includes_uncommitted = self.ci.host.is_local();
        let base = self
            .find_base(&head, includes_uncommitted)
            .map_err(|error| error.with_remedy_for(self.ci))?;
        Ok(Comparison::new(
            self.ci,
            head_commit,
            head.branch,
            head.commit_source,
            base,
        ))
    }

    /// Builds the comparison for a directory without git, or without a commit: it has no base, so all pipelines are
    /// reviewed.
    fn build_comparison_without_commit(&self) -> Comparison {
        let base = Base::for_all_pipelines(if self.repo.is_plain_directory() {
            "the directory is not in a git repository, so there is no base"
        } else {
            "there is no commit yet"
        });
        let head_commit = None;
        // Without commits, there is no commit that the job could select instead of the host's.
        Comparison::new(
            self.ci,
            head_commit,
            self.ci.branch.clone(),
            CommitSource::Host,
            base,
        )
    }

    /// Returns why the run has nothing to review, unless the user selected the commits to review.
    fn idle_reason(&self) -> Option<&str> {
        let reason = self.ci.idle_reason.as_deref();
        reason.filter(|_| !self.revisions.has_requested_commits())
    }

    /// Finds the commits to compare `head` with. `includes_uncommitted` states that uncommitted files are reviewed,
    /// too, so that a change without commits is not an error.
    fn find_base(&self, head: &ReviewedHead, includes_uncommitted: bool) -> Result<Base, ContextError> {
        let search = BaseSearch {
            repo: self.repo,
            ci: self.ci,
            head,
            branches: TargetBranches::for_event(self.repo, self.ci, head.commit_source)?,
            includes_uncommitted,
            may_fetch: self.may_fetch,
        };
        search.find_base(self.revisions)
    }
}
