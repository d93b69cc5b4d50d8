//! Checks that a commit is merged: in the remote's default branch, or in another branch that may be published.
//!
//! Anyone who may push a tag can put it on an unreviewed commit, and a job that a comment starts can check out any
//! commit. Branches are looked up by the full names of their references, so that no tag is mistaken for a branch.

use super::ContextError;
use super::target_branches::TargetBranches;
use crate::base::git::{CommitId, Repository};
use crate::job::ci::CiContext;

/// Fails unless the commit is in the default branch, or in a branch for which `is_published` returns true. `is_hosts`
/// states that the commit is the host's own.
pub fn require_merged(
    repo: &Repository,
    ci: &CiContext,
    head: &CommitId,
    is_hosts: bool,
    is_published: &dyn Fn(&str) -> bool,
) -> Result<(), ContextError> {
    let branches = TargetBranches::new(repo, ci, is_hosts)?;
    let default = match &ci.default_branch {
        Some(name) => Some(name.clone()),
        None => branches.recorded_default()?.map(|tip| tip.branch),
    };
    if branches.is_unproven() {
        return Err(branches.not_proven(default.as_deref().unwrap_or("HEAD")));
    }
    let main = default
        .as_deref()
        .map(|name| branches.tracked(name))
        .transpose()?
        .flatten();
    let mut searched = Vec::new();
    for branch in repo.remote_branches()? {
        let is_meant = default.as_ref() == Some(&branch.branch) || is_published(&branch.branch);
        // Another remote, such as a fork, may have branches with the same names.
        let is_elsewhere = main.as_ref().is_some_and(|main| main.remote != branch.remote);
        if !is_meant || is_elsewhere || !branches.has_remote(&branch) {
            continue;
        }
        if repo.contains(&branch.tip, head)? {
            return Ok(());
        }
        searched.push(branch.branch);
    }
    let why = match &default {
        _ if repo.is_shallow() => "the clone is shallow".to_owned(),
        None => "this clone does not know the remote's default branch (`git remote set-head origin BRANCH` sets it)".to_owned(),
        Some(name) if !searched.contains(name) => {
            format!("the default branch `{name}` is not among the remote branches of this clone")
        }
        Some(_) => {
            return Err(ContextError::NotMerged {
                head: head.clone(),
                branches: searched,
                host: ci.host,
            });
        }
    };
    Err(ContextError::MergeUnknown {
        head: head.clone(),
        why,
        host: ci.host,
    })
}

/// Returns whether the commit may be on this branch of the remote: the clone's version of the branch contains it, or
/// the clone lacks the branch or its history. A commit that was `pushed` may be ahead of an outdated version of the
/// branch; a commit that a user selected may not. If the host names no commit, the checked-out one may be a commit that
/// the job itself created, so only the clone's version of the branch proves it.
pub fn may_be_of_branch(
    repo: &Repository,
    ci: &CiContext,
    branch: &str,
    head: &CommitId,
    pushed: bool,
) -> Result<bool, ContextError> {
    let tracked = TargetBranches::new(repo, ci, true)?.tracked(branch)?;
    if ci.commit.is_none() {
        return match tracked {
            Some(tip) => Ok(repo.contains(&tip.tip, head)?),
            None => Ok(false),
        };
    }
    let Some(tip) = tracked.filter(|_| !repo.is_shallow()) else {
        return Ok(true);
    };
    Ok(repo.contains(&tip.tip, head)? || (pushed && repo.contains(head, &tip.tip)?))
}
