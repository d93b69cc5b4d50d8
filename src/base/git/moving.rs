//! Moves files as `git mv` does.

use super::{GitError, Repository, listing};

impl Repository {
    /// Whether the index has a file with this path, or below it.
    pub fn tracks_any(&self, path: &str) -> Result<bool, GitError> {
        listing::has_in_index(self, path)
    }

    /// Moves a tracked file or folder, on disk and in the index. Both are paths from the root.
    pub fn move_files(&self, from: &str, to: &str) -> Result<(), GitError> {
        let arguments = ["mv", "--", from, to];
        self.program.answer(self.root(), &arguments).map(drop)
    }
}
