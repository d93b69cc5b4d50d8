//! Replaces scalars in place; every other byte stays unchanged.
//!
//! A value is found by its position and written in its current style: quotes stay quotes, a block stays a block, and a
//! plain value is quoted only if it would be read differently otherwise. The result is parsed again and must differ
//! from the original only in these values, so a mistake here leads to an error and never to a broken file.

use super::document_text::{self, DocumentError, Position};
use super::editor_position::{EditorCursor, EditorPosition};
use super::scalar::{Scalar, Value, format_double_quoted};
use super::text_input::TextInput;
use super::{shorten, tree_builder};
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::BTreeMap;
use std::ops::Range;

/// A document in which scalars were replaced, with the replacements.
#[derive(Debug)]
pub struct RewrittenDocument {
    pub bytes: Vec<u8>,
    /// The replacements, in the order of their positions.
    pub replacements: Vec<ScalarReplacement>,
}

/// The replacement of a scalar in the source text.
#[derive(Debug, PartialEq, Eq)]
pub struct ScalarReplacement {
    pub position: Position,
    pub start: EditorPosition,
    pub end: EditorPosition,
    /// The source text of the new scalar, with its quotes.
    pub text: String,
}

/// Returns the document with these texts in place of the scalars at these positions. Fails, with the position, if a
/// scalar cannot be replaced alone.
pub fn replace_scalars(
    bytes: &[u8],
    new_texts: &BTreeMap<Position, String>,
) -> Result<Vec<u8>, DocumentError> {
    rewrite_scalars(bytes, new_texts).map(|document| document.bytes)
}

/// Replaces scalars as [`replace_scalars`] does, and returns the replaced parts of the source text, too.
pub fn rewrite_scalars(
    bytes: &[u8],
    new_texts: &BTreeMap<Position, String>,
) -> Result<RewrittenDocument, DocumentError> {
    let text = document_text::decode_text(bytes)?;
    let scalars = find_scalars(text, |position| new_texts.contains_key(&position))?;
    let byte_order_mark = bytes.get(..bytes.len() - text.len()).unwrap_or_default();
    // More texts need quotes inside brackets, and the parser does not report what is inside brackets.
    splice_verified(byte_order_mark, text, &scalars, new_texts, Context::Block)
        .or_else(|_| splice_verified(byte_order_mark, text, &scalars, new_texts, Context::Flow))
}

/// The context of a plain scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    Block,
    /// Inside brackets.
    Flow,
}

/// Replaces these scalars, and checks that the result is the same document except for them.
fn splice_verified(
    byte_order_mark: &[u8],
    text: &str,
    scalars: &BTreeMap<Position, ScalarLocation>,
    new_texts: &BTreeMap<Position, String>,
    context: Context,
) -> Result<RewrittenDocument, DocumentError> {
    let (new_text, replacements) = splice_scalars(text, scalars, new_texts, context)?;
    let bytes = [byte_order_mark, &new_text].concat();
    verify_rewrite(text, &bytes, scalars, new_texts)?;
    Ok(RewrittenDocument { bytes, replacements })
}

/// Replaces the text of these scalars, and keeps all other bytes.
fn splice_scalars(
    text: &str,
    scalars: &BTreeMap<Position, ScalarLocation>,
    new_texts: &BTreeMap<Position, String>,
    context: Context,
) -> Result<(Vec<u8>, Vec<ScalarReplacement>), DocumentError> {
    let mut output = Vec::with_capacity(text.len());
    let mut replacements = Vec::with_capacity(new_texts.len());
    let mut cursor = EditorCursor::new(text);
    let mut end_offset = 0;
    for (position, new_text) in new_texts {
        let build_error = |reason: &str| DocumentError::at_position(*position, format!("the value {reason}"));
        let scalar = scalars.get(position).ok_or_else(|| build_error("is missing"))?;
        if scalar.has_anchor {
            return Err(build_error("has a YAML anchor, so other places may use it"));
        }
        let range = scalar
            .range
            .clone()
            .ok_or_else(|| build_error("is written in a style that cannot be replaced in place"))?;
        let unchanged_text = text
            .get(end_offset..range.start)
            .ok_or_else(|| build_error("overlaps another value"))?;
        let scalar_text = scalar.format_text(new_text, context);
        output.extend(unchanged_text.as_bytes());
        output.extend(scalar_text.as_bytes());
        replacements.push(ScalarReplacement {
            position: *position,
            start: cursor.move_to(range.start),
            end: cursor.move_to(range.end),
            text: scalar_text,
        });
        end_offset = range.end;
    }
    output.extend(text.get(end_offset..).unwrap_or_default().as_bytes());
    Ok((output, replacements))
}

