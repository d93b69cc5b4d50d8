//! The source of a commit that is on no branch of the clone, for a hint to fetch it.

use crate::job::ci::{CiContext, Host};
use sluicegate_git::{Repository, is_full_id};

/// A remote and one of its references or commits.
#[derive(Debug)]
pub struct FetchSource {
    pub remote: String,
    pub reference: String,
}

/// Returns where to fetch the commit `id`, if more history of the clone's branches would not contain it: the commit
/// belongs to a fork, or the clone is not shallow. `None` for a shortened id.
pub(super) fn find_fetch_source(repo: &Repository, ci: &CiContext, id: &str) -> Option<FetchSource> {
    if !is_full_id(id) || (repo.is_shallow() && !ci.fork) {
        return None;
    }
    let reference = match (ci.host, ci.pull_request) {
        (Host::GitHub | Host::Gitea, Some(number)) => format!("refs/pull/{number}/head"),
        (Host::GitLab, Some(number)) => format!("refs/merge-requests/{number}/head"),
        _ => id.to_owned(),
    };
    let remote = repo.first_remote_name().ok()?;
    Some(FetchSource { remote, reference })
}
