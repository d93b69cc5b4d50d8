//! Finds the tip of the target branch, which may be proven only after missing commits are fetched.

use crate::job::ci::CiContext;
use crate::job::context::{self, ContextError, PolicyTip};
use crate::job::policy::{self, PolicySource};
use sluicegate_git::Repository;

/// Returns the tip of the target branch; on the default branch, its tip on the remote, which may be newer than the
/// commit of a rerun or of a scheduled run. A local run has one only with `--policy base`.
pub(crate) fn find_newest_target_tip(
    repo: &Repository,
    ci: &CiContext,
    policy: &PolicyTip,
    is_host_commit: bool,
) -> Result<PolicyTip, ContextError> {
    if ci.host.is_local() {
        return Ok(policy.clone());
    }
    let tip = context::find_target_tip(repo, ci, is_host_commit)?;
    if !matches!(tip, PolicyTip::Head { .. }) {
        return Ok(tip);
    }
    let newest = policy::find_policy_tip(repo, Some(ci), PolicySource::Base, is_host_commit)?;
    let is_newer = match (&newest, repo.head()) {
        (PolicyTip::Commit { commit, .. }, Ok(head)) => !repo.contains_commit(&head.commit, commit)?,
        _ => false,
    };
    Ok(if is_newer { newest } else { tip })
}

/// Returns an unknown tip if it cannot be proven yet: the missing commits may still be fetched, and only commands that
/// review or publish need it. `Workspace::deepen` fails if it remains so.
pub(crate) fn or_unknown(tip: Result<PolicyTip, ContextError>) -> Result<PolicyTip, ContextError> {
    match tip {
        Err(error) if error.is_missing_commits() => Ok(PolicyTip::Unknown {
            reason: error.to_string(),
        }),
        tip => tip,
    }
}
