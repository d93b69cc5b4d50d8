//! The changes that the selection compared: they show which pipelines were renamed, modified or deleted.

use super::selection_reason::SelectionReason;
use sluicegate_git::{Change, CommitId};

/// A changed pipeline, and why it is or is not reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub change: Change,
    pub reason: SelectionReason,
}

/// The changed pipelines that the selection found.
#[derive(Debug, Clone, Default)]
pub(crate) struct ComparedChanges {
    /// The commits that the files were compared with.
    pub bases: Vec<CommitId>,
    pub changes: Vec<Change>,
}

/// Returns the changes that show which pipelines were renamed or deleted: those since the host's bases, if there are
/// any, because each candidate of a run without bases looks like an added pipeline.
pub(super) fn list_changes<'c>(
    candidates: &'c [Candidate],
    host_changes: &'c ComparedChanges,
) -> impl Iterator<Item = &'c Change> {
    let has_host_bases = !host_changes.bases.is_empty();
    let candidates = if has_host_bases { &[] } else { candidates };
    candidates
        .iter()
        .map(|candidate| &candidate.change)
        .chain(&host_changes.changes)
}
