//! The files that a walk through a tree looks for.

use super::tree_entries::{FileKind, path_to_text};
use std::collections::btree_set;
use std::iter::Peekable;

/// The files that a walk looks for. The walk visits all paths in the order of their bytes.
pub(super) enum WantedFiles<'w> {
    /// The files whose path the function accepts.
    Matching(&'w dyn Fn(&str) -> bool),
    /// The files at these paths; those that the walk has passed are consumed.
    Listed(Peekable<btree_set::Iter<'w, &'w str>>),
    Submodules,
}

impl WantedFiles<'_> {
    /// Returns whether the directory may contain a wanted file. Its path ends in `/`.
    pub(super) fn may_be_in_folder(&mut self, folder: &[u8]) -> bool {
        match self {
            Self::Matching(_) | Self::Submodules => true,
            Self::Listed(paths) => {
                skip_paths_before(paths, folder).is_some_and(|path| path.as_bytes().starts_with(folder))
            }
        }
    }

    /// Returns whether the file of this kind at this path is wanted.
    pub(super) fn has_file(&mut self, path: &[u8], kind: Option<FileKind>) -> bool {
        match self {
            Self::Matching(is_wanted) => is_wanted(&path_to_text(path)),
            Self::Listed(paths) => {
                skip_paths_before(paths, path).is_some_and(|wanted_path| wanted_path.as_bytes() == path)
            }
            Self::Submodules => kind == Some(FileKind::Submodule),
        }
    }
}

/// Skips the paths before this one in the order of bytes, and returns the next one.
fn skip_paths_before<'w>(paths: &mut Peekable<btree_set::Iter<'w, &'w str>>, path: &[u8]) -> Option<&'w str> {
    while paths
        .next_if(|wanted_path| wanted_path.as_bytes() < path)
        .is_some()
    {}
    paths.peek().map(|wanted_path| **wanted_path)
}

/// What to do with a wanted file whose path is not UTF-8.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InvalidNames {
    Reject,
    Skip,
}
