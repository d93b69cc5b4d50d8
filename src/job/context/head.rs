//! Finds the commit to review and its branch.

use super::target_branches::TargetBranches;
use super::{BranchOrigin, ContextError, RevisionWish};
use crate::job::ci::{CiContext, Host, Trigger};
use sluicegate_git::{CommitId, Repository, is_full_id};

pub(super) struct JudgedHead {
    pub commit: CommitId,
    /// The newest commit of the change itself: another one than `commit` if that is a merge of it with its target.
    /// `None` if the clone lacks it.
    pub change: Option<CommitId>,
    pub branch: Option<String>,
    pub branch_origin: BranchOrigin,
    /// The commit is the host's, so the base that the host sets is valid.
    pub is_hosts: bool,
    pub warnings: Vec<String>,
}

pub(super) fn choose(
    repo: &Repository,
    ci: &CiContext,
    wish: &RevisionWish,
) -> Result<JudgedHead, ContextError> {
    let mut head = match &wish.head {
        Some(revision) => asked_for(repo, ci, revision)?,
        None => detected(repo, ci)?,
    };
    if let Some(branch) = &wish.branch {
        head.branch = Some(branch.clone());
    } else if head.branch.is_none() && ci.host == Host::Unknown {
        head.branch = default_with(repo, ci, &head.commit)?;
    } else if head.branch.is_none() && may_infer_branch(ci, head.is_hosts) {
        head.branch = holding(repo, ci, &head.commit)?;
        head.branch_origin = BranchOrigin::Inferred;
    }
    Ok(head)
}

/// Returns whether a branch that contains the commit may be used as its branch: in a local run, for a tag, and for a
/// commit that the job selects. The branch of the host's own commit is never inferred: after a branch cut, several
/// branches contain the commit.
pub(super) const fn may_infer_branch(ci: &CiContext, is_hosts: bool) -> bool {
    ci.host.is_local() || ci.tag.is_some() || !is_hosts
}

/// Returns the checked-out commit for a review of its files: the commit of the event, or a trial merge of it. Another
/// commit is accepted only if the event has no commit.
pub(super) fn of_checkout(
    repo: &Repository,
    ci: &CiContext,
    checked_out: sluicegate_git::Head,
) -> Result<JudgedHead, ContextError> {
    let commit = checked_out.commit;
    let is_hosts = holds_hosts(repo, ci, &commit)?;
    if !is_hosts && ci.trigger != Trigger::Any {
        return Err(ContextError::OtherCheckout {
            checked_out: commit,
            commit: ci.commit.clone().unwrap_or_default(),
            host: ci.host,
            is_change: ci.trigger == Trigger::Change,
        });
    }
    let branch = match checked_out.branch {
        _ if !is_hosts => holding(repo, ci, &commit)?,
        Some(local) if ci.host.is_local() && ci.branch.is_none() => Some(local),
        _ => ci.branch.clone(),
    };
    Ok(JudgedHead {
        change: match ci.commit.as_deref().filter(|_| is_hosts) {
            Some(own) => repo.resolve(own).ok(),
            None => Some(commit.clone()),
        },
        commit,
        branch,
        branch_origin: if is_hosts {
            BranchOrigin::Named
        } else {
            BranchOrigin::Inferred
        },
        is_hosts,
        warnings: Vec::new(),
    })
}

