//! Which lines of a file a change touched.

use super::{BlobId, GitError, Repository};
use git2::DiffOptions;
use std::ops::RangeInclusive;

/// Files larger than this, in bytes, are not compared line by line.
const SIZE_LIMIT: u64 = 4 * 1024 * 1024;

impl Repository {
    /// The lines of `new` that `old` does not have, from 1, in order; without `old` all of them. A line that was only
    /// taken away touches none. Of a file that is too large to compare, no line is known to be touched.
    pub fn changed_lines(
        &self,
        old: Option<&BlobId>,
        new: &BlobId,
    ) -> Result<Vec<RangeInclusive<u32>>, GitError> {
        let Some(old) = old else {
            return Ok(vec![1..=u32::MAX]);
        };
        if self.blob_size(old)?.max(self.blob_size(new)?) > SIZE_LIMIT {
            return Ok(Vec::new());
        }
        let find = |blob: &BlobId| {
            self.library
                .find_blob(blob.oid())
                .map_err(GitError::library("read a blob"))
        };
        let (old, new) = (find(old)?, find(new)?);
        let mut options = DiffOptions::new();
        options.context_lines(0).force_text(true);
        let mut ranges = Vec::new();
        let mut hunk = |_: git2::DiffDelta<'_>, hunk: git2::DiffHunk<'_>| {
            if hunk.new_lines() > 0 {
                ranges.push(hunk.new_start()..=hunk.new_start() + (hunk.new_lines() - 1));
            }
            true
        };
        self.library
            .diff_blobs(
                Some(&old),
                None,
                Some(&new),
                None,
                Some(&mut options),
                None,
                None,
                Some(&mut hunk),
                None,
            )
            .map_err(GitError::library("compare two versions of a file"))?;
        Ok(ranges)
    }
}
