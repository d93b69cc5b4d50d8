//! Checks that a commit is merged: in the remote's default branch, or in another branch that may be published.
//!
//! Anyone who may push a tag can put it on an unreviewed commit, and a job that a comment starts can check out any
//! commit. Branches are looked up by the full names of their references, so that no tag is mistaken for a branch.

use super::history_remedy::HistoryRemedy;
use super::merge_unknown_reason::MergeUnknownReason;
use super::target_branches::TargetBranches;
use super::{CommitSource, ContextError};
use crate::job::ci::{CiContext, Host, Trigger};
use sluicegate_git::{CommitId, Repository};

/// Fails unless the commit is merged into the default branch or into a branch for which `is_published` returns true.
/// Also fails if the clone is too incomplete to show it. A commit that the host names is in the event's repository.
pub fn require_merged(
    repo: &Repository,
    ci: &CiContext,
    head: &CommitId,
    commit_source: CommitSource,
    is_published: &dyn Fn(&str) -> bool,
) -> Result<(), ContextError> {
    let branches = TargetBranches::for_event(repo, ci, commit_source)?;
    let default_name = branches.find_default_branch_name()?;
    if branches.is_unproven() {
        return Err(branches.unproven_target_error(default_name.as_deref().unwrap_or("HEAD")));
    }
    let default_branch = default_name
        .as_deref()
        .map(|name| branches.find_tracked_branch(name))
        .transpose()?
        .flatten();
    let mut searched_branches = Vec::new();
    let mut searched_tips = Vec::new();
    for branch in repo.list_remote_branches()? {
        let is_searched = default_name.as_ref() == Some(&branch.branch) || is_published(&branch.branch);
        // Another remote, such as a fork, may have branches with the same names.
        let is_on_other_remote = default_branch
            .as_ref()
            .is_some_and(|default_branch| default_branch.remote != branch.remote);
        if !is_searched || is_on_other_remote || !branches.is_on_target_remote(&branch) {
            continue;
        }
        searched_tips.push(branch.tip);
        searched_branches.push(branch.branch);
    }
    if repo.is_in_any_history(head, &searched_tips)? {
        return Ok(());
    }
    // `reason` states why the search is incomplete. If it is complete, the commit is certainly not merged.
    let reason = match &default_name {
        _ if repo.is_shallow() => MergeUnknownReason::ShallowClone,
        None => MergeUnknownReason::NoDefaultBranch {
            remote: branches.fetch_remote(),
        },
        Some(name) if !searched_branches.contains(name) => MergeUnknownReason::NoRemoteBranch {
            branch: name.clone(),
            remote: branches.fetch_remote(),
        },
        Some(_) => {
            return Err(ContextError::NotMerged {
                head: head.clone(),
                ahead_of: find_outdated_run_branch(&branches, &searched_branches, repo, ci, head)?,
                branches: searched_branches,
                remote: branches.fetch_remote(),
                remedy: HistoryRemedy::for_run(ci),
            });
        }
    };
    Err(ContextError::MergeUnknown {
        head: head.clone(),
        reason,
        remedy: HistoryRemedy::for_run(ci),
    })
}

/// Returns the branch of the run if it was searched for the commit, and this clone's copy of it may be outdated: its
/// tip is an ancestor of the commit, so the branch on the remote may already contain the commit. Returns `None` for the
/// branch of an unmerged change.
fn find_outdated_run_branch(
    branches: &TargetBranches<'_>,
    searched_branches: &[String],
    repo: &Repository,
    ci: &CiContext,
    head: &CommitId,
) -> Result<Option<String>, ContextError> {
    let run_branch = ci.branch.as_ref().filter(|_| ci.trigger != Trigger::Change);
    let tracked_branch = run_branch
        .filter(|branch| searched_branches.contains(branch))
        .map(|branch| branches.find_tracked_branch(branch))
        .transpose()?
        .flatten();
    Ok(match tracked_branch {
        Some(tracked_branch) if repo.contains_commit(head, &tracked_branch.tip)? => {
            Some(tracked_branch.branch)
        }
        _ => None,
    })
}

/// Returns whether the commit may be on this branch of the remote, that is, whether the clone's copy of the branch
/// contains it. If the host names both the commit and the branch, the result is also true for a branch that the clone
/// lacks, unless a user may have combined it with any commit, and for a push whose commit is, or in a shallow clone may
/// be, ahead of the clone's copy. Otherwise, the commit must be in the clone's copy.
pub fn may_be_on_branch(
    repo: &Repository,
    ci: &CiContext,
    branch: &str,
    head: &CommitId,
    commit_source: CommitSource,
) -> Result<bool, ContextError> {
    let is_named_by_host =
        commit_source.is_host() && ci.commit.is_some() && ci.branch.as_deref() == Some(branch);
    let tracked_branch = TargetBranches::for_event(repo, ci, commit_source)?.find_tracked_branch(branch)?;
    let Some(tracked_branch) = tracked_branch else {
        return Ok(is_named_by_host && ci.has_commit_of_branch());
    };
    if repo.contains_commit(&tracked_branch.tip, head)? {
        return Ok(true);
    }
    let is_push = is_named_by_host && ci.is_push();
    Ok(is_push && (repo.is_shallow() || repo.contains_commit(head, &tracked_branch.tip)?))
}

/// Treats a CircleCI run of the default branch as a run for a commit, even if the host names a pull request: an open
/// pull request that merges the default branch into another branch. CircleCI then names it in every run of the branch,
/// also for a push. Nothing changes if the commit is not in the clone's copy of the default branch, or if the event
/// does not state that it comes from the target's repository.
pub fn recognize_default_branch_run(repo: &Repository, ci: &mut CiContext) -> Result<(), ContextError> {
    let may_be_pushed = ci.host == Host::CircleCi && !ci.fork && ci.target_repository.contains_change;
    if ci.trigger != Trigger::Change || !may_be_pushed {
        return Ok(());
    }
    let branches = TargetBranches::for_event(repo, ci, CommitSource::Host)?;
    let default_branch = branches.find_default_branch()?;
    let commit = repo.find_commit_with_id(ci.commit.as_deref().unwrap_or_default())?;
    let (Some(default_branch), Some(commit)) = (default_branch, commit) else {
        return Ok(());
    };
    if ci.branch.as_ref() == Some(&default_branch.branch)
        && repo.contains_commit(&default_branch.tip, &commit)?
    {
        ci.trigger = Trigger::Commit;
    }
    Ok(())
}

/// Returns whether the commit may be on the branch of the run. The result is true for a push, for a local run, and if
/// the host does not name a branch. In any other run, a user may have combined the branch with any commit, so the
/// clone's copy of the branch is checked.
pub(super) fn may_be_on_run_branch(
    repo: &Repository,
    ci: &CiContext,
    head: &CommitId,
) -> Result<bool, ContextError> {
    match &ci.branch {
        Some(branch) if !ci.is_push() && !ci.host.is_local() => {
            may_be_on_branch(repo, ci, branch, head, CommitSource::Host)
        }
        _ => Ok(true),
    }
}
