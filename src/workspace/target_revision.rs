//! Finds the tip of the target branch, which may be proven only after missing commits are fetched.

use crate::job::ci::CiContext;
use crate::job::context::{self, CommitSource, ContextError, PolicyRevision};
use crate::job::policy::{self, PolicySource};
use sluicegate_git::Repository;

/// Returns the newest commit of the branch that the change goes to, regardless of `--policy`. For a run on the default
/// branch, returns [`PolicyRevision::Head`], unless the branch has a commit that head lacks, for example in a rerun or
/// a scheduled run. In a local run, returns the policy revision.
pub(crate) fn find_target_revision(
    repo: &Repository,
    ci: &CiContext,
    policy: &PolicyRevision,
    commit_source: CommitSource,
) -> Result<PolicyRevision, ContextError> {
    if ci.host.is_local() {
        return Ok(policy.clone());
    }
    let tip = context::find_target_policy_revision(repo, ci, commit_source)?;
    if !matches!(tip, PolicyRevision::Head { .. }) {
        return Ok(tip);
    }
    let newest = policy::find_policy_revision(repo, Some(ci), PolicySource::Base, commit_source)?;
    let is_newer = match (&newest, repo.head()) {
        (PolicyRevision::Commit { commit, .. }, Ok(head)) => !repo.contains_commit(&head.commit, commit)?,
        _ => false,
    };
    Ok(if is_newer { newest } else { tip })
}

/// Returns an unknown revision instead of the error that `tip` is not proven to be the newest commit of its branch. The
/// missing commits may still be fetched, and only commands that review or publish need them;
/// [`Workspace::deepen`](super::Workspace::deepen) fails if the revision remains unknown.
pub(crate) fn allow_unproven_tip(
    tip: Result<PolicyRevision, ContextError>,
) -> Result<PolicyRevision, ContextError> {
    match tip {
        Err(error) if error.is_fixable_by_fetch() => Ok(PolicyRevision::Unknown {
            reason: error.to_string(),
        }),
        tip => tip,
    }
}