/// Returns the byte order mark, which may be empty, and the bytes before, between and after the scalars at these
/// positions, or `None` if a scalar is missing.
pub fn split_around_scalars<'b>(bytes: &'b [u8], positions: &[Position]) -> Option<Vec<&'b [u8]>> {
    let text = document_text::decode_text(bytes).ok()?;
    let scalars = find_scalars(text, |position| positions.contains(&position)).ok()?;
    if scalars.len() != positions.len() {
        return None;
    }
    let mut parts = vec![bytes.get(..bytes.len() - text.len())?];
    let mut end_offset = 0;
    for scalar in scalars.values() {
        let range = scalar.range.clone()?;
        parts.push(text.get(end_offset..range.start)?.as_bytes());
        end_offset = range.end;
    }
    parts.push(text.get(end_offset..)?.as_bytes());
    Some(parts)
}

/// A scalar of the document.
struct ScalarLocation {
    /// The number of events before the scalar.
    event_index: usize,
    style: ScalarStyle,
    has_anchor: bool,
    /// The bytes of the scalar: with its quotes, or only the content of a block. `None` if they could not be
    /// determined.
    range: Option<Range<usize>>,
}

/// Returns where the wanted scalars are in the text, and how they are written.
fn find_scalars(
    text: &str,
    is_wanted: impl Fn(Position) -> bool,
) -> Result<BTreeMap<Position, ScalarLocation>, DocumentError> {
    let mut offsets = ByteOffsets {
        text,
        character_offset: 0,
        byte_offset: 0,
    };
    let mut scalars = BTreeMap::new();
    for (event_index, event) in Parser::new(TextInput::new(text)).enumerate() {
        let (event, span) = event.map_err(|error| tree_builder::to_document_error(&error))?;
        let position = tree_builder::marker_position(&span.start);
        let Event::Scalar(value, style, anchor, _) = event else {
            continue;
        };
        if !is_wanted(position) {
            continue;
        }
        let start = offsets.byte_offset_of(span.start.index());
        let scalar = ScalarLocation {
            event_index,
            style,
            has_anchor: anchor > 0,
            range: start.and_then(|start| find_scalar_range(text, start, style, &value)),
        };
        scalars.insert(position, scalar);
    }
    Ok(scalars)
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

/// Returns the bytes of the scalar that begins at `start` and has this value.
fn find_scalar_range(text: &str, start: usize, style: ScalarStyle, value: &str) -> Option<Range<usize>> {
    let source = text.get(start..)?;
    match style {
        ScalarStyle::Plain => plain_length(source, value).map(|length| start..start + length),
        ScalarStyle::SingleQuoted => single_quoted_length(source).map(|length| start..start + length),
        ScalarStyle::DoubleQuoted => double_quoted_length(source).map(|length| start..start + length),
        ScalarStyle::Literal | ScalarStyle::Folded => find_block_range(text, start),
    }
}

/// Returns the length of a plain scalar in bytes. A line break in it is a space of its value; several line breaks are
/// one line break less (<https://yaml.org/spec/1.2.2/#65-line-folding>).
fn plain_length(scalar_source: &str, value: &str) -> Option<usize> {
    let (mut remaining_source, mut remaining_value) = (scalar_source, value);
    while !remaining_value.is_empty() {
        let source_after_gap = remaining_source.trim_start_matches([' ', '\t', '\r', '\n']);
        let gap = remaining_source.get(..remaining_source.len() - source_after_gap.len())?;
        let line_break_count = gap.matches('\n').count();
        if line_break_count == 0 {
            let next = remaining_source.chars().next()?;
            remaining_value = remaining_value.strip_prefix(next)?;
            remaining_source = remaining_source.get(next.len_utf8()..)?;
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

/// Returns the length of a single-quoted scalar at the begin of the text, with its quotes.
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

/// Returns the length of a double-quoted scalar at the begin of the text, with its quotes.
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

/// Returns the range of a block scalar's content, from its first character, at `start`, to its last.
fn find_block_range(text: &str, start: usize) -> Option<Range<usize>> {
    let (text_before, text_after) = text.split_at_checked(start)?;
    let block_indent = text_before.len() - text_before.trim_end_matches(' ').len();
    let mut end = start;
    let mut line_start = start - block_indent;
    for line in text.get(line_start..)?.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        let indent = content.len() - content.trim_start_matches(' ').len();
        if indent < block_indent && indent < content.len() {
            break;
        }
        if indent < content.len() {
            end = line_start + content.len();
        }
        line_start += line.len();
    }
    (!text_after.is_empty() && end > start).then_some(start..end)
}

impl ScalarLocation {
    /// Returns the text in the style of the scalar, or in other quotes if the style cannot represent it. A text in a
    /// block is returned unchanged.
    fn format_text(&self, text: &str, context: Context) -> String {
        match self.style {
            ScalarStyle::Literal | ScalarStyle::Folded => text.to_owned(),
            ScalarStyle::Plain if is_valid_plain_scalar(text, context) => text.to_owned(),
            ScalarStyle::Plain | ScalarStyle::SingleQuoted if !text.contains(char::is_control) => {
                format!("'{}'", text.replace('\'', "''"))
            }
            _ => format_double_quoted(text),
        }
    }
}

/// Returns whether the text keeps its meaning without quotes.
fn is_valid_plain_scalar(text: &str, context: Context) -> bool {
    let document = match context {
        Context::Block => format!("k: {text}\n"),
        Context::Flow => format!("[{text}]\n"),
    };
    let last_scalar = parse_events(&document)
        .filter_map(|event| match event {
            Event::Scalar(value, style, anchor, tag) => Some((value, style, anchor, tag)),
            _ => None,
        })
        .last();
    let is_same = last_scalar.is_some_and(|(value, style, anchor, tag)| {
        let scalar = Scalar::new(value, style, tag.as_deref());
        anchor == 0 && tag.is_none() && scalar.value() == Value::Text(text)
    });
    is_same && !text.contains(char::is_control)
}

/// Checks that the new document differs from the old one only in these texts.
fn verify_rewrite(
    old_text: &str,
    new_bytes: &[u8],
    scalars: &BTreeMap<Position, ScalarLocation>,
    new_texts: &BTreeMap<Position, String>,
) -> Result<(), DocumentError> {
    let new_text = document_text::decode_text(new_bytes)?;
    let replacements: BTreeMap<usize, (&Position, &String)> = new_texts
        .iter()
        .filter_map(|(position, text)| Some((scalars.get(position)?.event_index, (position, text))))
        .collect();
    let mut old_events = parse_events(old_text);
    let mut new_events = parse_events(new_text);
    for event_index in 0.. {
        let (old_event, new_event) = (old_events.next(), new_events.next());
        let is_same = match (replacements.get(&event_index), &new_event) {
            (Some((_, text)), Some(Event::Scalar(value, style, anchor, tag))) => {
                let scalar = Scalar::new(value.clone(), *style, tag.as_deref());
                *anchor == 0 && scalar.value() == Value::Text(text)
            }
            (Some(_), _) => false,
            (None, _) => old_event == new_event,
        };
        if !is_same {
            let position = replacements
                .range(..=event_index)
                .next_back()
                .map_or(Position { line: 1, column: 1 }, |(_, (position, _))| **position);
            let text = new_texts.get(&position).map_or("", String::as_str);
            let message = format!("the value cannot contain `{}` in its YAML style", shorten(text));
            return Err(DocumentError::at_position(position, message));
        }
        if old_event.is_none() {
            return Ok(());
        }
    }
    Ok(())
}

/// Returns the events up to the first error, after which a parser would not advance.
fn parse_events(text: &str) -> impl Iterator<Item = Event<'_>> {
    Parser::new(TextInput::new(text))
        .map_while(Result::ok)
        .map(|(event, _)| event)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{NodeRef, Tree};
    use proptest::prelude::*;

    fn place(document: &str) -> Position {
        let tree = Tree::parse(document.as_bytes(), None).unwrap();
        tree.root().get("k").unwrap().position()
    }

    fn replaced(document: &str, text: &str) -> Result<String, String> {
        let texts = BTreeMap::from([(place(document), text.to_owned())]);
        let bytes = replace_scalars(document.as_bytes(), &texts).map_err(|error| error.to_string())?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn replaced_value_keeps_style_and_other_bytes_stay() {
        for (before, after) in [
            ("k: a/b # why\nz: 1\n", "k: c d # why\nz: 1\n"),
            ("k: 'a''b'\r\nz: 1\r\n", "k: 'c d'\r\nz: 1\r\n"),
            ("k: \"a\\\"\\u0062\"   # why\n", "k: \"c d\"   # why\n"),
            ("k: \"a\n  b\\\n  c\"\n", "k: \"c d\"\n"),
            ("k: a\n   b\n\n   c\nz: 1", "k: c d\nz: 1"),
            (
                "k: >-\n    a\n    b\n\n# why\nz: 1\n",
                "k: >-\n    c d\n\n# why\nz: 1\n",
            ),
            ("k: |-\r\n  a\r\nz: 1\r\n", "k: |-\r\n  c d\r\nz: 1\r\n"),
            ("{ü: é, k: a, z: [1]}", "{ü: é, k: c d, z: [1]}"),
            ("\u{feff}# ü\nk: a\n", "\u{feff}# ü\nk: c d\n"),
            ("k: a", "k: c d"),
        ] {
            assert_eq!(replaced(before, "c d").as_deref(), Ok(after), "{before:?}");
        }
    }

    #[test]
    fn plain_value_is_quoted_only_if_necessary() {
        for (text, after) in [
            ("a/b.c", "k: a/b.c"),
            ("a: b", "k: 'a: b'"),
            ("a, b/c [1]", "k: a, b/c [1]"),
            ("it's", "k: it's"),
            ("it's #1", "k: 'it''s #1'"),
            ("a #1", "k: 'a #1'"),
            ("-", "k: '-'"),
            ("2024", "k: '2024'"),
            ("null", "k: 'null'"),
            ("*a", "k: '*a'"),
            ("a\tb", "k: \"a\\u0009b\""),
        ] {
            assert_eq!(replaced("k: x", text).as_deref(), Ok(after), "{text:?}");
        }
    }

    #[test]
    fn scalar_that_cannot_be_replaced_alone_is_rejected_with_position() {
        for (document, text, why) in [
            ("k: &a x\nz: *a", "c", "has a YAML anchor"),
            ("z: &a x\nk: *a", "c", "has a YAML anchor"),
            ("k: >\n  x\n", "c", "cannot contain `c`"),
            ("k: |-\n  x\n", " c", "cannot contain ` c`"),
            ("k: [a]", "c", "is missing"),
            ("k: !!str a", "c", "is written in a style"),
        ] {
            let said = replaced(document, text).unwrap_err();
            assert!(
                said.contains(why) && said.contains("line "),
                "{document:?}: {said}"
            );
        }
    }

    #[test]
    fn several_values_are_replaced_at_once() {
        let document = "a: [x, 'y', z]\n";
        let tree = Tree::parse(document.as_bytes(), None).unwrap();
        let places: Vec<Position> = tree
            .root()
            .get("a")
            .unwrap()
            .items()
            .unwrap()
            .map(NodeRef::position)
            .collect();
        let texts = [(places[0], "1,2".to_owned()), (places[2], "w".to_owned())];
        let new = replace_scalars(document.as_bytes(), &BTreeMap::from(texts)).unwrap();
        assert_eq!(String::from_utf8(new).unwrap(), "a: ['1,2', 'y', w]\n");
        let around: Vec<String> = split_around_scalars(document.as_bytes(), &places)
            .unwrap()
            .iter()
            .map(|part| String::from_utf8_lossy(part).into_owned())
            .collect();
        assert_eq!(around, ["", "a: [", ", ", ", ", "]\n"]);
    }

    #[test]
    fn replacement_has_region_in_utf16_code_units() {
        let replacements = |document: &str| {
            let texts = BTreeMap::from([(place(document), "c d".to_owned())]);
            let document = rewrite_scalars(document.as_bytes(), &texts).unwrap();
            let [replacement] = document.replacements.as_slice() else {
                panic!("{document:?}");
            };
            let (start, end) = (replacement.start, replacement.end);
            format!(
                "{}:{}-{}:{} {}",
                start.line, start.column, end.line, end.column, replacement.text
            )
        };
        assert_eq!(replacements("k: a/b # why\n"), "1:4-1:7 c d");
        assert_eq!(replacements("{\u{1f600}: é, k: 'a''b' }"), "1:12-1:18 'c d'");
        assert_eq!(replacements("z: 1\r\nk: \"a\r\n  b\"\r\n"), "2:4-3:5 \"c d\"");
        assert_eq!(replacements("\u{feff}k: a\n"), "1:4-1:5 c d");
        assert_eq!(replacements("k: >-\n    a\n    b\nz: 1\n"), "2:5-3:6 c d");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn replaced_scalar_is_read_back_unchanged(
            form in prop::sample::select(vec!["k: X\nz: 1\n", "k: 'X'\n", "k: \"X\"\n", "{k: X}", "# é\nk: >-\n  X\nz: 1", "k: |-\n  X\n"]),
            text in "[a-cé \t:#,'\"\\[\\]{}&*!|>%@`?.\\\\/0-9-]{1,20}",
        ) {
            match replaced(form, &text) {
                Ok(document) => {
                    let tree = Tree::parse(document.as_bytes(), None).unwrap();
                    prop_assert_eq!(tree.root().get("k").unwrap().string(), Some(text.as_str()));
                }
                Err(why) => prop_assert!(form.contains(['>', '|']), "{}", why),
            }
        }
    }
}
