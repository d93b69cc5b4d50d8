//! Whether the remote has what is to be judged. The platform reads the commit from there, not from this clone.

use super::{ContextError, Target};
use crate::base::git::{RemoteBranch, Repository};
use crate::job::ci::Host;

impl Target {
    /// Checks, by the remote-tracking branches, that the remote has the branch with the commit. On a laptop it must be
    /// seen there. In CI the clone often cannot tell, as it has a single reference or an old one; then the answer is a
    /// warning.
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
        if self.ci != Host::None && self.cannot_tell(repo, &seen)? {
            return Ok(Some(format!(
                "this clone does not tell whether the remote's branch `{branch}` has the commit {}",
                self.head.short()
            )));
        }
        Err(ContextError::NotOnRemote {
            head: self.head.clone(),
            branch: Some(branch.to_owned()),
        })
    }

    /// The platform reads the project's own remote, which has no branch of a fork.
    pub fn refuse_fork(&self) -> Result<(), ContextError> {
        if self.fork {
            let branch = self.branch.as_deref().unwrap_or("unknown").to_owned();
            return Err(ContextError::Fork { branch });
        }
        Ok(())
    }

    /// The branch was not fetched, or an older state of it, or its history is cut off.
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
