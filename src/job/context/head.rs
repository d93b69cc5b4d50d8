//! Finds the commit to review and its branch.

use super::fetch_source::find_fetch_source;
use super::history_remedy::HistoryRemedy;
use super::host_commit::{is_commit_of_host, matches_host_commit};
use super::target_branches::{TargetBranches, TargetTip};
use super::{BranchOrigin, BranchRole, CommitSource, ContextError, RequestedRevisions};
use crate::job::ci::{CiContext, Host, TargetCopy, Trigger};
use sluicegate_git::{CommitId, RemoteBranch, Repository, is_full_id};

pub(super) struct ReviewedHead {
    pub commit: CommitId,
    /// The newest commit of the change itself. It differs from `commit` if `commit` is a merge of the change with its
    /// target. `None` if the clone lacks the commit.
    pub change_commit: Option<CommitId>,
    pub branch: Option<String>,
    pub branch_origin: BranchOrigin,
    pub commit_source: CommitSource,
    pub warnings: Vec<String>,
}

/// Returns the commit to review and its branch. Both come from the flags of the job, otherwise from the event or the
/// checkout. If these do not name a branch, a branch of the remote that contains the commit is used: on an unknown host
/// only the default branch, otherwise any branch if [`may_infer_branch`] allows it.
pub(super) fn find_head(
    repo: &Repository,
    ci: &CiContext,
    revisions: &RequestedRevisions,
) -> Result<ReviewedHead, ContextError> {
    let mut head = match &revisions.head {
        Some(revision) => find_requested_head(repo, ci, revision)?,
        None => find_event_head(repo, ci)?,
    };
    if let Some(branch) = &revisions.branch {
        head.branch = Some(branch.clone());
    } else if head.branch.is_none() && ci.host == Host::Unknown {
        head.branch = find_default_branch_with_commit(repo, ci, head.commit_source, &head.commit)?;
    } else if head.branch.is_none() && may_infer_branch(ci, head.commit_source) {
        head.branch = find_any_branch_with_commit(repo, ci, &head.commit)?;
        head.branch_origin = BranchOrigin::Inferred;
    }
    Ok(head)
}

/// Returns whether any branch that contains the commit may be used as its branch: in a local run, for a tag, and for a
/// commit that the job selects with `--head`. The branch of the commit that the host names is never inferred, because
/// several branches contain that commit after a branch was created from another.
pub(super) const fn may_infer_branch(ci: &CiContext, commit_source: CommitSource) -> bool {
    ci.host.is_local() || ci.tag.is_some() || !commit_source.is_host()
}

/// Returns the checked-out commit as the head for a review of the files on disk. It must match the commit of the event
/// (see [`matches_host_commit`]). Only for [`Trigger::Any`], the job may check out another commit, whose branch is then
/// inferred.
pub(super) fn find_checkout_head(
    repo: &Repository,
    ci: &CiContext,
    checked_out: sluicegate_git::Head,
) -> Result<ReviewedHead, ContextError> {
    let commit = checked_out.commit;
    let commit_source = CommitSource::from_match(matches_host_commit(repo, ci, &commit)?);
    if !commit_source.is_host() && ci.trigger != Trigger::Any {
        return Err(ContextError::OtherCheckout {
            checked_out: commit,
            commit: ci.commit.clone().unwrap_or_default(),
            host: ci.host,
            is_change: ci.trigger == Trigger::Change,
        });
    }
    // With `Trigger::Any`, the job may select its own commit.
    if !commit_source.is_host() {
        return Ok(ReviewedHead {
            branch: find_any_branch_with_commit(repo, ci, &commit)?,
            branch_origin: BranchOrigin::Inferred,
            change_commit: Some(commit.clone()),
            commit,
            commit_source,
            warnings: Vec::new(),
        });
    }
    let local_branch = checked_out.branch.filter(|_| ci.host.is_local());
    Ok(ReviewedHead {
        branch: ci.branch.clone().or(local_branch),
        branch_origin: BranchOrigin::Named,
        // The checked-out commit may be a merge of the host's commit.
        change_commit: match &ci.commit {
            Some(host_commit) => repo.resolve(host_commit).ok(),
            None => Some(commit.clone()),
        },
        commit,
        commit_source,
        warnings: Vec::new(),
    })
}

