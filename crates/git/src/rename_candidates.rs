//! The files that may be renames of each other: their contents, and how similar they are.

use super::disk_file::{read_disk_file, read_regular_file_metadata};
use super::path_components::CommonComponents;
use super::similarity::{FULL_SIMILARITY, Pieces, max_similarity};
use super::{BlobId, Repository, tree_difference::TreeDifference};
use std::path::PathBuf;

/// Minimum similarity of a rename: git's default.
pub(super) const MIN_SIMILARITY: u64 = FULL_SIMILARITY / 2;
/// Maximum size in bytes of a file that is compared by similarity; a larger one is a rename only if its content is
/// equal.
pub(super) const MAX_COMPARED_SIZE: u64 = 4 * 1024 * 1024;

/// The indices of the two differences that form a rename.
pub(super) struct RenamePair {
    pub added_index: usize,
    pub deleted_index: usize,
    /// False if another file of the change explains the new or the old file equally well.
    pub is_certain: bool,
}

impl RenamePair {
    /// Creates the pair of an added and a deleted file, whose rename is certain.
    pub(super) const fn new(added_index: usize, deleted_index: usize) -> Self {
        Self {
            added_index,
            deleted_index,
            is_certain: true,
        }
    }
}

/// Returns the path of a new file that is on disk and may not be stored elsewhere.
pub(super) type FindDiskPath<'r> = dyn Fn(&str) -> Option<PathBuf> + 'r;

/// Access to the content of a difference, if it is available locally.
pub(super) trait RenameContents {
    /// Returns the size of the added or deleted file in bytes; `None` if it cannot be read.
    fn find_size(&self, difference: &TreeDifference) -> Option<u64>;
    /// Reads the content of the added or deleted file; `None` if it cannot be read.
    fn read_content(&self, difference: &TreeDifference) -> Option<Vec<u8>>;
}

pub(super) struct LocalContents<'r> {
    pub repository: &'r Repository,
    pub find_disk_path: &'r FindDiskPath<'r>,
}

impl LocalContents<'_> {
    /// Returns the path at which the file is on disk; `None` for a deleted file, or one that is not read from disk.
    fn find_path(&self, difference: &TreeDifference) -> Option<PathBuf> {
        difference
            .new
            .and_then(|_| (self.find_disk_path)(&difference.path))
    }
}

impl RenameContents for LocalContents<'_> {
    /// Returns the size of the file in bytes, from git or from disk; `None` if it cannot be read.
    fn find_size(&self, difference: &TreeDifference) -> Option<u64> {
        let state = difference.new.or(difference.old)?;
        if let Some(size) = self.repository.find_local_blob_size(&BlobId::new(state.id)) {
            return Some(size);
        }
        let metadata = read_regular_file_metadata(&self.find_path(difference)?).ok()?;
        Some(metadata.len())
    }

    /// Reads the content of the file, from git or from disk; `None` if it cannot be read.
    fn read_content(&self, difference: &TreeDifference) -> Option<Vec<u8>> {
        let state = difference.new.or(difference.old)?;
        self.repository
            .read_local_blob(&BlobId::new(state.id))
            .or_else(|| read_disk_file(&self.find_path(difference)?, MAX_COMPARED_SIZE).ok()?)
    }
}

/// The content of one or more files that may be renames, with the indices of these files.
pub(super) struct CandidateContent {
    pub size: u64,
    pub file_indices: Vec<usize>,
}

impl CandidateContent {
    /// Returns whether the sizes allow one file to be a rename of the other.
    pub(super) fn can_be_renamed_to(&self, other: &Self) -> bool {
        max_similarity(self.size, other.size) >= MIN_SIMILARITY
    }
}

/// A possible rename, with the values by which the best rename of a file is chosen.
pub(super) struct RankedPair {
    pub similarity: u64,
    pub common_components: CommonComponents,
    pub pair: RenamePair,
}

impl RankedPair {
    /// Returns the key that sorts the best pair first: the most similar pair, then the pair whose paths have more in
    /// common, above all at their end.
    pub(super) const fn rank(&self) -> std::cmp::Reverse<(u64, CommonComponents)> {
        std::cmp::Reverse((self.similarity, self.common_components))
    }

    /// Returns the key that is greater for a pair which is more probably a rename. Paths count first here, because many
    /// files have similar contents.
    pub(super) const fn evidence(&self) -> (usize, u64) {
        (self.common_components.end_count, self.similarity)
    }
}

pub(super) struct RenameSource<'f> {
    pub content: &'f CandidateContent,
    pub pieces: Pieces,
}
