//! Finds scalars in the source text of a document.

use crate::document_text::{self, Position};
use saphyr_parser::{Event, ScalarStyle, Span};
use std::collections::BTreeMap;
use std::ops::Range;

/// The scalars of a document by position.
pub(crate) type ScalarLocations = BTreeMap<Position, ScalarLocation>;

/// A scalar of the document.
pub(crate) struct ScalarLocation {
    pub(crate) style: ScalarStyle,
    pub(crate) has_anchor: bool,
    /// The bytes of the scalar: with its quotes, or only the content of a block. `None` if they could not be
    /// determined.
    pub(crate) range: Option<Range<usize>>,
}

/// Finds the wanted scalars of a text among the events of its parser.
pub(crate) struct ScalarSearch<'t, W> {
    is_wanted: W,
    offsets: ByteOffsets<'t>,
    pub(crate) locations: ScalarLocations,
}

impl<'t, W: Fn(Position) -> bool> ScalarSearch<'t, W> {
    pub(crate) const fn new(text: &'t str, is_wanted: W) -> Self {
        Self {
            is_wanted,
            offsets: ByteOffsets {
                text,
                character_offset: 0,
                byte_offset: 0,
            },
            locations: BTreeMap::new(),
        }
    }

    /// Adds the location of a scalar at a wanted position; ignores every other event. The events must be added in the
    /// order of the document, because the search for byte offsets only moves forward.
    pub(crate) fn add_scalar_event(&mut self, event: &Event<'_>, span: &Span) {
        let Event::Scalar(value, style, anchor, _) = event else {
            return;
        };
        let position = document_text::marker_position(&span.start);
        if !(self.is_wanted)(position) {
            return;
        }
        let start = self.offsets.byte_offset_of(span.start.index());
        let scalar = ScalarLocation {
            style: *style,
            has_anchor: *anchor > 0,
            range: start.and_then(|start| find_scalar_range(self.offsets.text, start, *style, value)),
        };
        self.locations.insert(position, scalar);
    }
}

/// Converts character indices to byte indices, in ascending order.
struct ByteOffsets<'t> {
    text: &'t str,
    character_offset: usize,
    byte_offset: usize,
}

impl ByteOffsets<'_> {
    /// Returns the byte offset of the character with this index. The indices must not decrease between calls.
    fn byte_offset_of(&mut self, character: usize) -> Option<usize> {
        let character_count = character.checked_sub(self.character_offset)?;
        let remaining_text = self.text.get(self.byte_offset..)?;
        let byte_count = match remaining_text.char_indices().nth(character_count) {
            Some((step, _)) => step,
            None => remaining_text.len(),
        };
        self.character_offset = character;
        self.byte_offset += byte_count;
        Some(self.byte_offset)
    }
}

/// Returns the range of the bytes of the scalar that begins at `start` and has this value; `None` if the end of the
/// scalar cannot be determined.
fn find_scalar_range(text: &str, start: usize, style: ScalarStyle, value: &str) -> Option<Range<usize>> {
    let source = text.get(start..)?;
    match style {
        ScalarStyle::Plain => plain_length(source, value).map(|length| start..start + length),
        ScalarStyle::SingleQuoted => single_quoted_length(source).map(|length| start..start + length),
        ScalarStyle::DoubleQuoted => double_quoted_length(source).map(|length| start..start + length),
        ScalarStyle::Literal | ScalarStyle::Folded => find_block_range(text, start),
    }
}

/// Returns the length of a plain scalar in bytes; `None` if the source does not have this value. A single line break in
/// the source is a space in the value; of several line breaks, the first is dropped
/// (<https://yaml.org/spec/1.2.2/#65-line-folding>).
fn plain_length(scalar_source: &str, value: &str) -> Option<usize> {
    let (mut remaining_source, mut remaining_value) = (scalar_source, value);
    while !remaining_value.is_empty() {
        let source_after_gap = remaining_source.trim_start_matches([' ', '\t', '\r', '\n']);
        let gap = remaining_source.get(..remaining_source.len() - source_after_gap.len())?;
        let line_break_count = gap.matches('\n').count();
        // Characters within a line, and blanks without a line break, are the same in the source and in the value.
        if line_break_count == 0 {
            let next_character = remaining_source.chars().next()?;
            remaining_value = remaining_value.strip_prefix(next_character)?;
            remaining_source = remaining_source.get(next_character.len_utf8()..)?;
            continue;
        }
        let folded_value = if line_break_count == 1 {
            " ".to_owned()
        } else {
            "\n".repeat(line_break_count - 1)
        };
        remaining_value = remaining_value.strip_prefix(folded_value.as_str())?;
        remaining_source = source_after_gap;
    }
    Some(scalar_source.len() - remaining_source.len())
}

/// Returns the length of the single-quoted scalar at the beginning of the text, with its quotes; `None` if the closing
/// quote is missing. Two quotes in a row are a quote in the value.
fn single_quoted_length(source: &str) -> Option<usize> {
    let inner = source.strip_prefix('\'')?;
    let mut quote_indices = inner.match_indices('\'').map(|(index, _)| index).peekable();
    while let Some(index) = quote_indices.next() {
        if quote_indices.next_if_eq(&(index + 1)).is_none() {
            return Some(index + 2);
        }
    }
    None
}

/// Returns the length of the double-quoted scalar at the beginning of the text, with its quotes; `None` if the closing
/// quote is missing.
fn double_quoted_length(source: &str) -> Option<usize> {
    let inner = source.strip_prefix('"')?;
    let mut is_escaped = false;
    for (index, c) in inner.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Some(index + 2),
            _ => {}
        }
    }
    None
}

/// Returns the range of a block scalar's content; `None` if there is no content. The content begins at `start` and ends
/// before the next line with less indentation. Blank lines at its end are not included.
fn find_block_range(text: &str, start: usize) -> Option<Range<usize>> {
    let text_before = text.get(..start)?;
    let block_indent = text_before.len() - text_before.trim_end_matches(' ').len();
    let mut end = start;
    let mut line_start = start - block_indent;
    for line in text.get(line_start..)?.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        let indent = content.len() - content.trim_start_matches(' ').len();
        let is_blank = indent == content.len();
        if !is_blank && indent < block_indent {
            break;
        }
        if !is_blank {
            end = line_start + content.len();
        }
        line_start += line.len();
    }
    (end > start).then_some(start..end)
}
