//! Finds the changes to the gate configuration, and which of them relax it.

use crate::gate::selection::selection_scope::SelectionScope;
use crate::job::policy::ChangeDescription;
use sluicegate_git::{Differences, GitError};
use sluicegate_pipelines::findings::GateChange;
use std::collections::BTreeMap;

/// The changes to the gate configuration, by the path of the changed file.
#[derive(Default)]
pub(super) struct GateFileChanges {
    pub changes: Vec<GateChange>,
    /// The files that the change relaxes, if only in one respect.
    pub relaxed_files: Vec<String>,
}

/// Finds the changes to the gate configuration since the host's bases of `scope`. If these are also the bases of the
/// review, uses `differences`, which are relative to the bases of the review. If a file differs from several bases,
/// lists each distinct sentence once.
pub(super) fn find_gate_file_changes(
    scope: &SelectionScope<'_>,
    differences: &Differences<'_>,
) -> Result<GateFileChanges, GitError> {
    let is_gate_file = |path: &str| scope.is_gate_file(path);
    let changes_by_base = if scope.host_bases.is_empty() {
        return Ok(GateFileChanges::default());
    } else if scope.host_bases == scope.bases {
        differences.find_changes_by_base(&is_gate_file)
    } else {
        let host_differences = scope.head.compare_with_bases(scope.host_bases, &is_gate_file)?;
        host_differences.find_changes_by_base(&is_gate_file)
    };
    let mut descriptions: BTreeMap<String, ChangeDescription> = BTreeMap::new();
    for (base, changes) in scope.host_bases.iter().zip(changes_by_base) {
        for change in changes {
            let description = (scope.describe_change)(base, &change);
            descriptions.entry(change.path).or_default().add(description);
        }
    }
    let mut gate_file_changes = GateFileChanges::default();
    for (path, description) in descriptions {
        if description.relaxes_gate {
            gate_file_changes.relaxed_files.push(path.clone());
        }
        gate_file_changes.changes.push(GateChange {
            path,
            descriptions: description.sentences,
        });
    }
    Ok(gate_file_changes)
}
