//! What files are compared with, wherever they are: in a commit, in the index or on disk.

use super::base::{Base, Search};
use super::{ContextError, Target, Wish, head::Head};
use crate::ci::{CiContext, Host};
use crate::git::{CommitId, GitError, Head as CheckedOut, Repository};

/// The base of some files, and what is known about them. Unlike a [`Target`] it needs no remote and no commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The host.
    pub ci: Host,
    /// The event, in the host's word.
    pub event: String,
    /// The branch that the host names, else the one that is checked out, if any.
    pub branch: Option<String>,
    /// The commit that holds the files; none for the index and the working tree.
    pub head: Option<CommitId>,
    /// The commit to compare with; none: every pipeline is taken.
    pub base: Option<CommitId>,
    /// Where `base` came from, or why there is none; for people.
    pub base_source: String,
    /// What the user should know, though it does not stop the run.
    pub warnings: Vec<String>,
    /// Why there is nothing to judge.
    pub nothing_to_do: Option<String>,
}

impl From<&Target> for Comparison {
    fn from(target: &Target) -> Self {
        Self {
            ci: target.ci,
            event: target.event.clone(),
            branch: target.branch.clone(),
            head: Some(target.head.clone()),
            base: target.base.clone(),
            base_source: target.base_source.clone(),
            warnings: target.warnings.clone(),
            nothing_to_do: target.nothing_to_do.clone(),
        }
    }
}

/// Settles what the files of the working tree or the index are compared with.
pub fn settle_checkout(repo: &Repository, ci: &CiContext, wish: &Wish) -> Result<Comparison, ContextError> {
    settle_checkout_or_ask(repo, ci, wish, false)
}

/// With `may_fetch`, whatever is missing is an error, though there might be something second best.
pub(super) fn settle_checkout_or_ask(
    repo: &Repository,
    ci: &CiContext,
    wish: &Wish,
    may_fetch: bool,
) -> Result<Comparison, ContextError> {
    let idle = ci.nothing_to_do.as_ref().filter(|_| !wish.names_a_commit());
    if let Some(why) = idle {
        let base = Base::everything(format!("nothing to do: {why}"));
        return Ok(Comparison {
            nothing_to_do: Some(why.clone()),
            ..comparison(ci, ci.branch.clone(), base)
        });
    }
    match repo.head() {
        Ok(head) => beyond(repo, ci, wish, head, may_fetch).map_err(|error| error.at(ci.host)),
        Err(GitError::NoCommit { .. }) if wish.base.is_none() => {
            let base = Base::everything("there is no commit yet");
            Ok(comparison(ci, ci.branch.clone(), base))
        }
        Err(error) => Err(error.into()),
    }
}

fn beyond(
    repo: &Repository,
    ci: &CiContext,
    wish: &Wish,
    checked_out: CheckedOut,
    may_fetch: bool,
) -> Result<Comparison, ContextError> {
    let head = Head {
        commit: checked_out.commit,
        branch: ci.branch.clone().or(checked_out.branch),
        is_hosts: true,
        warnings: Vec::new(),
    };
    let search = Search {
        repo,
        ci,
        head: &head,
        beyond_head: ci.host == Host::None,
        may_fetch,
    };
    let base = search.run(wish)?;
    Ok(comparison(ci, head.branch, base))
}

fn comparison(ci: &CiContext, branch: Option<String>, base: Base) -> Comparison {
    Comparison {
        ci: ci.host,
        event: ci.event.clone(),
        branch,
        head: None,
        base: base.commit,
        base_source: base.source,
        warnings: base.warnings,
        nothing_to_do: None,
    }
}
