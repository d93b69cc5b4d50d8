//! Compares the CI host's context with the repository, and resolves the commit to review, its branch and its base.
//!
//! `ci` reads the host's claims, and `git` reads the clone. If they contradict each other, the run fails and reports
//! what is missing. A review of the wrong commit, or of no pipeline, must never pass: if a base cannot be trusted, the
//! run fails or reviews everything. It never guesses.

mod base;
mod base_search;
mod branch_origin;
mod branch_role;
mod command_hint;
mod commit_source;
mod deepen;
mod default_branch_base;
mod earlier_commit;
mod empty_change;
mod error;
mod event_commit;
mod event_commits;
mod fetch_source;
mod head;
mod history_remedy;
mod host_commit;
mod merge_check;
mod merge_unknown_reason;
mod policy_revision;
mod remote_check;
mod requested_revisions;
mod revision_age;
mod target;
mod target_branches;
mod target_resolver;

pub use base::EarlierCommit;
pub(crate) use base::join_short_ids;
pub use branch_origin::BranchOrigin;
pub use commit_source::CommitSource;
pub use deepen::{DeepenSubject, fetch_missing_history};
pub use error::ContextError;
pub use host_commit::is_merge_of_host_commit;
pub use merge_check::{may_be_on_branch, recognize_default_branch_run, require_merged};
pub use policy_revision::{
    BranchFetch, PolicyRevision, RefetchBranch, fetch_policy_branch, fetch_run_branch, find_commit_source,
    find_default_branch_policy_revision, find_target_policy_revision,
};
pub use requested_revisions::RequestedRevisions;
pub use revision_age::describe_revision_age;
pub use target::{Comparison, RunSubject, Target};

use crate::job::ci::CiContext;
use branch_role::BranchRole;
use sluicegate_git::Repository;
use target_resolver::TargetResolver;

/// Resolves the commit that this run reviews, from the commits in the clone.
pub fn resolve_target(
    repo: &Repository,
    ci: &CiContext,
    revisions: &RequestedRevisions,
) -> Result<Target, ContextError> {
    build_target_resolver(repo, ci, revisions).resolve_commit()
}

/// Resolves the base for a review of the files in the working tree or the index, from the commits in the clone.
pub fn resolve_checkout(
    repo: &Repository,
    ci: &CiContext,
    revisions: &RequestedRevisions,
) -> Result<Comparison, ContextError> {
    build_target_resolver(repo, ci, revisions).resolve_checkout()
}

/// Creates a resolver that uses only the commits in the clone.
const fn build_target_resolver<'a>(
    repo: &'a Repository,
    ci: &'a CiContext,
    revisions: &'a RequestedRevisions,
) -> TargetResolver<'a> {
    TargetResolver {
        repo,
        ci,
        revisions,
        may_fetch: false,
    }
}
