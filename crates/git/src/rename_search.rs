//! The files of a change that are not in a rename yet.

use super::equal_contents::find_max_component_count;
use super::rename_candidates::{MAX_COMPARED_SIZE, RenameContents, RenamePair};
use super::similarity::Pieces;
use super::tree_entries::FileState;
use super::{FileKind, tree_difference::TreeDifference};
use std::collections::HashSet;

/// Maximum number of pieces of each side that are compared with each other; a piece needs 16 bytes.
const MAX_PIECES: usize = 8 * 1024 * 1024;

/// The added and the deleted files among which renames are searched, as indices of the differences.
pub(super) struct RenameSearch<'a> {
    pub(super) differences: &'a [TreeDifference],
    pub(super) added_indices: Vec<usize>,
    pub(super) deleted_indices: Vec<usize>,
    pub(super) renames: Vec<RenamePair>,
    pub(super) max_pieces: usize,
}

impl<'a> RenameSearch<'a> {
    /// Creates the search for renames among the added and deleted files of these differences.
    pub(super) fn new(differences: &'a [TreeDifference]) -> Self {
        let (mut added_indices, mut deleted_indices) = (Vec::new(), Vec::new());
        for (index, difference) in differences.iter().enumerate() {
            if difference.old.is_none() {
                added_indices.push(index);
            }
            if difference.new.is_none() {
                deleted_indices.push(index);
            }
        }
        Self {
            differences,
            added_indices,
            deleted_indices,
            renames: Vec::new(),
            max_pieces: MAX_PIECES,
        }
    }

    /// Creates a search in the same differences without any file.
    pub(super) const fn without_files(&self) -> Self {
        Self {
            differences: self.differences,
            added_indices: Vec::new(),
            deleted_indices: Vec::new(),
            renames: Vec::new(),
            max_pieces: self.max_pieces,
        }
    }

    /// Returns the content and the kind of the file in head, or in base for a deleted file.
    pub(super) fn state(&self, index: usize) -> Option<FileState> {
        self.differences[index].state()
    }

    /// Returns the kind of the file in head, or in base for a deleted file.
    pub(super) fn file_kind(&self, index: usize) -> Option<FileKind> {
        self.state(index).map(|state| state.kind)
    }

    pub(super) fn path(&self, index: usize) -> &'a str {
        &self.differences[index].path
    }

    /// Returns whether the file is a regular one and `matches_path` accepts its path.
    pub(super) fn is_matching_regular_file(&self, index: usize, matches_path: fn(&str) -> bool) -> bool {
        self.file_kind(index) == Some(FileKind::Regular) && matches_path(self.path(index))
    }

    pub(super) fn file_name(&self, index: usize) -> &'a str {
        let path = self.path(index);
        path.rsplit_once('/').map_or(path, |(_, name)| name)
    }

    /// Returns the number of components that the paths of an added and a deleted file may have in common.
    pub(super) fn max_common_components(&self) -> usize {
        find_max_component_count(self.differences, &self.added_indices)
            .min(find_max_component_count(self.differences, &self.deleted_indices))
    }

    /// Adds the pairs and removes their files from the search.
    pub(super) fn add_renames(&mut self, pairs: Vec<RenamePair>) {
        let paired_indices: HashSet<usize> = pairs
            .iter()
            .flat_map(|pair| [pair.added_index, pair.deleted_index])
            .collect();
        self.added_indices.retain(|index| !paired_indices.contains(index));
        self.deleted_indices
            .retain(|index| !paired_indices.contains(index));
        self.renames.extend(pairs);
    }

    /// Returns the file's size; `None` if the file cannot be compared: too large, not a regular file, or unreadable.
    pub(super) fn find_comparable_size(&self, contents: &dyn RenameContents, index: usize) -> Option<u64> {
        if self.file_kind(index) != Some(FileKind::Regular) {
            return None;
        }
        contents
            .find_size(self.differences.get(index)?)
            .filter(|size| *size <= MAX_COMPARED_SIZE)
    }

    /// Reads a file and cuts it into pieces; `None` if its content is not available locally.
    pub(super) fn read_pieces(&self, contents: &dyn RenameContents, index: usize) -> Option<Pieces> {
        Some(Pieces::from_content(
            &contents.read_content(self.differences.get(index)?)?,
        ))
    }

    pub(super) fn count_possible_pairs(&self) -> usize {
        self.added_indices
            .len()
            .saturating_mul(self.deleted_indices.len())
    }
}
