//! A repository as it was opened: by libgit2 as it is, or through a stand-in.

use git2::Repository as Library;
use std::path::PathBuf;

/// What opening found out, besides the repository itself.
pub(super) struct Opened {
    pub library: Library,
    pub root: PathBuf,
    pub bare: bool,
    /// Belongs to another user of the machine, who has not been declared safe.
    pub foreign: bool,
    /// Where the repository's own files are; `library` may read a stand-in.
    pub git_dir: PathBuf,
    pub common_dir: PathBuf,
    pub stand_in: Option<tempfile::TempDir>,
}
