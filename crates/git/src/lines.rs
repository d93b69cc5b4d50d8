//! Finds the lines of a file that a change touched.

use super::{BlobId, GitError, Repository};
use git2::{DiffOptions, Patch};
use std::ops::RangeInclusive;

/// Maximum size of a file that is compared line by line, in bytes.
const SIZE_LIMIT: u64 = 4 * 1024 * 1024;

/// The content of a file before a change, to compare its lines.
pub enum FormerContent {
    NewFile,
    /// The file was too large to compare line by line.
    TooLarge,
    Held(Vec<u8>),
}

impl Repository {
    /// Reads the content of a file before a change; `None` for a file that is new.
    pub fn former_content(&self, old: Option<&BlobId>) -> Result<FormerContent, GitError> {
        let Some(old) = old else {
            return Ok(FormerContent::NewFile);
        };
        match self.read_blob(old, SIZE_LIMIT) {
            Err(GitError::TooLarge { .. }) => Ok(FormerContent::TooLarge),
            read => Ok(FormerContent::Held(read?)),
        }
    }
}

impl FormerContent {
    /// Returns the lines of `new` that were not there before, counted from 1, in order; all lines of a new file. A
    /// deletion touches the line before it. A file that is too large to compare has no touched lines.
    pub fn changed_lines(&self, new: &[u8]) -> Result<Vec<RangeInclusive<u32>>, GitError> {
        let old = match self {
            Self::NewFile => return Ok(vec![1..=u32::MAX]),
            Self::Held(old) if new.len() as u64 <= SIZE_LIMIT => old,
            Self::TooLarge | Self::Held(_) => return Ok(Vec::new()),
        };
        let mut options = DiffOptions::new();
        options.context_lines(0).force_text(true);
        let failed = GitError::library("compare two versions of a file");
        // Uses buffers, because for a blob libgit2 would read the entire index to look for an attribute.
        let patch = Patch::from_buffers(old, None, new, None, Some(&mut options)).map_err(&failed)?;
        let mut ranges = Vec::with_capacity(patch.num_hunks());
        for index in 0..patch.num_hunks() {
            let (hunk, _) = patch.hunk(index).map_err(&failed)?;
            ranges.push(hunk.new_start()..=hunk.new_start() + hunk.new_lines().saturating_sub(1));
        }
        Ok(ranges)
    }
}
