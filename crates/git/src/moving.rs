//! Moves files as `git mv` does.

use super::{GitError, Repository, listing};
use std::collections::BTreeSet;

impl Repository {
    /// Returns the paths in the index that are equal to `path` or below it.
    pub fn tracked_below(&self, path: &str) -> Result<BTreeSet<String>, GitError> {
        listing::in_index(self, path)
    }

    /// Moves a tracked file or directory, on disk and in the index. Both paths start at the root.
    pub fn move_files(&self, from: &str, to: &str) -> Result<(), GitError> {
        let arguments = ["mv", "--", from, to];
        self.program.answer(self.root(), &arguments, None).map(drop)
    }
}
