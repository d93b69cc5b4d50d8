//! What the CI host says, held against the repository: which commit is judged, on which branch, against which base.
//!
//! `ci` knows what a host claims and `git` what the clone has. Here the two are settled, and where they do not meet the
//! run ends with what is missing. What must never happen is a review of the wrong commit, or of nothing, that looks
//! green: a base that cannot be trusted is an error or means everything, never a guess.

mod base;
mod comparison;
mod deepen;
mod error;
mod head;
mod policy;
mod remote;
mod target;

pub use comparison::{Comparison, settle_checkout};
pub use deepen::{Subject, deepen};
pub use error::ContextError;
pub use policy::{PolicyTip, fetch_policy, policy_tip};
pub use target::{Target, Wish};

use crate::ci::CiContext;
use crate::git::Repository;
use base::Search;

/// Settles what this run is about, with what the clone has.
pub fn settle(repo: &Repository, ci: &CiContext, wish: &Wish) -> Result<Target, ContextError> {
    settle_or_ask(repo, ci, wish, false)
}

/// With `may_fetch`, whatever is missing is an error, though there might be something second best.
fn settle_or_ask(
    repo: &Repository,
    ci: &CiContext,
    wish: &Wish,
    may_fetch: bool,
) -> Result<Target, ContextError> {
    let idle = ci.nothing_to_do.as_ref().filter(|_| !wish.names_a_commit());
    if let Some(why) = idle {
        return Ok(Target::idle(ci, repo.head()?.commit, why));
    }
    let settle = || {
        let head = head::choose(repo, ci, wish)?;
        let search = Search {
            repo,
            ci,
            head: &head,
            beyond_head: false,
            may_fetch,
        };
        let base = search.run(wish)?;
        Ok(Target::new(ci, head, base))
    };
    settle().map_err(|error: ContextError| error.at(ci.host))
}
