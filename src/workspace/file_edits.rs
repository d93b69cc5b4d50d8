//! Finds out whether the checked-out change edits a file of the gate configuration, before its base is resolved.

use crate::job::context::PolicyRevision;
use crate::job::policy;
use crate::workspace::Workspace;
use sluicegate_git::{CommitId, Repository};

/// Returns whether the checked-out commit has another version of the file than all its merge bases with the policy
/// revision. A branch that only has an older version than the policy does not edit the file. Returns false if that
/// cannot be determined.
pub(super) fn is_edited_in_checkout(
    repo: &Repository,
    policy_revision: &PolicyRevision,
    path: &str,
    limit: u64,
) -> bool {
    let PolicyRevision::Commit { commit, .. } = policy_revision else {
        return false;
    };
    let read_version =
        |commit: &CommitId| policy::read_gate_file_version(repo, &repo.snapshot(commit.clone()), path, limit);
    let Ok(head) = repo.head() else {
        return false;
    };
    let (Ok(version), Ok(bases)) = (
        read_version(&head.commit),
        repo.find_merge_bases(&head.commit, commit),
    ) else {
        return false;
    };
    !bases.is_empty()
        && bases
            .iter()
            .all(|base| read_version(base).is_ok_and(|base_version| base_version != version))
}

impl Workspace<'_> {
    /// Returns whether the checked-out change edits this file of the gate configuration, see
    /// [`is_edited_in_checkout`].
    pub(crate) fn is_edited_in_checkout(&self, path: &str, limit: u64) -> bool {
        is_edited_in_checkout(&self.repo, &self.policy_revision, path, limit)
    }
}
