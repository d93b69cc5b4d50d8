//! Refuses a move through symbolic links: a link can lead out of the repository, whether git tracks it or not.

use super::file_edit::FileEdit;
use crate::error::Failure;
use crate::job::policy;
use sluicegate_base::text::format_path;
use sluicegate_pipelines::file_moves::PathMove;
use std::path::Path;

/// Returns an error if a file to move or rewrite is reached through a symbolic link, because the change could be
/// outside the repository. A link itself can be moved.
pub(crate) fn reject_linked_files(
    root: &Path,
    path_move: Option<&PathMove>,
    edits: &[FileEdit],
) -> Result<(), Failure> {
    if let Some(path_move) = path_move
        && let Some(directory) = Path::new(&path_move.old_path).parent()
    {
        reject_linked_path(root, directory)?;
    }
    for edit in edits {
        reject_linked_path(root, Path::new(&edit.path))?;
    }
    Ok(())
}

/// Returns an error if a part of the path is a symbolic link. The path is relative to the repository root.
pub(crate) fn reject_linked_path(root: &Path, path: &Path) -> Result<(), Failure> {
    match policy::find_links_in_path(root, &root.join(path)).first() {
        Some(link) => {
            let message = format!("`{}` is behind the symbolic link `{link}`", format_path(path));
            Err(Failure::usage(message).with_hint("pass paths without a symbolic link"))
        }
        None => Ok(()),
    }
}
