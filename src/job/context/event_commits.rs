//! The commits that the event names for a branch of the target's repository.

use super::event_commit::{EventCommit, EventRole};
use super::target_branches::TargetBranches;
use crate::job::ci::{BaseHint, Host, Trigger};
use sluicegate_git::{CommitId, GitError};

impl TargetBranches<'_> {
    /// Returns the newest commit that the event names for the branch. If two commits are not related, the more trusted
    /// one is returned. `is_tracked` states that the branch has a remote-tracking branch.
    pub(super) fn find_newest_event_commit(
        &self,
        branch: &str,
        is_tracked: bool,
    ) -> Result<Option<EventCommit>, GitError> {
        let mut newest: Option<EventCommit> = None;
        for event_commit in self.find_event_commits(branch, is_tracked)? {
            let is_newer = match &newest {
                // A commit contains itself, but the first name of the same commit is the more trusted one.
                Some(newest_commit) => {
                    event_commit.commit != newest_commit.commit
                        && self
                            .repo
                            .contains_commit(&event_commit.commit, &newest_commit.commit)?
                }
                None => true,
            };
            if is_newer {
                newest = Some(event_commit);
            }
        }
        Ok(newest)
    }

    /// Returns the commits that the event names for the branch, as far as the clone has them, the most trusted one
    /// first. If the branch has a remote-tracking branch (`is_tracked`), the commit of a run that may be on another
    /// branch is skipped.
    pub(super) fn find_event_commits(
        &self,
        branch: &str,
        is_tracked: bool,
    ) -> Result<Vec<EventCommit>, GitError> {
        let mut commits = Vec::new();
        if self.ci.target_branch() == Some(branch) {
            commits.extend(self.find_target_commits()?);
        }
        // On GitHub and Gitea, a user who starts a build can select a branch. On other hosts, the user can select any
        // commit, so it may not be on the branch.
        let is_on_branch = matches!(self.ci.host, Host::GitHub | Host::Gitea);
        if is_on_branch || !is_tracked {
            commits.extend(self.find_run_commit(branch)?);
        }
        Ok(commits)
    }

    /// Returns the commits of the target branch that the event of a change names: the tip, from two sources, and the
    /// commit at which the change started. The most reliable one comes first. For a queued change, the host's merge and
    /// the base prove nothing about the target: they may contain another queued change, which is not merged yet, and on
    /// GitLab, the base may be an old commit, which the author chose.
    fn find_target_commits(&self) -> Result<Vec<EventCommit>, GitError> {
        let mut commits = Vec::new();
        // The host may have created its trial merge after it wrote the event, so the merge may have a newer tip.
        if !self.ci.is_queued
            && let Some(parent) = self.find_merged_target()?
        {
            let field = "the first parent of the host's merge";
            commits.extend(self.find_event_commit(parent.as_str(), field, EventRole::Tip)?);
        }
        if let Some((id, field)) = &self.ci.target_tip {
            commits.extend(self.find_event_commit(id, field, EventRole::Tip)?);
        }
        if !self.ci.is_queued
            && let BaseHint::Commit { id, source, .. } = &self.ci.base
        {
            commits.extend(self.find_event_commit(id, source, EventRole::Base)?);
        }
        Ok(commits)
    }

    /// Returns the host's commit of a run on this branch. The commit of an unmerged change is not on the target's
    /// branch, even if both branches have the same name. A commit that a user may have combined with the branch proves
    /// nothing.
    fn find_run_commit(&self, branch: &str) -> Result<Option<EventCommit>, GitError> {
        let is_run_branch = self.ci.trigger != Trigger::Change
            && self.ci.has_commit_of_branch()
            && self.ci.branch.as_deref() == Some(branch);
        match &self.ci.commit {
            Some(id) if is_run_branch => self.find_event_commit(id, "the host's own commit", EventRole::Run),
            _ => Ok(None),
        }
    }

    /// Returns the commit with this id if the clone has it. `field` is the source of the id, for messages.
    fn find_event_commit(
        &self,
        id: &str,
        field: &'static str,
        role: EventRole,
    ) -> Result<Option<EventCommit>, GitError> {
        let commit = self.repo.find_commit_with_id(id)?;
        Ok(commit.map(|commit| EventCommit { commit, field, role }))
    }

    /// Returns the target's commit in the host's trial merge: the first parent of the merge, if another parent is the
    /// host's commit.
    fn find_merged_target(&self) -> Result<Option<CommitId>, GitError> {
        let (Some(merge), Some(host_commit)) = (&self.ci.checkout, &self.ci.commit) else {
            return Ok(None);
        };
        let Some(merge) = self.repo.find_commit_with_id(merge)? else {
            return Ok(None);
        };
        let parents = self.repo.recorded_parents(&merge)?;
        Ok(match parents.as_slice() {
            [first, other_parents @ ..]
                if other_parents.iter().any(|parent| parent.as_str() == host_commit) =>
            {
                Some(first.clone())
            }
            _ => None,
        })
    }
}
