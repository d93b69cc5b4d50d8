//! Checks that the remote has the commit to review. The platform reads it from the remote, not from this clone.

use super::command_hint::push_hint;
use super::{ContextError, Target};
use sluicegate_base::text;
use sluicegate_git::{RemoteBranch, Repository};

impl Target {
    /// Checks in the clone's remote-tracking branches whether the branch on the remote contains head. A run without
    /// pipelines to review is not checked. The branch of a fork is an error, because the platform cannot read it. In
    /// CI, the clone often lacks the branch or has an outdated one: a missing commit is then only a warning, which is
    /// returned.
    pub fn check_head_on_remote(&self, repo: &Repository) -> Result<Option<String>, ContextError> {
        if self.idle_reason.is_some() {
            return Ok(None);
        }
        self.reject_fork()?;
        let branch = self.require_branch()?;
        let branches = repo.find_remote_branches_with_name(branch)?;
        for tracked_branch in &branches {
            if repo.contains_commit(&tracked_branch.tip, &self.head)? {
                return Ok(None);
            }
        }
        if !self.host.is_local() && self.is_clone_incomplete(repo, &branches)? {
            return Ok(Some(format!(
                "could not determine whether the remote's branch `{branch}` contains commit {}",
                self.head.short()
            )));
        }
        if branches.is_empty() {
            return Err(match repo.list_remote_repositories()?.into_iter().next() {
                Some((remote, _)) => ContextError::NoBranchOnRemote {
                    hint: find_branch_hint(repo, &remote, branch)?,
                    branch: branch.to_owned(),
                },
                None => ContextError::NoRemote,
            });
        }
        Err(ContextError::NotOnRemote {
            head: self.head.clone(),
            branch: branch.to_owned(),
        })
    }

    /// Fails if the change is from a fork, because the platform reads the project's own remote, which lacks the branch.
    pub fn reject_fork(&self) -> Result<(), ContextError> {
        if self.fork {
            let branch = self.branch.as_deref().unwrap_or("unknown").to_owned();
            return Err(ContextError::Fork { branch });
        }
        Ok(())
    }

    /// Returns whether the clone is too incomplete to show that head is not on the branch: it is shallow, it lacks the
    /// branch, or its version of the branch is an ancestor of head and may be outdated.
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

/// Returns how to push a branch of the clone or, if the clone does not have the branch either, how to correct its name.
fn find_branch_hint(repo: &Repository, remote: &str, branch: &str) -> Result<String, ContextError> {
    if repo.find_local_branch_tip(branch)?.is_some() {
        return Ok(push_hint(remote, branch));
    }
    let branches = repo.list_remote_branches()?;
    let names = branches.iter().map(|branch| branch.branch.as_str());
    Ok(match text::find_most_similar(branch, names) {
        Some(name) => text::did_you_mean(name),
        None => "correct the branch (--branch, SLUICEGATE_BRANCH), or run `git fetch` if the remote has it"
            .to_owned(),
    })
}
