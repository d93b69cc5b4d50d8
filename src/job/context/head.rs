//! Which commit is judged, and which branch is named for it.

use super::{ContextError, RevisionWish};
use crate::base::git::{self, CommitId, Repository, is_full_id};
use crate::job::ci::{BaseHint, CiContext, Host, Trigger};

pub(super) struct JudgedHead {
    pub commit: CommitId,
    pub branch: Option<String>,
    /// It is the one that the host meant, so what the host says about its base holds.
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
    } else if head.branch.is_none() {
        head.branch = holding(repo, ci, &head.commit)?;
    }
    Ok(head)
}

/// What is checked out, where its files are judged: the commit that the event is about, or a merge of it, as hosts make
/// it to try a merge. Another commit is judged only where the event is about none.
pub(super) fn of_checkout(
    repo: &Repository,
    ci: &CiContext,
    checked_out: git::Head,
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
    let branch = if is_hosts {
        ci.branch.clone().or(checked_out.branch)
    } else {
        holding(repo, ci, &commit)?
    };
    Ok(JudgedHead {
        commit,
        branch,
        is_hosts,
        warnings: Vec::new(),
    })
}

/// Whether the commit is the host's own. For a change that is also what the host checks out to try its merge, or a
/// merge of the change with commits of its target alone: with anything else it may hold what the change does not. A
/// host that names no commit means what is checked out.
pub(super) fn holds_hosts(
    repo: &Repository,
    ci: &CiContext,
    commit: &CommitId,
) -> Result<bool, ContextError> {
    let Some(id) = &ci.commit else {
        return Ok(true);
    };
    // A tag event may name the tag's own object.
    let own = repo
        .resolve(id)
        .map_or_else(|_| id.clone(), |own| own.to_string());
    let is_own = |commit: &CommitId| commit.as_str() == own;
    if is_own(commit) {
        return Ok(true);
    }
    if ci.trigger != Trigger::Change {
        return Ok(false);
    }
    if ci.checkout.as_deref() == Some(commit.as_str()) {
        return Ok(true);
    }
    let parents = repo.recorded_parents(commit)?;
    // A single parent makes no merge: the commit is somebody's own, on top of the host's.
    if parents.len() < 2 || !parents.iter().any(is_own) {
        return Ok(false);
    }
    let others = parents.iter().filter(|parent| !is_own(parent));
    for other in others {
        if !may_be_of_target(repo, ci, other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the commit is in the target, or the clone does not have what would tell.
fn may_be_of_target(repo: &Repository, ci: &CiContext, commit: &CommitId) -> Result<bool, ContextError> {
    let target = match &ci.base {
        BaseHint::MergeBaseWith { branch, .. } => Some(branch),
        BaseHint::Commit { target, .. } => target.as_ref(),
        BaseHint::DefaultBranch | BaseHint::PushedFrom { .. } | BaseHint::All { .. } => {
            ci.default_branch.as_ref()
        }
    };
    let tip = target
        .map(|branch| repo.remote_branch(branch))
        .transpose()?
        .flatten();
    match tip {
        Some(tip) if repo.has_commit(commit.as_str()) && !repo.is_shallow() => {
            Ok(repo.contains(&tip.tip, commit)?)
        }
        _ => Ok(true),
    }
}

fn detected(repo: &Repository, ci: &CiContext) -> Result<JudgedHead, ContextError> {
    if let Some(id) = &ci.commit {
        let commit = in_clone(repo, ci, id)?;
        return Ok(JudgedHead {
            commit,
            branch: ci.branch.clone(),
            is_hosts: true,
            warnings: Vec::new(),
        });
    }
    let checked_out = repo.head()?;
    let commit = without_local_merge(repo, ci, checked_out.commit)?;
    let branch = match (&ci.branch, checked_out.branch) {
        (Some(named), _) => Some(named.clone()),
        (None, Some(local)) if ci.host == Host::None => Some(name_on_remote(repo, &local, &commit)?),
        (None, _) => None,
    };
    Ok(JudgedHead {
        commit,
        branch,
        is_hosts: true,
        warnings: Vec::new(),
    })
}

fn asked_for(repo: &Repository, ci: &CiContext, revision: &str) -> Result<JudgedHead, ContextError> {
    let named = repo.named(revision)?;
    if ci.commit.as_deref() == Some(named.commit.as_str()) {
        return Ok(JudgedHead {
            commit: named.commit,
            branch: ci.branch.clone(),
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
        commit: named.commit,
        branch,
        is_hosts: false,
        warnings: named.ambiguity.into_iter().collect(),
    })
}

/// The commit that the host names. A tag event may name the tag's own object, so it is followed to its commit.
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

/// Of a merge that the host made in this clone alone the side is meant that the target does not have: usually the
/// first, but the target may as well have been checked out and the change merged into it.
fn without_local_merge(
    repo: &Repository,
    ci: &CiContext,
    commit: CommitId,
) -> Result<CommitId, ContextError> {
    if ci.maybe_local_merge && !repo.was_fetched(&commit)? {
        let parents = repo.parents(&commit)?;
        return match parents.as_slice() {
            [] => Ok(commit),
            [only] => Ok(only.clone()),
            sides => changed_side(repo, ci, sides)?.ok_or(ContextError::MergeUntold {
                commit,
                host: ci.host,
            }),
        };
    }
    Ok(commit)
}

/// The only side that is not in the target branch; where the clone does not tell, the only one that another reference
/// of the remote is at.
fn changed_side(
    repo: &Repository,
    ci: &CiContext,
    sides: &[CommitId],
) -> Result<Option<CommitId>, ContextError> {
    let target = match &ci.base {
        BaseHint::MergeBaseWith { branch, .. } => repo.remote_branch(branch)?,
        _ => None,
    };
    let mut outside = Vec::new();
    let mut fetched = Vec::new();
    for side in sides {
        if let Some(target) = &target
            && !repo.contains(&target.tip, side)?
        {
            outside.push(side);
        }
        let names = repo.remote_references_at(side)?;
        if names
            .iter()
            .any(|name| Some(name) != target.as_ref().map(|target| &target.reference))
        {
            fetched.push(side);
        }
    }
    Ok(match (outside.as_slice(), fetched.as_slice()) {
        ([only], _) | (_, [only]) => Some((*only).clone()),
        _ => None,
    })
}

/// What a local branch is called on the remote: as the branch that it follows, if that has the commit; else by its
/// own name, if the remote has such a branch with the commit (pushed without being followed); else as the one it
/// follows, or by its own name.
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

/// The branch of a reference such as `refs/remotes/origin/feature`.
fn branch_kept_in(repo: &Repository, reference: &str) -> Result<Option<String>, ContextError> {
    let mut branches = repo.remote_branches()?.into_iter();
    let found = branches.find(|branch| branch.reference == reference);
    Ok(found.map(|branch| branch.branch))
}

/// The remote branch that holds the commit, the default branch first.
fn holding(repo: &Repository, ci: &CiContext, commit: &CommitId) -> Result<Option<String>, ContextError> {
    let branches = repo.remote_branches_with(commit)?;
    let default = branches
        .iter()
        .find(|branch| Some(&branch.branch) == ci.default_branch.as_ref());
    Ok(default.or(branches.first()).map(|branch| branch.branch.clone()))
}
