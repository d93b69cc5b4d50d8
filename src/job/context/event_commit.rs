//! A commit that the event names for a branch of the target's repository.

use sluicegate_git::CommitId;

/// A commit that the event names for the target.
pub(super) struct EventCommit {
    pub commit: CommitId,
    pub field: &'static str,
    pub role: EventRole,
}

/// The role of a commit that the event names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EventRole {
    /// The commit was the newest one of the target.
    Tip,
    /// The change started at this commit of the target.
    Base,
    /// The run is about this commit.
    Run,
}
