//! A path that differs between two trees or two lists of files.

use super::tree_entries::FileState;
use std::cmp::Ordering;

/// A path that differs between two trees, with the file in each tree; `None` if a tree lacks the path.
#[derive(Clone)]
pub(super) struct TreeDifference {
    pub path: String,
    pub old: Option<FileState>,
    pub new: Option<FileState>,
}

impl TreeDifference {
    /// Returns the file in the new tree, or in the old one for a deleted file.
    pub(super) fn state(&self) -> Option<FileState> {
        self.new.or(self.old)
    }
}

/// Returns the files that differ between two lists or are in only one of them. Both lists must be sorted by path.
pub(super) fn compare_files(
    old: Vec<(String, FileState)>,
    new: &[(String, FileState)],
) -> Vec<TreeDifference> {
    let mut old_files = old.into_iter().peekable();
    let mut new_files = new.iter().cloned().peekable();
    let mut differences = Vec::new();
    loop {
        // The path that is first in the order is compared: `Less` means that only the old list has it, `Greater` that
        // only the new list has it, and `Equal` that both have it.
        let order = match (old_files.peek(), new_files.peek()) {
            (None, None) => return differences,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((old_path, _)), Some((new_path, _))) => old_path.cmp(new_path),
        };
        let old_file = if order.is_le() { old_files.next() } else { None };
        let new_file = if order.is_ge() { new_files.next() } else { None };
        let old_state = old_file.as_ref().map(|(_, state)| *state);
        let new_state = new_file.as_ref().map(|(_, state)| *state);
        if let Some((path, _)) = new_file.or(old_file)
            && old_state != new_state
        {
            differences.push(TreeDifference {
                path,
                old: old_state,
                new: new_state,
            });
        }
    }
}