/// Returns whether the commit is the host's own. This includes the host's trial merge, and a merge of the change or of
/// the pushed commit with commits of only its target. Any other merge, and a merge that its author edited, may contain
/// files that the change does not have. If the host sets no commit, the checked-out one is its own.
pub(super) fn holds_hosts(
    repo: &Repository,
    ci: &CiContext,
    commit: &CommitId,
) -> Result<bool, ContextError> {
    let Some(id) = &ci.commit else {
        return Ok(true);
    };
    // A tag event may contain the id of the tag object.
    let own = repo
        .resolve(id)
        .map_or_else(|_| id.clone(), |own| own.to_string());
    let is_own = |commit: &CommitId| commit.as_str() == own;
    if is_own(commit) {
        return Ok(true);
    }
    // Any other commit of such an event is one that the job selected.
    if ci.trigger == Trigger::Any {
        return Ok(false);
    }
    let parents = repo.recorded_parents(commit)?;
    if ci.trigger == Trigger::Change && ci.checkout.as_deref() == Some(commit.as_str()) {
        // GitLab also squashes the change. A trial merge of another host may be that of an earlier push.
        return Ok(ci.host == Host::GitLab || parents.iter().any(is_own));
    }
    // With a single parent, the commit is not a merge but a new commit on top of the host's.
    if parents.len() < 2 || !parents.iter().any(is_own) {
        return Ok(false);
    }
    let branches = TargetBranches::new(repo, ci, true)?;
    let target = match ci.target_branch().or(ci.default_branch.as_deref()) {
        Some(name) => Some(name.to_owned()),
        None => branches.recorded_default()?.map(|branch| branch.branch),
    };
    let Some(target) = target else {
        return Ok(false);
    };
    for other in parents.iter().filter(|parent| !is_own(parent)) {
        if !branches.contains(&target, other)? {
            return Ok(false);
        }
    }
    Ok(repo.is_clean_merge(commit)?)
}

fn detected(repo: &Repository, ci: &CiContext) -> Result<JudgedHead, ContextError> {
    if let Some(id) = &ci.commit {
        let commit = in_clone(repo, ci, id)?;
        return Ok(JudgedHead {
            change: Some(commit.clone()),
            commit,
            branch: ci.branch.clone(),
            branch_origin: BranchOrigin::Named,
            is_hosts: true,
            warnings: Vec::new(),
        });
    }
    let checked_out = repo.head()?;
    let commit = without_local_merge(repo, ci, checked_out.commit)?;
    let branch = match (&ci.branch, checked_out.branch) {
        (Some(named), _) => Some(named.clone()),
        (None, Some(local)) if ci.host.is_local() => Some(name_on_remote(repo, &local, &commit)?),
        (None, Some(local)) if ci.host == Host::Unknown => branch_with(repo, &local, &commit)?,
        (None, _) => None,
    };
    Ok(JudgedHead {
        change: Some(commit.clone()),
        commit,
        branch,
        branch_origin: BranchOrigin::Named,
        is_hosts: true,
        warnings: Vec::new(),
    })
}

fn asked_for(repo: &Repository, ci: &CiContext, revision: &str) -> Result<JudgedHead, ContextError> {
    let named = repo.named(revision)?;
    if ci.commit.as_deref() == Some(named.commit.as_str()) {
        return Ok(JudgedHead {
            change: Some(named.commit.clone()),
            commit: named.commit,
            branch: ci.branch.clone(),
            branch_origin: BranchOrigin::Named,
            is_hosts: true,
            warnings: named.ambiguity.into_iter().collect(),
        });
    }
    let local = named
        .reference
        .as_deref()
        .and_then(|name| name.strip_prefix("refs/heads/"));
    let branch = match (local, &named.reference) {
        (Some(local), _) => Some(name_on_remote(repo, local, &named.commit)?),
        (None, Some(reference)) => branch_kept_in(repo, reference)?,
        (None, None) => None,
    };
    Ok(JudgedHead {
        change: Some(named.commit.clone()),
        commit: named.commit,
        branch,
        branch_origin: BranchOrigin::Named,
        is_hosts: false,
        warnings: named.ambiguity.into_iter().collect(),
    })
}

/// Returns the host's commit, if it is in the clone. The id of a tag object is resolved to its commit.
fn in_clone(repo: &Repository, ci: &CiContext, id: &str) -> Result<CommitId, ContextError> {
    let missing = || ContextError::CommitNotInClone {
        commit: id.to_owned(),
        host: ci.host,
    };
    if !is_full_id(id) {
        return Err(missing());
    }
    let commit = repo.resolve(id).map_err(|_| missing())?;
    without_local_merge(repo, ci, commit)
}

/// Returns the commit itself, or if the host may have created it only in this clone, the change's side of that merge.
fn without_local_merge(
    repo: &Repository,
    ci: &CiContext,
    commit: CommitId,
) -> Result<CommitId, ContextError> {
    if !ci.maybe_local_merge || repo.was_fetched(&commit)? {
        return Ok(commit);
    }
    let parents = repo.parents(&commit)?;
    match parents.as_slice() {
        // A commit with a single parent is the change itself: no reference has it after a force push.
        [] | [_] => Ok(commit),
        [one, other] => changed_side(repo, ci, &commit, [one, other]),
        _ => Err(ContextError::MergeUntold {
            commit,
            host: ci.host,
        }),
    }
}

