//! Finds out whether a change touches more than the gate configuration.

use crate::gate::selection::lookalike::looks_like_pipeline;
use crate::gate::selection::selection_scope::SelectionScope;
use sluicegate_git::GitError;
use std::cell::Cell;

/// Returns whether the change touches a file outside the gate configuration. A path that is not UTF-8 is treated as
/// such a file, and so is a pipeline, even if a symbolic link of the gate configuration points to it. Returns false if
/// there are no bases of the CI host to compare with.
pub(crate) fn has_changes_outside_gate(scope: &SelectionScope<'_>) -> Result<bool, GitError> {
    if scope.host_bases.is_empty() {
        return Ok(false);
    }
    // The comparison omits deleted files with such a path.
    let has_invalid_name = Cell::new(false);
    let is_wanted = |path: &str| is_other_file(scope, path, &has_invalid_name);
    match scope.head.find_changes(scope.host_bases, &is_wanted) {
        Ok(changes) => Ok(!changes.is_empty() || has_invalid_name.get()),
        Err(GitError::PathNotUtf8 { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Returns whether the path is that of a file outside the gate configuration. Sets `has_invalid_name` if such a path is
/// not UTF-8.
fn is_other_file(scope: &SelectionScope<'_>, path: &str, has_invalid_name: &Cell<bool>) -> bool {
    let is_other_file = !scope.is_gate_file(path) || looks_like_pipeline(path);
    if is_other_file && path.contains(char::REPLACEMENT_CHARACTER) {
        has_invalid_name.set(true);
    }
    is_other_file
}
