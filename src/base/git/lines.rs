//! Finds the lines of a file that a change touched.

use super::{BlobId, GitError, Repository};
use git2::{DiffOptions, Patch};
use std::ops::RangeInclusive;

/// Maximum size of a file that is compared line by line, in bytes.
const SIZE_LIMIT: u64 = 4 * 1024 * 1024;

impl Repository {
    /// Returns the lines of `new` that are not in `old`, counted from 1, in order; without `old`, all lines. A
    /// deletion touches the line before it. A file that is too large to compare has no touched lines.
    pub fn changed_lines(
        &self,
        old: Option<&BlobId>,
        new: &[u8],
    ) -> Result<Vec<RangeInclusive<u32>>, GitError> {
        let Some(old) = old else {
            return Ok(vec![1..=u32::MAX]);
        };
        if new.len() as u64 > SIZE_LIMIT {
            return Ok(Vec::new());
        }
        let old = match self.read_blob(old, SIZE_LIMIT) {
            Err(GitError::TooLarge { .. }) => return Ok(Vec::new()),
            read => read?,
        };
        let mut options = DiffOptions::new();
        options.context_lines(0).force_text(true);
        let failed = GitError::library("compare two versions of a file");
        // Uses buffers, because for a blob libgit2 would read the entire index to look for an attribute.
        let patch = Patch::from_buffers(&old, None, new, None, Some(&mut options)).map_err(&failed)?;
        let mut ranges = Vec::with_capacity(patch.num_hunks());
        for index in 0..patch.num_hunks() {
            let (hunk, _) = patch.hunk(index).map_err(&failed)?;
            ranges.push(hunk.new_start()..=hunk.new_start() + hunk.new_lines().saturating_sub(1));
        }
        Ok(ranges)
    }
}
