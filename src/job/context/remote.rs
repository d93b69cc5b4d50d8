//! Checks that the remote has the commit to review. The platform reads it from the remote, not from this clone.

use super::{ContextError, Target};
use sluicegate_git::{RemoteBranch, Repository};

impl Target {
    /// Checks the remote-tracking branches for the branch with the commit. A local run fails if the commit is missing.
    /// In CI, the clone often has a single or an outdated reference, so a missing commit is only a warning, which is
    /// returned.
    pub fn check_on_remote(&self, repo: &Repository) -> Result<Option<String>, ContextError> {
        if self.nothing_to_do.is_some() {
            return Ok(None);
        }
        self.refuse_fork()?;
        let branch = self.require_branch()?;
        let seen = repo.remote_branches_named(branch)?;
        for seen in &seen {
            if repo.contains(&seen.tip, &self.head)? {
                return Ok(None);
            }
        }
        if !self.ci.is_local() && self.cannot_tell(repo, &seen)? {
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
    pub fn refuse_fork(&self) -> Result<(), ContextError> {
        if self.fork {
            let branch = self.branch.as_deref().unwrap_or("unknown").to_owned();
            return Err(ContextError::Fork { branch });
        }
        Ok(())
    }

    /// Returns whether the clone is incomplete: the branch is missing or outdated, or the clone is shallow.
    fn cannot_tell(&self, repo: &Repository, seen: &[RemoteBranch]) -> Result<bool, ContextError> {
        if seen.is_empty() || repo.is_shallow() {
            return Ok(true);
        }
        for branch in seen {
            if repo.contains(&self.head, &branch.tip)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
