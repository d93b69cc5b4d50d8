//! Finds the commit with the gate configuration in force: the tip of the change's target branch on the remote.
//!
//! The merge-base is not used, because a change can choose an old one, nor the commit before a push, because the same
//! person may have pushed it. A default branch is not guessed by its usual name either, because anyone may push a
//! branch with that name. Only remote-tracking references are read, by their full names.

use super::head::holds_hosts;
use super::merged::may_be_of_branch;
use super::{ContextError, RevisionWish};
use crate::base::git::{CommitId, RemoteBranch, Repository, Wanted};
use crate::job::ci::{BaseHint, CiContext, Host, Trigger};

/// The commit that the policy of a run is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyTip {
    /// The reviewed commit itself: in a local run, or on the default branch.
    Head {
        why: String,
    },
    At {
        commit: CommitId,
        /// The branch of this tip, without `refs/heads/`.
        branch: String,
        /// The source of the commit: the full name of the reference, or the host's variable or field.
        source: String,
    },
    Unknown {
        why: String,
    },
}

/// Returns the tip of the target branch in a pull or merge request and a merge queue, otherwise of the default branch.
///
/// If the clone lacks the tip, the commit at which the host saw the branch is used instead, then the commit that the
/// host sets as the base of the change. On the default branch, the policy is read from the reviewed commit itself,
/// unless that is not the host's own commit (`is_hosts`): a job that a comment or another workflow starts runs on the
/// default branch, and may check out any change.
pub fn policy_tip(repo: &Repository, ci: &CiContext, is_hosts: bool) -> Result<PolicyTip, ContextError> {
    if ci.host == Host::None {
        let why = "the run is not on a CI host".to_owned();
        return Ok(PolicyTip::Head { why });
    }
    let seen = ci.target_tip.as_ref().map(|(id, source)| (id.as_str(), *source));
    match &ci.base {
        BaseHint::MergeBaseWith { branch, .. } => tip_of(repo, branch, "target", &[seen]),
        BaseHint::Commit { id, source, target } => match target {
            Some(branch) => tip_of(repo, branch, "target", &[seen, Some((id, source))]),
            None => Ok(PolicyTip::Unknown {
                why: "the host does not name the target branch".to_owned(),
            }),
        },
        BaseHint::DefaultBranch | BaseHint::PushedFrom { .. } | BaseHint::All { .. } => {
            default(repo, ci, is_hosts)
        }
    }
}

/// Returns whether the run reviews the host's own commit: it is checked out, and the job selects no other.
pub fn judges_hosts(repo: &Repository, ci: &CiContext, wish: &RevisionWish) -> Result<bool, ContextError> {
    let checked_out = match repo.head() {
        Ok(checked_out) => checked_out.commit,
        Err(_) => return Ok(true),
    };
    if ci.host == Host::None || !holds_hosts(repo, ci, &checked_out)? {
        return Ok(ci.host == Host::None);
    }
    let named = wish
        .head
        .as_deref()
        .and_then(|revision| repo.named(revision).ok());
    Ok(match (named, &ci.commit) {
        (None, _) => true,
        (Some(named), Some(own)) => named.commit.as_str() == own,
        (Some(named), None) => named.commit == checked_out,
    })
}

/// Fetches the branch that [`policy_tip`] reads, if the clone lacks it, and reports each step to `say`. A failed fetch
/// is only reported.
pub fn fetch_policy(
    repo: &mut Repository,
    ci: &CiContext,
    is_hosts: bool,
    say: &dyn Fn(&str),
) -> Result<(), ContextError> {
    let branch = match &ci.base {
        BaseHint::MergeBaseWith { branch, .. } => Some(branch),
        BaseHint::Commit { target, .. } => target.as_ref(),
        BaseHint::DefaultBranch | BaseHint::PushedFrom { .. } | BaseHint::All { .. } => {
            ci.default_branch.as_ref()
        }
    };
    let is_elsewhere = |branch: &String| !is_hosts || ci.branch.as_ref() != Some(branch);
    let Some(branch) = branch.filter(|branch| ci.host != Host::None && is_elsewhere(branch)) else {
        return Ok(());
    };
    if repo.remote_branch(branch)?.is_none() {
        say(&format!(
            "fetching the branch {branch} to read the gate configuration"
        ));
        match repo.fetch_history(&[Wanted::Branch(branch)], 1) {
            Ok(()) => *repo = repo.reopen()?,
            Err(error) => say(&format!("could not fetch the branch {branch}: {error}")),
        }
    }
    Ok(())
}

fn default(repo: &Repository, ci: &CiContext, is_hosts: bool) -> Result<PolicyTip, ContextError> {
    let is_named = |name: &str| ci.branch.as_deref() == Some(name);
    let is_default = is_hosts && may_be_of_default(repo, ci)?;
    let on_default = |name: &str| is_default && is_named(name);
    let own = |name: &str| {
        let own = ci.commit.as_deref().filter(|_| is_named(name));
        own.map(|id| (id, "the host's own commit"))
    };
    let head = |name: &str| PolicyTip::Head {
        why: format!("head is on the default branch `{name}`"),
    };
    match &ci.default_branch {
        Some(name) if on_default(name) => Ok(head(name)),
        Some(name) => tip_of(repo, name, "default", &[own(name)]),
        None => Ok(match repo.told_default_branch()? {
            Some(tip) if on_default(&tip.branch) => head(&tip.branch),
            Some(tip) => at(tip),
            None => PolicyTip::Unknown {
                why: "this clone does not know the remote's default branch (`git remote set-head origin \
                      BRANCH` in the job sets it)"
                    .to_owned(),
            },
        }),
    }
}

/// Returns whether the host's commit may be on the branch that the host sets. A user who starts a run manually may
/// combine the branch with any commit, so the clone's branch is searched, if there is one.
fn may_be_of_default(repo: &Repository, ci: &CiContext) -> Result<bool, ContextError> {
    let own = ci.commit.as_deref().and_then(|id| repo.commit_with_id(id));
    let branch = ci.branch.as_deref().filter(|_| ci.trigger == Trigger::Any);
    match (own, branch) {
        (Some(own), Some(branch)) => may_be_of_branch(repo, branch, &own, false),
        _ => Ok(true),
    }
}

fn tip_of(
    repo: &Repository,
    branch: &str,
    role: &str,
    named: &[Option<(&str, &str)>],
) -> Result<PolicyTip, ContextError> {
    if let Some(tip) = repo.remote_branch(branch)? {
        return Ok(at(tip));
    }
    let mut named = named.iter().flatten();
    let named = named.find_map(|(id, source)| Some((repo.commit_with_id(id)?, source)));
    Ok(match named {
        Some((commit, source)) => PolicyTip::At {
            commit,
            branch: branch.to_owned(),
            source: format!("{source}, as the {role} branch is not in this clone"),
        },
        None => PolicyTip::Unknown {
            why: format!("the {role} branch `{branch}` is not among the remote branches of this clone"),
        },
    })
}

fn at(tip: RemoteBranch) -> PolicyTip {
    PolicyTip::At {
        commit: tip.tip,
        branch: tip.branch,
        source: tip.reference,
    }
}