/// Returns the side of a merge that the target branch does not contain; it contains the other side. If it contains
/// both, the change was merged meanwhile, and its side is the only one at which the remote has another reference. A
/// merge with other files than that of its sides may be a commit of the change.
fn changed_side(
    repo: &Repository,
    ci: &CiContext,
    merge: &CommitId,
    sides: [&CommitId; 2],
) -> Result<CommitId, ContextError> {
    if !repo.is_clean_merge(merge)? {
        return Err(ContextError::EditedMerge {
            commit: merge.clone(),
            host: ci.host,
        });
    }
    let branches = TargetBranches::new(repo, ci, true)?;
    let branch = ci.target_branch().unwrap_or_default();
    let Some(target) = branches.tip(branch)? else {
        return Err(ContextError::BranchNotInClone {
            branch: branch.to_owned(),
            role: "target",
            host: ci.host,
        });
    };
    let mut outside = Vec::new();
    let mut fetched = Vec::new();
    let tracked = target.tracked.map(|tracked| tracked.reference);
    for side in sides {
        if !repo.contains(&target.commit, side)? {
            outside.push(side);
        }
        let mut names = repo.remote_references_at(side)?.into_iter();
        if names.any(|name| Some(name) != tracked) {
            fetched.push(side);
        }
    }
    match (outside.as_slice(), fetched.as_slice()) {
        ([only], _) | ([], [only]) => Ok((*only).clone()),
        _ => Err(ContextError::MergeUntold {
            commit: merge.clone(),
            host: ci.host,
        }),
    }
}

/// Returns the name of a local branch on the remote: its upstream if that contains the commit, otherwise its own name
/// if the remote has such a branch with the commit (pushed without setting an upstream), otherwise the upstream, or its
/// own name without one.
fn name_on_remote(repo: &Repository, local: &str, commit: &CommitId) -> Result<String, ContextError> {
    let Some((_, followed)) = repo.upstream(local) else {
        return Ok(local.to_owned());
    };
    for name in [followed.as_str(), local] {
        if let Some(branch) = repo.remote_branch(name)?
            && repo.contains(&branch.tip, commit)?
        {
            return Ok(name.to_owned());
        }
    }
    Ok(followed)
}

/// Returns the branch of a reference such as `refs/remotes/origin/feature`.
fn branch_kept_in(repo: &Repository, reference: &str) -> Result<Option<String>, ContextError> {
    let mut branches = repo.remote_branches()?.into_iter();
    let found = branches.find(|branch| branch.reference == reference);
    Ok(found.map(|branch| branch.branch))
}

/// Returns a remote branch that contains the commit, preferably the default branch.
fn holding(repo: &Repository, ci: &CiContext, commit: &CommitId) -> Result<Option<String>, ContextError> {
    let branches = repo.remote_branches_with(commit)?;
    let default = branches
        .iter()
        .find(|branch| Some(&branch.branch) == ci.default_branch.as_ref());
    Ok(default.or(branches.first()).map(|branch| branch.branch.clone()))
}

/// Returns the name if the remote has a branch with this name that contains the commit.
fn branch_with(repo: &Repository, name: &str, commit: &CommitId) -> Result<Option<String>, ContextError> {
    let Some(branch) = repo.remote_branch(name)? else {
        return Ok(None);
    };
    Ok(repo.contains(&branch.tip, commit)?.then_some(branch.branch))
}

/// Returns the default branch if it contains the commit.
fn default_with(
    repo: &Repository,
    ci: &CiContext,
    commit: &CommitId,
) -> Result<Option<String>, ContextError> {
    let default = match &ci.default_branch {
        Some(name) => Some(name.clone()),
        None => repo.told_default_branch()?.map(|tip| tip.branch),
    };
    match default {
        Some(name) => branch_with(repo, &name, commit),
        None => Ok(None),
    }
}
