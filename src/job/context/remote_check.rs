//! Checks that the remote has the commit to review. The platform reads it from the remote, not from this clone.

use super::{ContextError, Target};
use sluicegate_git::{RemoteBranch, Repository};

impl Target {
    /// Checks the remote-tracking branches for the branch with the commit. A local run fails if the commit is missing.
    /// In CI, the clone often has a single or an outdated reference, so a missing commit is only a warning, which is
    /// returned.
    pub fn check_on_remote(&self, repo: &Repository) -> Result<Option<String>, ContextError> {
        if self.idle_reason.is_some() {
            return Ok(None);
        }
        self.reject_fork()?;
        let branch = self.require_branch()?;
        let branches = repo.remote_branches_with_name(branch)?;
        for tracked_branch in &branches {
            if repo.contains_commit(&tracked_branch.tip, &self.head)? {
                return Ok(None);
            }
        }
        if !self.host.is_local() && self.is_clone_incomplete(repo, &branches)? {
            return Ok(Some(format!(
                "could not determine whether the remote's branch `{branch}` has the commit {}",
                self.head.short()
            )));
        }
        Err(ContextError::NotOnRemote {
            head: self.head.clone(),
            branch: Some(branch.to_owned()),
        })
    }

    /// Fails for a fork: the platform reads the project's own remote, which does not have the branch.
    pub fn reject_fork(&self) -> Result<(), ContextError> {
        if self.fork {
            let branch = self.branch.as_deref().unwrap_or("unknown").to_owned();
            return Err(ContextError::Fork { branch });
        }
        Ok(())
    }

    /// Returns whether the clone is incomplete: the branch is missing or outdated, or the clone is shallow.
    fn is_clone_incomplete(
        &self,
        repo: &Repository,
        branches: &[RemoteBranch],
    ) -> Result<bool, ContextError> {
        if branches.is_empty() || repo.is_shallow() {
            return Ok(true);
        }
        for branch in branches {
            if repo.contains_commit(&self.head, &branch.tip)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
