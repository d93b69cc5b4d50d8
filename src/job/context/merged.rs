//! Checks that a commit is merged: in the remote's default branch, or in another branch that may be published.
//!
//! Anyone who may push a tag can put it on an unreviewed commit, and a job that a comment starts can check out any
//! commit. Branches are looked up by the full names of their references, so that no tag is mistaken for a branch.

use super::ContextError;
use crate::base::git::{CommitId, GitError, RemoteBranch, Repository};
use crate::job::ci::CiContext;

/// Fails unless the commit is in the default branch, or in a branch for which `is_published` returns true.
pub fn require_merged(
    repo: &Repository,
    ci: &CiContext,
    head: &CommitId,
    is_published: &dyn Fn(&str) -> bool,
) -> Result<(), ContextError> {
    let default = default_branch(repo, ci)?;
    let is_default = |branch: &RemoteBranch| default.as_deref() == Some(branch.branch.as_str());
    let remote = main_remote(repo, default.as_deref())?;
    let mut searched = Vec::new();
    for branch in repo.remote_branches()? {
        let is_meant = is_default(&branch) || is_published(&branch.branch);
        // Another remote, such as a fork, may have branches with the same names.
        if !is_meant || remote.as_ref().is_some_and(|remote| *remote != branch.remote) {
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

/// Returns the remote of the default branch: `origin`, if it has that branch.
fn main_remote(repo: &Repository, default: Option<&str>) -> Result<Option<String>, GitError> {
    let tip = default
        .map(|name| repo.remote_branch(name))
        .transpose()?
        .flatten();
    Ok(tip.map(|tip| tip.remote))
}

/// Returns whether the commit may be on this branch of the remote: the clone's version of the branch contains it, or
/// the clone lacks the branch or its history. A commit that was `pushed` may be ahead of an outdated version of the
/// branch; a commit that a user selected may not.
pub fn may_be_of_branch(
    repo: &Repository,
    branch: &str,
    head: &CommitId,
    pushed: bool,
) -> Result<bool, ContextError> {
    let Some(tip) = repo.remote_branch(branch)?.filter(|_| !repo.is_shallow()) else {
        return Ok(true);
    };
    Ok(repo.contains(&tip.tip, head)? || (pushed && repo.contains(head, &tip.tip)?))
}

/// Returns the name of the default branch from the host or the clone. It is never guessed.
fn default_branch(repo: &Repository, ci: &CiContext) -> Result<Option<String>, GitError> {
    match &ci.default_branch {
        Some(name) => Ok(Some(name.clone())),
        None => Ok(repo.told_default_branch()?.map(|tip| tip.branch)),
    }
}
