//! Recognizes a change without commits of its own: compared with itself, it would have no changes and would pass.

use super::ContextError;
use super::base::Base;
use super::base_search::BaseSearch;
use super::target_branches::TargetTip;
use crate::job::ci::BaseHint;
use sluicegate_git::CommitId;
use std::iter;

impl BaseSearch<'_> {
    /// Returns the base, or an error if the change has no commit of its own, because the target already contains head.
    /// Uncommitted files that are reviewed are a change, too, so there is no error then.
    pub(super) fn require_own_commits(&self, base: Base, target: &TargetTip) -> Result<Base, ContextError> {
        if self.includes_uncommitted {
            return Ok(base);
        }
        for commit in iter::once(&self.head.commit).chain(&self.head.change_commit) {
            if self.repo.contains_commit(&target.commit, commit)? {
                return Err(self.empty_change_error(&target.describe()));
            }
        }
        Ok(base)
    }

    /// Returns whether a change without commits of its own is an error. That is the case only for an unmerged change,
    /// whose event names a target or a base commit. If that commit is head itself, the event already shows that the
    /// change is empty, and there is no error.
    pub(super) fn needs_own_commits(&self) -> bool {
        match &self.ci.base {
            BaseHint::MergeBaseWith { seen_commit, .. } => {
                !seen_commit.as_deref().is_some_and(|id| self.is_head(id))
            }
            BaseHint::Commit { id, .. } => !self.is_head(id),
            _ => false,
        }
    }

    /// Returns the error for a change that the base already contains, so that there is nothing to review.
    pub(super) fn empty_change_error(&self, base: &str) -> ContextError {
        ContextError::EmptyChange {
            base: base.to_owned(),
            head: self
                .head
                .change_commit
                .as_ref()
                .unwrap_or(&self.head.commit)
                .clone(),
        }
    }

    /// Returns whether head is one of these merge-bases, so that the commit that head is compared with already contains
    /// the change. If head is a merge of the change with its target, the change itself may be one of them instead.
    pub(super) fn is_head_among(&self, bases: &[CommitId]) -> bool {
        bases.iter().any(|base| self.is_head(base.as_str()))
    }

    /// Returns whether this is the id of head or of the change that head contains.
    pub(super) fn is_head(&self, id: &str) -> bool {
        let mut commits = iter::once(&self.head.commit).chain(&self.head.change_commit);
        commits.any(|commit| commit.as_str() == id)
    }
}