/// Returns the commit that the host names, otherwise the checked-out commit. Either commit is treated as the host's,
/// because the job does not select another one. If the host names neither a commit nor a branch, the checked-out branch
/// is used: in a local run under its name on the remote, and on an unknown host only if the remote's branch with this
/// name contains the commit.
fn find_event_head(repo: &Repository, ci: &CiContext) -> Result<ReviewedHead, ContextError> {
    if let Some(id) = &ci.commit {
        let commit = find_host_commit(repo, ci, id)?;
        return Ok(ReviewedHead {
            change_commit: Some(commit.clone()),
            commit,
            branch: ci.branch.clone(),
            branch_origin: BranchOrigin::Named,
            commit_source: CommitSource::Host,
            warnings: Vec::new(),
        });
    }
    let checked_out = repo.head()?;
    let commit = resolve_local_merge(repo, ci, checked_out.commit)?;
    let branch = match (&ci.branch, checked_out.branch) {
        (Some(branch), _) => Some(branch.clone()),
        (None, Some(local)) if ci.host.is_local() => Some(find_remote_branch_name(repo, &local, &commit)?),
        (None, Some(local)) if ci.host == Host::Unknown => {
            let branches = TargetBranches::for_event(repo, ci, CommitSource::Host)?;
            find_branch_with_commit(repo, branches.find_tracked_branch(&local)?, &commit)?
        }
        (None, _) => None,
    };
    Ok(ReviewedHead {
        change_commit: Some(commit.clone()),
        commit,
        branch,
        branch_origin: BranchOrigin::Named,
        commit_source: CommitSource::Host,
        warnings: Vec::new(),
    })
}

/// Returns the commit that the job passes with `--head`, with the branch of that revision. If the host names the same
/// commit, the commit is treated as the host's commit and has the host's branch.
fn find_requested_head(
    repo: &Repository,
    ci: &CiContext,
    revision: &str,
) -> Result<ReviewedHead, ContextError> {
    let resolution = repo.resolve_revision(revision)?;
    if is_commit_of_host(repo, ci, &resolution.commit) {
        return Ok(ReviewedHead {
            change_commit: Some(resolution.commit.clone()),
            commit: resolution.commit,
            branch: ci.branch.clone(),
            branch_origin: BranchOrigin::Named,
            commit_source: CommitSource::Host,
            warnings: resolution.ambiguity.into_iter().collect(),
        });
    }
    let branch = match &resolution.reference {
        None => None,
        Some(reference) => match reference.strip_prefix("refs/heads/") {
            Some(local_branch) => Some(find_remote_branch_name(repo, local_branch, &resolution.commit)?),
            None => find_branch_of_reference(repo, reference)?,
        },
    };
    Ok(ReviewedHead {
        change_commit: Some(resolution.commit.clone()),
        commit: resolution.commit,
        branch,
        branch_origin: BranchOrigin::Named,
        commit_source: CommitSource::Job,
        warnings: resolution.ambiguity.into_iter().collect(),
    })
}

/// Returns the commit that the host names or, if the host created this commit as a merge in the clone, the parent that
/// is the change. Fails if the clone lacks the commit, and for a shortened id, which may also be the name of a branch.
/// The id of a tag object is resolved to its commit.
fn find_host_commit(repo: &Repository, ci: &CiContext, id: &str) -> Result<CommitId, ContextError> {
    match repo.resolve(id) {
        Ok(commit) if is_full_id(id) => resolve_local_merge(repo, ci, commit),
        _ => Err(ContextError::CommitNotInClone {
            commit: id.to_owned(),
            remedy: HistoryRemedy::for_run(ci),
            is_fork: ci.fork,
            fetch_source: find_fetch_source(repo, ci, id),
        }),
    }
}

/// Returns the commit or, if it is a merge that the host may have created only in this clone, the parent that is the
/// change. Such a merge is not on the remote, so the platform cannot review it. A commit that was fetched is on the
/// remote.
fn resolve_local_merge(
    repo: &Repository,
    ci: &CiContext,
    commit: CommitId,
) -> Result<CommitId, ContextError> {
    if !ci.may_be_local_merge || repo.is_fetched(&commit)? {
        return Ok(commit);
    }
    let parents = repo.parents(&commit)?;
    match parents.as_slice() {
        // A commit with a single parent is no merge but the change itself. After a force push to its branch, no
        // reference of the remote contains it.
        [] | [_] => Ok(commit),
        [first, second] if ci.host == Host::Buildkite => {
            find_head_of_trial_merge(repo, ci, &commit, [first, second])
        }
        [first, second] => find_change_parent(repo, ci, &commit, [first, second]),
        _ => Err(ContextError::AmbiguousMerge {
            commit,
            remedy: HistoryRemedy::for_run(ci),
        }),
    }
}

/// Returns the commit that GitHub merged with the target in its trial merge: the second parent. The first parent of a
/// trial merge is a commit of the target. A merge whose second parent is a commit of the target is the head of the
/// change itself, which "Update branch" merged with the target. If the clone's copy of the target has neither parent, it
/// may be out of date: the merge is then ambiguous, unless this run fetched the target.
fn find_head_of_trial_merge(
    repo: &Repository,
    ci: &CiContext,
    merge: &CommitId,
    parents: [&CommitId; 2],
) -> Result<CommitId, ContextError> {
    let target = find_target_tip(repo, ci)?;
    let [target_parent, head] = parents;
    if repo.contains_commit(&target.commit, target_parent)? {
        reject_edited_merge(repo, ci, merge)?;
        return Ok(head.clone());
    }
    let is_proven = ci.target_copy == TargetCopy::Fetched || repo.contains_commit(&target.commit, head)?;
    if ci.commit.is_some() && is_proven {
        return Ok(merge.clone());
    }
    Err(ContextError::AmbiguousMerge {
        commit: merge.clone(),
        remedy: HistoryRemedy::for_run(ci),
    })
}

