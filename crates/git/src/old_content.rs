//! Finds the lines of a file that a change touched.

use super::{BlobId, GitError, Repository};
use git2::{DiffOptions, Patch};
use std::ops::RangeInclusive;

/// Maximum size of a file that is compared line by line, in bytes.
const MAX_COMPARED_SIZE: u64 = 4 * 1024 * 1024;

/// The content of a file before a change, to compare its lines.
pub enum OldContent {
    NewFile,
    /// The file was too large to compare line by line.
    TooLarge,
    Loaded(Vec<u8>),
}

impl Repository {
    /// Reads the content of a file before a change, unless it is too large to compare. A new file has no old blob:
    /// `old` is `None`.
    pub fn read_old_content(&self, old: Option<&BlobId>) -> Result<OldContent, GitError> {
        let Some(old) = old else {
            return Ok(OldContent::NewFile);
        };
        match self.read_blob(old, MAX_COMPARED_SIZE) {
            Err(GitError::TooLarge { .. }) => Ok(OldContent::TooLarge),
            result => Ok(OldContent::Loaded(result?)),
        }
    }
}

impl OldContent {
    /// Returns the ranges of lines in `new` that the change touched, counted from 1, in order; all lines of a new file.
    /// A deletion touches the line before it, or line 0 at the start of the file. A file that is too large to compare
    /// has no touched lines.
    pub fn find_changed_lines(&self, new: &[u8]) -> Result<Vec<RangeInclusive<u32>>, GitError> {
        let old = match self {
            Self::NewFile => return Ok(vec![1..=u32::MAX]),
            Self::Loaded(old) if new.len() as u64 <= MAX_COMPARED_SIZE => old,
            Self::TooLarge | Self::Loaded(_) => return Ok(Vec::new()),
        };
        let mut options = DiffOptions::new();
        options.context_lines(0).force_text(true);
        let compare_error = GitError::library("compare two versions of a file");
        // Uses buffers, because for a blob libgit2 would read the entire index to look for an attribute.
        let patch = Patch::from_buffers(old, None, new, None, Some(&mut options)).map_err(&compare_error)?;
        let mut ranges = Vec::with_capacity(patch.num_hunks());
        for index in 0..patch.num_hunks() {
            let (hunk, _) = patch.hunk(index).map_err(&compare_error)?;
            ranges.push(hunk.new_start()..=hunk.new_start() + hunk.new_lines().saturating_sub(1));
        }
        Ok(ranges)
    }
}
