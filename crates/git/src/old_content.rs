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
/// new file, whose `old` is `None`. A deletion touches the line of the block that contained the deleted lines. A file
/// that is too large to compare has no touched lines. The other ranges are usually those of `git diff --unified=0`.
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
    let old_lines: Vec<&[u8]> = byte_lines(old).collect();
    let mut blocks = OpenBlocks::new(byte_lines(new));
    let mut ranges = Vec::new();
    for hunk in diff.hunks() {
        if hunk.after.is_empty() {
            let deleted_lines = old_lines.get(hunk.before.start as usize..hunk.before.end as usize);
            let parent_line = blocks.find_parent_line(hunk.after.start, deleted_lines.unwrap_or_default());
            ranges.push(parent_line..=parent_line);
        } else {
            ranges.push(hunk.after.start + 1..=hunk.after.end);
        }
    }
    ranges
}

/// The blocks of an indented text that contain a position, while the position moves to the end of the text.
struct OpenBlocks<L> {
    remaining_lines: L,
    read_count: u32,
    /// The first lines of the blocks, from the outermost block to the innermost one.
    first_lines: Vec<IndentedLine>,
}

struct IndentedLine {
    number: u32,
    indent: usize,
}

impl<'l, L: Iterator<Item = &'l [u8]>> OpenBlocks<L> {
    const fn new(lines: L) -> Self {
        Self {
            remaining_lines: lines,
            read_count: 0,
            first_lines: Vec::new(),
        }
    }

    /// Returns the number of the first line of the block that contained the deleted lines: the last one among the first
    /// `line_count` lines that is indented less than the first deleted line. The line directly before the deletion may
    /// belong to another block, which did not change. Returns 0 if there is no such line. Blank lines are ignored. The
    /// positions must be in order.
    fn find_parent_line(&mut self, line_count: u32, deleted_lines: &[&[u8]]) -> u32 {
        while self.read_count < line_count
            && let Some(line) = self.remaining_lines.next()
        {
            self.read_count += 1;
            let Some(indent) = measure_indent(line) else {
                continue;
            };
            let outer_count = self.count_outer_blocks(indent);
            self.first_lines.truncate(outer_count);
            self.first_lines.push(IndentedLine {
                number: self.read_count,
                indent,
            });
        }
        let deleted_indent = deleted_lines.iter().find_map(|line| measure_indent(line));
        let outer_count = deleted_indent.map_or(0, |indent| self.count_outer_blocks(indent));
        self.first_lines
            .get(..outer_count)
            .and_then(<[IndentedLine]>::last)
            .map_or(0, |line| line.number)
    }

    /// Returns the number of blocks whose first line is indented less.
    fn count_outer_blocks(&self, indent: usize) -> usize {
        self.first_lines.partition_point(|line| line.indent < indent)
    }
}

/// Returns the number of blanks at the start of a line. Returns `None` for a blank line.
fn measure_indent(line: &[u8]) -> Option<usize> {
    line.iter().position(|byte| !byte.is_ascii_whitespace())
}
