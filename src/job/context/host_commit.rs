//! Compares commits with the commit that the host names.

use super::branch_role::BranchRole;
use super::target_branches::TargetBranches;
use super::{CommitSource, ContextError};
use crate::job::ci::{CiContext, Host, TargetCopy, Trigger};
use sluicegate_git::{CommitId, Repository, is_full_id};

/// Returns whether a review of `commit` reviews the commit that the host names. True for that commit itself, for the
/// host's trial merge of it, and for a merge of it with commits that its target branch contains. Any other merge, and a
/// merge that its author edited, may contain files that the change does not have. After this run fetched the target
/// branch, the target must contain the commits that the trial merge adds, because the host may have created it for an
/// earlier target of the change. If the host does not name a commit, every commit matches.
pub(super) fn matches_host_commit(
    repo: &Repository,
    ci: &CiContext,
    commit: &CommitId,
) -> Result<bool, ContextError> {
    let Some(id) = &ci.commit else {
        return Ok(true);
    };
    let host_commit = resolve_host_commit_id(repo, id);
    let is_host_commit_id = |commit: &CommitId| commit.as_str() == host_commit;
    if is_host_commit_id(commit) {
        return Ok(true);
    }
    // The job of such an event may check out any commit, so a merge of the host's commit does not match either.
    if ci.trigger == Trigger::Any {
        return Ok(false);
    }
    let parents = repo.recorded_parents(commit)?;
    let is_trial_merge = ci.trigger == Trigger::Change && ci.checkout.as_deref() == Some(commit.as_str());
    // GitLab may squash the change in its trial merge, so the parents prove nothing.
    if is_trial_merge && ci.host == Host::GitLab {
        return Ok(true);
    }
    // The trial merge of another host may merge an older commit of the change.
    if !parents.iter().any(is_host_commit_id) {
        return Ok(false);
    }
    if is_trial_merge && ci.target_copy == TargetCopy::Cloned {
        return Ok(true);
    }
    // The host's commit is a parent. The target branch must contain all further parents.
    let branches = TargetBranches::for_event(repo, ci, CommitSource::Host)?;
    let target = match ci.target_branch() {
        Some(name) => Some(name.to_owned()),
        None => branches.find_default_branch_name()?,
    };
    let Some(target) = target else {
        return Ok(false);
    };
    for parent in parents.iter().filter(|parent| !is_host_commit_id(parent)) {
        if branches.contains_commit(&target, parent)? {
            continue;
        }
        if ci.trigger == Trigger::Change && branches.find_tip(&target)?.is_none() {
            return Err(branches.missing_branch_error(&target, BranchRole::Target, repo.is_shallow()));
        }
        return Ok(false);
    }
    // A commit with a single parent is a new commit on top of the host's, and not a clean merge.
    Ok(is_trial_merge || repo.is_clean_merge(commit)?)
}

/// Returns whether the commit with this id is a merge of the host's commit, see [`matches_host_commit`]. False if the
/// clone lacks the commit, or if it is unknown whether it is one.
pub fn is_merge_of_host_commit(repo: &Repository, ci: &CiContext, id: &str) -> bool {
    let Ok(Some(commit)) = repo.find_commit_with_id(id) else {
        return false;
    };
    let is_other_commit = ci.commit.is_some() && !is_commit_of_host(repo, ci, &commit);
    is_other_commit && matches_host_commit(repo, ci, &commit).unwrap_or(false)
}

/// Returns the id of the commit that the host names. The event of an annotated tag may contain the id of the tag
/// object, which is resolved to its commit if the clone has it.
fn resolve_host_commit_id(repo: &Repository, id: &str) -> String {
    repo.resolve(id)
        .map_or_else(|_| id.to_owned(), |commit| commit.to_string())
}

/// Returns whether the host names this commit with a full id.
pub(super) fn is_commit_of_host(repo: &Repository, ci: &CiContext, commit: &CommitId) -> bool {
    let host_commit = ci.commit.as_deref().filter(|id| is_full_id(id));
    host_commit.is_some_and(|id| resolve_host_commit_id(repo, id) == commit.as_str())
}
