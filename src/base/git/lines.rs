//! Which lines of a file a change touched.

use super::{BlobId, GitError, Repository};
use git2::{DiffOptions, Patch};
use std::ops::RangeInclusive;

/// Files larger than this, in bytes, are not compared line by line.
const SIZE_LIMIT: u64 = 4 * 1024 * 1024;

impl Repository {
    /// Returns the lines of `new` that `old` does not have, from 1, in order; without `old` all of them. Lines that were
    /// only deleted touch the line before them. A file that is too large to compare has no touched lines.
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
        // Of buffers: for a blob, libgit2 would read the whole index to look for an attribute of it.
        let patch = Patch::from_buffers(&old, None, new, None, Some(&mut options)).map_err(&failed)?;
        let mut ranges = Vec::with_capacity(patch.num_hunks());
        for index in 0..patch.num_hunks() {
            let (hunk, _) = patch.hunk(index).map_err(&failed)?;
            ranges.push(hunk.new_start()..=hunk.new_start() + hunk.new_lines().saturating_sub(1));
        }
        Ok(ranges)
    }
}