/// Returns the parent of a merge that is the change: the only parent that the target branch does not contain. If the
/// target contains both, the change was merged meanwhile, and the change is the only parent with a remote reference
/// other than the target's. A merge that its author edited is an error, because it may be a commit of the change
/// itself.
fn find_change_parent(
    repo: &Repository,
    ci: &CiContext,
    merge: &CommitId,
    parents: [&CommitId; 2],
) -> Result<CommitId, ContextError> {
    reject_edited_merge(repo, ci, merge)?;
    let target = find_target_tip(repo, ci)?;
    let mut unmerged_parents = Vec::new();
    let mut fetched_parents = Vec::new();
    let tracked_reference = target.tracked_branch.map(|branch| branch.reference);
    for parent in parents {
        if !repo.contains_commit(&target.commit, parent)? {
            unmerged_parents.push(parent);
        }
        let has_other_reference = repo
            .find_remote_references_at(parent)?
            .into_iter()
            .any(|reference| Some(reference) != tracked_reference);
        if has_other_reference {
            fetched_parents.push(parent);
        }
    }
    // The remote references decide only if the target contains both parents.
    match (unmerged_parents.as_slice(), fetched_parents.as_slice()) {
        ([parent], _) | ([], [parent]) => Ok((*parent).clone()),
        _ => Err(ContextError::AmbiguousMerge {
            commit: merge.clone(),
            remedy: HistoryRemedy::for_run(ci),
        }),
    }
}

/// Returns an error if the files of the merge differ from those of a clean merge of its parents.
fn reject_edited_merge(repo: &Repository, ci: &CiContext, merge: &CommitId) -> Result<(), ContextError> {
    if repo.is_clean_merge(merge)? {
        return Ok(());
    }
    Err(ContextError::EditedMerge {
        commit: merge.clone(),
        host: ci.host,
    })
}

/// Returns the newest commit of the change's target. Fails if the clone has no such commit.
fn find_target_tip(repo: &Repository, ci: &CiContext) -> Result<TargetTip, ContextError> {
    let branches = TargetBranches::for_event(repo, ci, CommitSource::Host)?;
    let branch = ci.target_branch().unwrap_or_default();
    branches
        .find_tip(branch)?
        .ok_or_else(|| branches.missing_branch_error(branch, BranchRole::Target, false))
}

/// Returns the name of a local branch on the remote. Without an upstream, this is the branch's own name. Otherwise, it
/// is the upstream, unless only the remote branch with the local name contains the commit, because a branch may have
/// been pushed without setting its upstream.
fn find_remote_branch_name(
    repo: &Repository,
    local: &str,
    commit: &CommitId,
) -> Result<String, ContextError> {
    let Some((_, upstream)) = repo.find_upstream(local) else {
        return Ok(local.to_owned());
    };
    for name in [upstream.as_str(), local] {
        if let Some(branch) = repo.find_remote_branch(name)?
            && repo.contains_commit(&branch.tip, commit)?
        {
            return Ok(name.to_owned());
        }
    }
    Ok(upstream)
}

/// Returns the name of the remote branch for a reference, such as `feature` for `refs/remotes/origin/feature`.
fn find_branch_of_reference(repo: &Repository, reference: &str) -> Result<Option<String>, ContextError> {
    let mut branches = repo.list_remote_branches()?.into_iter();
    let branch = branches.find(|branch| branch.reference == reference);
    Ok(branch.map(|branch| branch.branch))
}

/// Returns a remote branch that contains the commit, preferably the default branch.
fn find_any_branch_with_commit(
    repo: &Repository,
    ci: &CiContext,
    commit: &CommitId,
) -> Result<Option<String>, ContextError> {
    let branches = repo.find_remote_branches_with_commit(commit)?;
    let default = branches
        .iter()
        .find(|branch| Some(&branch.branch) == ci.default_branch.as_ref());
    Ok(default.or(branches.first()).map(|branch| branch.branch.clone()))
}

/// Returns the name of the branch if it contains the commit.
fn find_branch_with_commit(
    repo: &Repository,
    branch: Option<RemoteBranch>,
    commit: &CommitId,
) -> Result<Option<String>, ContextError> {
    let Some(branch) = branch else {
        return Ok(None);
    };
    let has_commit = repo.contains_commit(&branch.tip, commit)?;
    Ok(has_commit.then_some(branch.branch))
}

/// Returns the default branch of the target's repository if it contains the commit.
fn find_default_branch_with_commit(
    repo: &Repository,
    ci: &CiContext,
    commit_source: CommitSource,
    commit: &CommitId,
) -> Result<Option<String>, ContextError> {
    let branches = TargetBranches::for_event(repo, ci, commit_source)?;
    find_branch_with_commit(repo, branches.find_default_branch()?, commit)
}
