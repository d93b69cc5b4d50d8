//! What the CI host says, held against the repository: which commit is judged, on which branch, against which base.
//!
//! `ci` knows what a host claims and `git` what the clone has. Here the two are settled, and where they do not meet the
//! run ends with what is missing. What must never happen is a review of the wrong commit, or of nothing, that looks
//! green: a base that cannot be trusted is an error or means everything, never a guess.

mod base;
mod deepen;
mod error;
mod head;
mod merged;
mod policy;
mod remote;
mod settle;
mod target;
mod wish;

pub use deepen::{DeepenSubject, deepen};
pub use error::ContextError;
pub use merged::{may_be_of_branch, require_merged};
pub use policy::{PolicyTip, fetch_policy, judges_hosts, policy_tip};
pub use target::{Comparison, Settled, Target};
pub use wish::RevisionWish;

use crate::base::git::Repository;
use crate::job::ci::CiContext;
use settle::Settling;

/// Settles which commit this run judges, with what the clone has.
pub fn settle(repo: &Repository, ci: &CiContext, wish: &RevisionWish) -> Result<Target, ContextError> {
    settling(repo, ci, wish).commit()
}

/// Settles what the files of the working tree or the index are compared with.
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
