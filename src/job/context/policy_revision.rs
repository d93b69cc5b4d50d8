//! Finds the policy revision, which the gate configuration is read from: the newest commit of the change's target
//! branch on the remote.
//!
//! The merge-base is not used, because a change can choose an old one, nor the commit before a push, because the same
//! person may have pushed it. A default branch is not guessed by its usual name either, because anyone may push a
//! branch with that name. Only remote-tracking references are read, by their full names.

use super::branch_role::BranchRole;
use super::host_commit::{is_commit_of_host, matches_host_commit};
use super::merge_check::may_be_on_run_branch;
use super::target_branches::{TargetBranches, TargetTip};
use super::{CommitSource, ContextError, RequestedRevisions};
use crate::job::ci::{CiContext, TargetCopy, Trigger};
use sluicegate_git::{CommitId, FetchTarget, Repository};

/// The revision that the gate configuration of a run is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyRevision {
    /// The reviewed commit itself: in a local run, or on the default branch.
    Head {
        reason: String,
    },
    Commit {
        commit: CommitId,
        /// The branch whose newest known commit this is, without `refs/heads/`.
        branch: String,
        /// The source of the commit: the full name of the reference, or the host's variable or field.
        source: String,
    },
    Unknown {
        reason: String,
    },
}

impl PolicyRevision {
    /// Returns the commit of the branch that the policy is read from. Returns `None` if the policy is read from head or
    /// the revision is unknown.
    pub const fn commit(&self) -> Option<&CommitId> {
        match self {
            Self::Commit { commit, .. } => Some(commit),
            Self::Head { .. } | Self::Unknown { .. } => None,
        }
    }
}

/// The case in which a branch is fetched again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefetchBranch {
    /// The clone lacks the branch.
    IfMissing,
    /// The clone lacks the branch, or does not show whether the remote has newer commits of it.
    IfAgeUnknown,
}

/// The result of a request for the newest commit of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchFetch {
    Success,
    Failure,
}

/// Returns the revision to read the policy from by default. In a local run, this is head. For a pull or merge request
/// and in a merge queue, it is the newest commit of the target branch, otherwise that of the default branch. Only
/// commits that are provably the target's are used.
///
/// A run on the default branch itself uses the reviewed commit, but only if the host names that commit.
/// Jobs that a comment or another workflow starts also run on the default branch, and may check out
/// any change.
pub fn find_target_policy_revision(
    repo: &Repository,
    ci: &CiContext,
    commit_source: CommitSource,
) -> Result<PolicyRevision, ContextError> {
    if ci.host.is_local() {
        let reason = "the run is not on a CI host".to_owned();
        return Ok(PolicyRevision::Head { reason });
    }
    let branches = TargetBranches::for_event(repo, ci, commit_source)?;
    let revision = match ci.target_branch() {
        Some(branch) => find_branch_revision(&branches, branch, BranchRole::Target),
        None => choose_default_branch_revision(&branches, repo, ci, commit_source),
    };
    revision.map_err(|error| error.with_remedy_for(ci))
}

/// Returns the newest commit of the default branch as the policy revision, even if that branch is checked out. If the
/// clone lacks the branch, the revision is unknown.
pub fn find_default_branch_policy_revision(
    repo: &Repository,
    ci: &CiContext,
    commit_source: CommitSource,
) -> Result<PolicyRevision, ContextError> {
    let branches = TargetBranches::for_event(repo, ci, commit_source)?;
    let tip = match branches.find_default_branch_name()? {
        Some(name) => branches
            .find_tip(&name)
            .map_err(|error| error.with_remedy_for(ci))?,
        None => None,
    };
    Ok(match tip {
        Some(tip) => to_policy_revision(&tip, BranchRole::Default),
        None => PolicyRevision::Unknown {
            reason: "this clone does not have the remote's default branch".to_owned(),
        },
    })
}

