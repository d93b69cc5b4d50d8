//! Finds the tip of the target branch, which may be proven only after missing commits are fetched.

use crate::job::ci::CiContext;
use crate::job::context::{self, ContextError, PolicyTip};
use crate::job::policy::{self, Choice};
use sluicegate_git::Repository;

/// Returns the tip of the target branch; on the default branch, its tip on the remote, which may be newer than the
/// commit of a rerun or of a scheduled run. A local run has one only with `--policy base`.
pub(crate) fn target_tip(
    repo: &Repository,
    ci: &CiContext,
    policy: &PolicyTip,
    is_hosts: bool,
) -> Result<PolicyTip, ContextError> {
    if ci.host.is_local() {
        return Ok(policy.clone());
    }
    let tip = context::policy_tip(repo, ci, is_hosts)?;
    if !matches!(tip, PolicyTip::Head { .. }) {
        return Ok(tip);
    }
    let newest = policy::tip(repo, Some(ci), Choice::Base, is_hosts)?;
    let is_newer = match (&newest, repo.head()) {
        (PolicyTip::At { commit, .. }, Ok(head)) => !repo.contains(&head.commit, commit)?,
        _ => false,
    };
    Ok(if is_newer { newest } else { tip })
}

/// Returns an unknown tip if it cannot be proven yet: the missing commits may still be fetched, and only commands that
/// review or publish need it. `Workspace::deepen` fails if it remains so.
pub(crate) fn or_unknown(tip: Result<PolicyTip, ContextError>) -> Result<PolicyTip, ContextError> {
    match tip {
        Err(error) if error.is_of_missing_commits() => Ok(PolicyTip::Unknown {
            why: error.to_string(),
        }),
        tip => tip,
    }
}
