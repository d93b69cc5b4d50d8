//! Compares the CI host's context with the repository, and resolves the commit to review, its branch and its base.
//!
//! `ci` reads the host's claims, and `git` reads the clone. If they contradict each other, the run fails and reports
//! what is missing. A review of the wrong commit, or of no pipeline, must never pass: if a base cannot be trusted, the
//! run fails or reviews everything. It never guesses.

mod base;
mod base_commits;
mod branch_origin;
mod deepen;
mod earlier_commit;
mod error;
mod head;
mod merged;
mod policy;
mod remote;
mod settle;
mod target;
mod target_branches;
mod wish;

pub use base_commits::EarlierCommit;
pub(crate) use base_commits::short_ids;
pub use branch_origin::BranchOrigin;
pub use deepen::{DeepenSubject, deepen};
pub use error::ContextError;
pub use merged::{may_be_of_branch, require_merged};
pub use policy::{
    PolicyTip, default_tip, describe_tip_age, fetch_own_branch, fetch_policy, judges_hosts, policy_tip,
};
pub use target::{Comparison, Settled, Target};
pub use wish::RevisionWish;

use crate::job::ci::CiContext;
use settle::Settling;
use sluicegate_git::Repository;

/// Resolves the commit that this run reviews, from the commits in the clone.
pub fn settle(repo: &Repository, ci: &CiContext, wish: &RevisionWish) -> Result<Target, ContextError> {
    settling(repo, ci, wish).commit()
}

/// Resolves the base of the files in the working tree or the index.
pub fn settle_checkout(
    repo: &Repository,
    ci: &CiContext,
    wish: &RevisionWish,
) -> Result<Comparison, ContextError> {
    settling(repo, ci, wish).checkout()
}

const fn settling<'a>(repo: &'a Repository, ci: &'a CiContext, wish: &'a RevisionWish) -> Settling<'a> {
    Settling {
        repo,
        ci,
        wish,
        may_fetch: false,
    }
}