/// Returns who selects the commit of the run. It is the host if the commit that it names is checked out, and `--head`
/// does not name another commit; also in a local run, and in a repository without commits. It is the job if this is
/// unknown before missing commits are fetched.
pub fn find_commit_source(
    repo: &Repository,
    ci: &CiContext,
    revisions: &RequestedRevisions,
) -> Result<CommitSource, ContextError> {
    let checked_out = match repo.head() {
        Ok(checked_out) => checked_out.commit,
        Err(_) => return Ok(CommitSource::Host),
    };
    if ci.host.is_local() {
        return Ok(CommitSource::Host);
    }
    match matches_host_commit(repo, ci, &checked_out) {
        Ok(true) => {}
        Ok(false) => return Ok(CommitSource::Job),
        // The run fails when it is resolved, unless the missing commits are fetched.
        Err(error) if error.is_fixable_by_fetch() => return Ok(CommitSource::Job),
        Err(error) => return Err(error),
    }
    // An unknown revision is ignored here, like a missing `--head`. It is reported when the run is resolved.
    let requested_commit = revisions
        .head
        .as_deref()
        .and_then(|revision| repo.resolve_revision(revision).ok());
    Ok(CommitSource::from_match(match (requested_commit, &ci.commit) {
        (None, _) => true,
        (Some(revision), Some(_)) => is_commit_of_host(repo, ci, &revision.commit),
        (Some(revision), None) => revision.commit == checked_out,
    }))
}

/// Fetches the newest commit of the run's branch if the clone's copy of the branch lacks the commit that the host
/// names. Nothing is fetched for an unmerged change, for a commit that the host does not name, or without a remote; the
/// result is then `None`. A failed fetch is only passed to `report`.
pub fn fetch_run_branch(
    repo: &mut Repository,
    ci: &CiContext,
    commit_source: CommitSource,
    report: &dyn Fn(&str),
) -> Result<Option<BranchFetch>, ContextError> {
    if ci.trigger == Trigger::Change || !commit_source.is_host() {
        return Ok(None);
    }
    let Some(branch) = &ci.branch else {
        return Ok(None);
    };
    if is_on_run_branch(repo, ci)? {
        return Ok(None);
    }
    let branches = TargetBranches::for_event(repo, ci, commit_source)?;
    let Some(remote) = branches.remote().map(str::to_owned) else {
        return Ok(None);
    };
    report(&format!(
        "fetching the branch `{branch}`, because this clone's copy lacks the commit of the run"
    ));
    fetch_newest_commit(repo, &remote, branch, report).map(Some)
}

/// Fetches the newest commit of the branch that [`find_target_policy_revision`] reads, if the clone lacks the branch
/// or, with [`RefetchBranch::IfAgeUnknown`], if nothing shows how old the clone's copy is. Nothing is fetched in a
/// local run, which reads the checkout, or for the branch of the run, which [`fetch_run_branch`] fetches; the result is
/// then `None`. A failed fetch is only passed to `report`.
pub fn fetch_policy_branch(
    repo: &mut Repository,
    ci: &mut CiContext,
    commit_source: CommitSource,
    refetch: RefetchBranch,
    report: &dyn Fn(&str),
) -> Result<Option<BranchFetch>, ContextError> {
    let branches = TargetBranches::for_event(repo, ci, commit_source)?;
    let remote = branches.remote().map(str::to_owned);
    let (Some(branch), Some(remote)) = (find_policy_branch_name(&branches, ci)?, remote) else {
        return Ok(None);
    };
    // The branch of a change is its own, even if it has the name of the target.
    let is_run_branch =
        commit_source.is_host() && ci.trigger != Trigger::Change && ci.branch.as_ref() == Some(&branch);
    if ci.host.is_local() || is_run_branch {
        return Ok(None);
    }
    if branches.find_tracked_branch(&branch)?.is_some()
        && (refetch == RefetchBranch::IfMissing || has_known_age(&branches, &branch))
    {
        return Ok(None);
    }
    report(&format!(
        "fetching the branch `{branch}` to read the gate configuration"
    ));
    let branch_fetch = fetch_newest_commit(repo, &remote, &branch, report)?;
    if branch_fetch == BranchFetch::Success && ci.target_branch() == Some(&branch) {
        ci.target_copy = TargetCopy::Fetched;
    }
    Ok(Some(branch_fetch))
}

/// Fetches the newest commit of the branch, and reopens the repository. A failed fetch is only passed to `report`.
fn fetch_newest_commit(
    repo: &mut Repository,
    remote: &str,
    branch: &str,
    report: &dyn Fn(&str),
) -> Result<BranchFetch, ContextError> {
    let depth = 1;
    if let Err(error) = repo.fetch_history_from(remote, &[FetchTarget::Branch(branch)], depth) {
        report(&format!("could not fetch the branch `{branch}`: {error}"));
        return Ok(BranchFetch::Failure);
    }
    *repo = repo.reopen()?;
    Ok(BranchFetch::Success)
}

