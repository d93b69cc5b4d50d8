//! Finds the lines of a file that a change touched.

use super::{BlobId, GitError, Repository};
use gix_imara_diff::sources::byte_lines;
use gix_imara_diff::{Algorithm, Diff, InternedInput};
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
        let content = self.read_blob(old, MAX_COMPARED_SIZE)?;
        Ok(content.map_or(OldContent::TooLarge, OldContent::Loaded))
    }
}

impl OldContent {
    /// Returns the ranges of lines in `new` that the change touched, see [`find_changed_lines`].
    pub fn find_changed_lines(&self, new: &[u8]) -> Vec<RangeInclusive<u32>> {
        match self {
            Self::NewFile => find_changed_lines(None, new),
            Self::TooLarge => Vec::new(),
            Self::Loaded(old) => find_changed_lines(Some(old), new),
        }
    }
}

/// Returns the ranges of lines in `new` that the change from `old` touched, counted from 1, in order; all lines of a
/// new file, whose `old` is `None`. A deletion touches the line before it, or line 0 at the start of the file. A file
/// that is too large to compare has no touched lines. The ranges are usually those of `git diff --unified=0`.
pub fn find_changed_lines(old: Option<&[u8]>, new: &[u8]) -> Vec<RangeInclusive<u32>> {
    let Some(old) = old else {
        return vec![1..=u32::MAX];
    };
    if old.len().max(new.len()) as u64 > MAX_COMPARED_SIZE {
        return Vec::new();
    }
    let lines = InternedInput::new(byte_lines(old), byte_lines(new));
    let mut diff = Diff::compute(Algorithm::Myers, &lines);
    // As git does, moves an inserted block that could begin at several lines to the one that people expect.
    diff.postprocess_lines(&lines);
    let mut ranges = Vec::new();
    for hunk in diff.hunks() {
        let first_line = hunk.after.start + u32::from(!hunk.after.is_empty());
        ranges.push(first_line..=hunk.after.end);
    }
    ranges
}
