//! An opened repository: opened by libgit2 directly, or through a stand-in.

use git2::Repository as Library;
use std::path::PathBuf;

/// An opened repository and the facts found while opening it.
pub(super) struct OpenedRepository {
    pub library: Library,
    pub root: PathBuf,
    pub bare: bool,
    /// The repository belongs to another user of the machine, and the current user has not declared it safe.
    pub foreign: bool,
    /// The directory with the repository's own files; `library` may read a stand-in.
    pub git_dir: PathBuf,
    pub common_dir: PathBuf,
    pub stand_in: Option<tempfile::TempDir>,
    /// True for a directory without git; `library` reads an empty repository.
    pub plain: bool,
}