/// Returns the name of the branch to fetch for the policy: the target branch, otherwise the default branch.
fn find_policy_branch_name(
    branches: &TargetBranches<'_>,
    ci: &CiContext,
) -> Result<Option<String>, ContextError> {
    if let Some(branch) = ci.target_branch().or(ci.default_branch.as_deref()) {
        return Ok(Some(branch.to_owned()));
    }
    Ok(branches.find_recorded_default_branch()?.map(|tip| tip.branch))
}

/// Returns whether the clone's copy of the branch contains the commit that the event names for it. A copy that lacks the
/// event's commit is out of date, or the commit belongs to an earlier target of the change.
fn has_known_age(branches: &TargetBranches<'_>, branch: &str) -> bool {
    branches
        .find_tip(branch)
        .is_ok_and(|tip| tip.is_some_and(|tip| tip.is_named && tip.field.is_none()))
}

/// Returns the policy revision of a run without a target branch: head itself if the host names it as a commit of the
/// default branch, otherwise the newest commit of the default branch. If the clone does not know the default branch,
/// the revision is unknown.
fn choose_default_branch_revision(
    branches: &TargetBranches<'_>,
    repo: &Repository,
    ci: &CiContext,
    commit_source: CommitSource,
) -> Result<PolicyRevision, ContextError> {
    let name = match branches.find_default_branch_name()? {
        Some(name) => name,
        None if branches.is_unproven() => return Err(branches.unproven_target_error("HEAD")),
        None => {
            let reason = "this clone does not know the remote's default branch (`git remote set-head origin BRANCH` \
                          in the job sets it)";
            return Ok(PolicyRevision::Unknown {
                reason: reason.to_owned(),
            });
        }
    };
    let is_default_branch_run = ci.branch.as_ref() == Some(&name);
    if is_default_branch_run && commit_source.is_host() && is_on_run_branch(repo, ci)? {
        let reason = format!("head is on the default branch `{name}`");
        return Ok(PolicyRevision::Head { reason });
    }
    find_branch_revision(branches, &name, BranchRole::Default)
}

/// Returns whether the commit of the run may be on the branch of the run. The commit of the run is the commit that the
/// host names, otherwise the checked-out commit. If the clone lacks the commit, the result is true.
pub(super) fn is_on_run_branch(repo: &Repository, ci: &CiContext) -> Result<bool, ContextError> {
    let run_commit = match &ci.commit {
        Some(id) => repo.find_commit_with_id(id)?,
        None => repo.head().ok().map(|head| head.commit),
    };
    match run_commit {
        Some(run_commit) => may_be_on_run_branch(repo, ci, &run_commit),
        None => Ok(true),
    }
}

/// Returns the newest known commit of the branch as the policy revision.
fn find_branch_revision(
    branches: &TargetBranches<'_>,
    branch: &str,
    role: BranchRole,
) -> Result<PolicyRevision, ContextError> {
    Ok(match branches.find_tip(branch)? {
        Some(tip) => to_policy_revision(&tip, role),
        None => PolicyRevision::Unknown {
            reason: format!("the {role} branch `{branch}` is not among the remote branches of this clone"),
        },
    })
}

/// Converts the newest commit of a branch to the policy revision.
fn to_policy_revision(tip: &TargetTip, role: BranchRole) -> PolicyRevision {
    PolicyRevision::Commit {
        commit: tip.commit.clone(),
        branch: tip.branch.clone(),
        source: tip.describe_source(role),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_test_support::World;

    #[test]
    fn policy_revision_has_commit_if_it_is_of_a_branch() {
        let world = World::new();
        world.commit("first");
        let repo = Repository::open(&world.work()).unwrap();
        let commit = repo.resolve("HEAD").unwrap();
        let of_branch = PolicyRevision::Commit {
            commit: commit.clone(),
            branch: "main".to_owned(),
            source: "refs/remotes/origin/main".to_owned(),
        };
        assert_eq!(of_branch.commit(), Some(&commit));
        let reason = "a local run".to_owned();
        assert_eq!(
            PolicyRevision::Head {
                reason: reason.clone()
            }
            .commit(),
            None
        );
        assert_eq!(PolicyRevision::Unknown { reason }.commit(), None);
    }
}
