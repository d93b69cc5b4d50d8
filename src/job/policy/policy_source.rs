//! The commit that the gate configuration is read from: the reviewed commit, or the newest commit of the target branch.

use crate::job::ci::CiContext;
use crate::job::context::{
    CommitSource, ContextError, PolicyRevision, find_default_branch_policy_revision,
    find_target_policy_revision,
};
use clap::ValueEnum;
use sluicegate_git::Repository;

/// Where to read the gate configuration (sluicegate.yaml, waivers, rules file) from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum PolicySource {
    /// The target branch in CI; the checkout on the default branch and in a local run.
    #[default]
    Auto,
    /// The target branch of the change, or the default branch if the change has no target branch.
    Base,
    /// The checkout.
    Head,
}

/// Returns the revision that the gate configuration is read from, as `--policy` selects it: head, or the target of the
/// change. In a local run and on the default branch, the target is head itself, and `--policy base` selects the
/// default branch instead. Without the CI host's context, the revision is unknown.
pub fn find_policy_revision(
    repo: &Repository,
    ci: Option<&CiContext>,
    source: PolicySource,
    commit_source: CommitSource,
) -> Result<PolicyRevision, ContextError> {
    if source == PolicySource::Head {
        let reason = "--policy head was requested".to_owned();
        return Ok(PolicyRevision::Head { reason });
    }
    let Some(ci) = ci else {
        let reason = "the context of the CI host cannot be read".to_owned();
        return Ok(PolicyRevision::Unknown { reason });
    };
    match find_target_policy_revision(repo, ci, commit_source)? {
        PolicyRevision::Head { .. } if source == PolicySource::Base => {
            find_default_branch_policy_revision(repo, ci, commit_source)
        }
        revision => Ok(revision),
    }
}
