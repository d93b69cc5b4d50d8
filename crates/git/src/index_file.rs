//! Opens an index file, and reads the marks of its entries. libgit2 reads neither a split index nor a sparse one, so
//! the git program expands a copy of these (<https://git-scm.com/docs/index-format>).

use super::discovery::is_git_dir;
use super::disk_file::is_missing;
use super::stand_in::{copy_to_temporary_directory, create_temporary_directory};
use super::{GitError, Repository};
use git2::{Index, IndexEntry, IndexEntryExtendedFlag, IndexEntryFlag};
use std::path::Path;

/// The command that rewrites an index with one entry for each file, in one file, whatever the repository's settings.
const EXPAND_ARGUMENTS: [&str; 7] = [
    "-c",
    "index.sparse=false",
    "-c",
    "core.splitIndex=false",
    "update-index",
    "--no-split-index",
    "--force-write-index",
];

impl Repository {
    /// Returns whether the index at this path, relative to the root, can be one of this repository: it exists, and is
    /// not in the git directory of another one. A hook may examine another repository than the one whose index git
    /// passes to it. There, the path may lead to no file, which libgit2 would read as an empty index.
    pub fn can_own_index(&self, index_path: &Path) -> bool {
        let path = self.root().join(index_path);
        if !path.is_file() {
            return false;
        }
        let Some(folder) = path.parent().and_then(|folder| folder.canonicalize().ok()) else {
            return false;
        };
        let own_dir = self.program.git_dir().canonicalize();
        match folder.ancestors().find(|ancestor| is_git_dir(ancestor)) {
            Some(git_dir) => own_dir.is_ok_and(|own_dir| own_dir == git_dir),
            None => true,
        }
    }

    /// Returns whether a sparse checkout omits the tracked file at this path from the disk.
    pub fn omits_from_disk(&self, path: &str) -> Result<bool, GitError> {
        // Git stores the patterns of a sparse checkout in this file, so the index need not be read without it.
        let patterns = self.git_dir().map(|git_dir| git_dir.join("info/sparse-checkout"));
        if !patterns.is_some_and(|patterns| patterns.exists()) || !is_missing(&self.root().join(path)) {
            return Ok(false);
        }
        let entry = open_index(self, None)?.get_path(Path::new(path), 0);
        Ok(entry.is_some_and(|entry| is_skipped_entry(&entry)))
    }
}

/// Opens the repository's index, or the index at `index_path`, a path relative to the root. If libgit2 does not support
/// the form of the index, opens a copy that the git program has expanded. A bare repository has no index.
pub(super) fn open_index(repository: &Repository, index_path: Option<&Path>) -> Result<Index, GitError> {
    if repository.is_bare() {
        return Err(GitError::NoWorkTree {
            root: repository.root().to_owned(),
        });
    }
    let path = match index_path {
        Some(file) => repository.root().join(file),
        None => repository.program.git_dir().join("index"),
    };
    Index::open(&path).or_else(|error| {
        open_expanded_copy(repository, &path).map_err(|source| match source {
            GitError::TemporaryDirectory { .. } | GitError::TemporaryFile { .. } => source,
            source => GitError::Index {
                path,
                reason: error.message().to_owned(),
                source: Box::new(source),
            },
        })
    })
}

/// Opens a copy of the index that the git program has expanded. libgit2 keeps the entries in memory, so the copy is
/// deleted at once. Git finds the rest of a split index in the git directory.
fn open_expanded_copy(repository: &Repository, path: &Path) -> Result<Index, GitError> {
    let folder = create_temporary_directory("sluicegate-index-")?;
    let copy = folder.path().join("index");
    copy_to_temporary_directory(path, &copy)?;
    repository
        .program
        .run_locally(repository.root(), &EXPAND_ARGUMENTS, Some(&copy))?;
    Index::open(&copy).map_err(GitError::library("read the index"))
}

/// Returns whether the index marks the file as one that a sparse checkout omits (`skip-worktree`).
pub(super) fn is_skipped_entry(entry: &IndexEntry) -> bool {
    IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended).is_skip_worktree()
}

/// Returns whether the index marks the file as not to be checked on disk (`skip-worktree`, `assume-unchanged`).
pub(super) fn is_hidden_entry(entry: &IndexEntry) -> bool {
    // Git's flag `valid` is the one that `git update-index --assume-unchanged` sets.
    is_skipped_entry(entry) || IndexEntryFlag::from_bits_truncate(entry.flags).is_valid()
}
