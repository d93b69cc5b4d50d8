//! Resolves the subject of a run: a commit, or the checked-out files.

use super::base::Search;
use super::base_commits::Base;
use super::head::{self, JudgedHead};
use super::target_branches::TargetBranches;
use super::{Comparison, ContextError, RevisionWish, Target};
use crate::job::ci::CiContext;
use sluicegate_git::{GitError, Repository};

pub(super) struct Settling<'a> {
    pub repo: &'a Repository,
    pub ci: &'a CiContext,
    pub wish: &'a RevisionWish,
    /// Missing commits are an error even if there is a fallback, because they can be fetched.
    pub may_fetch: bool,
}

impl Settling<'_> {
    /// Resolves a commit to review.
    pub(super) fn commit(&self) -> Result<Target, ContextError> {
        if let Some(why) = self.idle() {
            return Ok(Target::idle(self.ci, self.repo.head()?.commit, why));
        }
        let settle = || {
            let head = head::choose(self.repo, self.ci, self.wish)?;
            let mut base = self.base(&head, false)?;
            base.warnings.splice(..0, head.warnings);
            let branch_origin = head.branch_origin;
            let target = Target::new(self.ci, head.commit, head.branch, head.is_hosts, base);
            Ok(Target {
                branch_origin,
                ..target
            })
        };
        settle().map_err(|error: ContextError| error.at(self.ci.host))
    }

    /// Resolves the comparison for the files of the working tree or the index.
    pub(super) fn checkout(&self) -> Result<Comparison, ContextError> {
        if let Some(why) = self.idle() {
            return Ok(Comparison::idle(self.ci, None, why));
        }
        let (branch, is_hosts, base) = match self.repo.head() {
            Ok(checked_out) => {
                let head = head::of_checkout(self.repo, self.ci, checked_out)
                    .map_err(|error| error.at(self.ci.host))?;
                let base = self.base(&head, self.ci.host.is_local());
                let base = base.map_err(|error| error.at(self.ci.host))?;
                (head.branch, head.is_hosts, base)
            }
            Err(GitError::NoCommit { .. }) if self.wish.base.is_none() => {
                let base = Base::everything(if self.repo.is_plain() {
                    "the directory is in no git repository, so there is no base"
                } else {
                    "there is no commit yet"
                });
                (self.ci.branch.clone(), true, base)
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Comparison::new(self.ci, None, branch, is_hosts, base))
    }

    fn idle(&self) -> Option<&str> {
        let why = self.ci.nothing_to_do.as_deref();
        why.filter(|_| !self.wish.names_a_commit())
    }

    fn base(&self, head: &JudgedHead, beyond_head: bool) -> Result<Base, ContextError> {
        let search = Search {
            repo: self.repo,
            ci: self.ci,
            head,
            branches: TargetBranches::new(self.repo, self.ci, head.is_hosts)?,
            beyond_head,
            may_fetch: self.may_fetch,
        };
        search.run(self.wish)
    }
}
