//! Replaces scalars in place; every other byte stays unchanged.
//!
//! A value is found by its position and written in its current style: quotes stay quotes, a block stays a block, and a
//! plain value is quoted only if it would be read differently otherwise. The result is parsed again and must differ
//! from the original only in these values, so a mistake here leads to an error and never to a broken file.

use crate::document_text::{self, DocumentError, Position};
use crate::editor_position::{EditorCursor, EditorPosition};
use crate::scalar::{Scalar, Value, format_double_quoted, needs_escape};
use crate::scalar_location::{ScalarLocation, ScalarLocations, ScalarSearch};
use crate::text_input::TextInput;
use crate::tree::{MapEntry, Node, NodeContent, Tree};
use crate::{shorten, tree_builder};
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::BTreeMap;

/// The new texts of scalars, by the positions of the scalars.
pub type NewTexts = BTreeMap<Position, String>;

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
/// scalar is missing or cannot be replaced without changing another part of the document.
pub fn replace_scalars(bytes: &[u8], new_texts: &NewTexts) -> Result<Vec<u8>, DocumentError> {
    let document = EditableDocument::parse(bytes, |position| new_texts.contains_key(&position))?;
    let (new_document, ()) = document.replace_texts(new_texts, |_, _| ())?;
    Ok(new_document.bytes)
}

/// A document in which scalars can be replaced.
pub struct EditableDocument<'a> {
    byte_order_mark: &'a [u8],
    text: &'a str,
    tree: Tree<'a>,
    scalars: ScalarLocations,
}

impl<'a> EditableDocument<'a> {
    /// Reads a document, and finds the scalars at the positions for which `is_wanted` returns true.
    pub fn parse(bytes: &'a [u8], is_wanted: impl Fn(Position) -> bool) -> Result<Self, DocumentError> {
        let text = document_text::decode_text(bytes)?;
        let mut scalars = ScalarSearch::new(text, is_wanted);
        let tree = tree_builder::build_tree_observed(text, None, |event, span| {
            scalars.add_scalar_event(event, span);
        })?;
        Ok(Self {
            byte_order_mark: bytes.get(..bytes.len() - text.len()).unwrap_or_default(),
            text,
            tree,
            scalars: scalars.locations,
        })
    }

    /// Returns the document as it was read.
    pub const fn tree(&self) -> &Tree<'a> {
        &self.tree
    }

    /// Returns the document with these texts in place of the scalars at these positions. Also returns the result of
    /// `derive` for its bytes and its tree, so that the caller need not parse the document again. Fails, with the
    /// position, if a scalar is missing or cannot be replaced without changing another part of the document.
    pub fn replace_texts<T>(
        &self,
        new_texts: &NewTexts,
        mut derive: impl FnMut(&[u8], Tree<'_>) -> T,
    ) -> Result<(RewrittenDocument, T), DocumentError> {
        // Inside brackets, more texts need quotes. The parser does not report whether a scalar is inside brackets, so
        // these quotes are added only if the first attempt fails.
        self.rewrite_in_context(new_texts, Context::Block, &mut derive)
            .or_else(|_| self.rewrite_in_context(new_texts, Context::Flow, &mut derive))
    }

    /// Replaces the scalars, quoting their texts as this context requires. Fails if the new document differs from the
    /// old one in anything but these texts.
    fn rewrite_in_context<T>(
        &self,
        new_texts: &NewTexts,
        context: Context,
        derive: &mut impl FnMut(&[u8], Tree<'_>) -> T,
    ) -> Result<(RewrittenDocument, T), DocumentError> {
        let (new_text, replacements) = splice_scalars(self.text, &self.scalars, new_texts, context)?;
        let bytes = [self.byte_order_mark, &new_text].concat();
        let new_tree = Tree::parse(&bytes).map_err(|error| match error.position {
            // A limit of the whole document, such as its size, says nothing about the style of a scalar.
            None => error,
            position => style_error(new_texts, position),
        })?;
        verify_trees(&self.tree, &new_tree, new_texts)?;
        let derived_value = derive(&bytes, new_tree);
        Ok((RewrittenDocument { bytes, replacements }, derived_value))
    }
}

/// The context of a plain scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    Block,
    /// Inside brackets.
    Flow,
}

/// Returns the document with these texts in place of the scalars at these positions, and the list of the replacements.
/// All other bytes stay the same. Fails if a scalar is missing, has an anchor, or cannot be replaced in place.
fn splice_scalars(
    text: &str,
    scalars: &ScalarLocations,
    new_texts: &NewTexts,
    context: Context,
) -> Result<(Vec<u8>, Vec<ScalarReplacement>), DocumentError> {
    let mut output = Vec::with_capacity(text.len());
    let mut replacements = Vec::with_capacity(new_texts.len());
    let mut cursor = EditorCursor::new(text);
    // The old text before this offset is already in the output. The scalars are in the order of their positions.
    let mut copied_offset = 0;
    for (position, new_text) in new_texts {
        let build_error = |reason: &str| DocumentError::at_position(*position, format!("the value {reason}"));
        let scalar = scalars.get(position).ok_or_else(|| build_error("is missing"))?;
        if scalar.has_anchor {
            return Err(build_error(
                "has a YAML anchor, so a YAML alias elsewhere may use it",
            ));
        }
        let range = scalar
            .range
            .clone()
            .ok_or_else(|| build_error("is written in a style that cannot be replaced in place"))?;
        let unchanged_text = text
            .get(copied_offset..range.start)
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
        copied_offset = range.end;
    }
    output.extend(text.get(copied_offset..).unwrap_or_default().as_bytes());
    Ok((output, replacements))
}

/// Returns the byte order mark, which may be empty, and the bytes before, between and after the scalars at these
/// positions, so that two documents can be compared without these scalars. Returns `None` if a scalar is missing.
pub fn split_around_scalars<'b>(bytes: &'b [u8], positions: &[Position]) -> Option<Vec<&'b [u8]>> {
    let text = document_text::decode_text(bytes).ok()?;
    let mut search = ScalarSearch::new(text, |position| positions.contains(&position));
    for event in Parser::new(TextInput::new(text)) {
        let (event, span) = event.ok()?;
        search.add_scalar_event(&event, &span);
    }
    let scalars = search.locations;
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

impl ScalarLocation {
    /// Returns the text in the style of the scalar, or in other quotes if the style cannot represent it. A text for a
    /// block is returned unchanged. If the block cannot represent it, the comparison of the documents fails later.
    fn format_text(&self, text: &str, context: Context) -> String {
        match self.style {
            ScalarStyle::Literal | ScalarStyle::Folded => text.to_owned(),
            ScalarStyle::Plain if is_valid_plain_scalar(text, context) => text.to_owned(),
            ScalarStyle::Plain | ScalarStyle::SingleQuoted if !text.contains(needs_escape) => {
                format!("'{}'", text.replace('\'', "''"))
            }
            _ => format_double_quoted(text),
        }
    }
}

/// Returns whether the text keeps its meaning without quotes. To find out, parses it in its context: the value of a
/// key, or inside brackets the item of a list.
fn is_valid_plain_scalar(text: &str, context: Context) -> bool {
    let document = match context {
        Context::Block => format!("k: {text}\n"),
        Context::Flow => format!("[{text}]\n"),
    };
    let last_scalar = Parser::new(TextInput::new(&document))
        .map_while(Result::ok)
        .filter_map(|(event, _)| match event {
            Event::Scalar(value, style, anchor, tag) => Some((value, style, anchor, tag)),
            _ => None,
        })
        .last();
    let is_same = last_scalar.is_some_and(|(value, style, anchor, tag)| {
        let scalar = Scalar::new(value, style, tag.as_deref());
        anchor == 0 && tag.is_none() && scalar.value() == Value::Text(text)
    });
    is_same && !text.contains(needs_escape)
}

/// Checks that the new document differs from the old one only in these texts.
fn verify_trees(old_tree: &Tree<'_>, new_tree: &Tree<'_>, new_texts: &NewTexts) -> Result<(), DocumentError> {
    for (old_node, new_node) in old_tree.nodes.iter().zip(&new_tree.nodes) {
        if !is_expected_node(old_node, new_node, new_texts) {
            return Err(style_error(new_texts, Some(old_node.position)));
        }
    }
    if old_tree.nodes.len() == new_tree.nodes.len() && old_tree.root == new_tree.root {
        Ok(())
    } else {
        Err(style_error(new_texts, None))
    }
}

/// Returns whether the new node is the old one, except for its new texts. Items and values are compared only by id,
/// because [`verify_trees`] compares every node.
fn is_expected_node(old_node: &Node<'_>, new_node: &Node<'_>, new_texts: &NewTexts) -> bool {
    match (&old_node.content, &new_node.content) {
        (NodeContent::Scalar(old_scalar), NodeContent::Scalar(new_scalar)) => {
            match new_texts.get(&old_node.position) {
                Some(text) => new_scalar.value() == Value::Text(text),
                None => old_scalar == new_scalar,
            }
        }
        (NodeContent::List(old_items), NodeContent::List(new_items)) => old_items == new_items,
        (NodeContent::Map(old_entries), NodeContent::Map(new_entries)) => {
            old_entries.len() == new_entries.len()
                && old_entries
                    .iter()
                    .zip(new_entries)
                    .all(|(old_entry, new_entry)| is_expected_entry(old_entry, new_entry, new_texts))
        }
        _ => false,
    }
}

/// Returns whether the new entry is the old one, except for the new text of its key. Of the value, only the id is
/// compared (see [`is_expected_node`]).
fn is_expected_entry(old_entry: &MapEntry<'_>, new_entry: &MapEntry<'_>, new_texts: &NewTexts) -> bool {
    let new_text = new_texts.get(&old_entry.key.position);
    let expected_text = new_text.map_or(&*old_entry.key.text, String::as_str);
    old_entry.value == new_entry.value && new_entry.key.text == expected_text
}

/// Returns the error that the style of a scalar cannot represent its new text. `position` is where the new document is
/// invalid or differs. The error names the last replaced scalar that begins there or earlier, because it is the likely
/// cause. Without a position, the error names the last replaced scalar of the document.
fn style_error(new_texts: &NewTexts, position: Option<Position>) -> DocumentError {
    let last_position = position.unwrap_or(Position {
        line: u32::MAX,
        column: u32::MAX,
    });
    let (position, text) = new_texts
        .range(..=last_position)
        .next_back()
        .map_or((Position { line: 1, column: 1 }, ""), |(position, text)| {
            (*position, text.as_str())
        });
    let message = format!(
        "the style of the YAML value (such as plain or quoted) cannot represent `{}`",
        shorten(text)
    );
    DocumentError::at_position(position, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NodeRef, Tree};
    use proptest::prelude::*;

    fn place(document: &str) -> Position {
        let tree = Tree::parse(document.as_bytes()).unwrap();
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
            ("a\u{2028}b", "k: \"a\\u2028b\""),
            ("a\u{feff}b", "k: \"a\\ufeffb\""),
        ] {
            assert_eq!(replaced("k: x", text).as_deref(), Ok(after), "{text:?}");
        }
    }

    #[test]
    fn scalar_that_cannot_be_replaced_alone_is_rejected_with_position() {
        for (document, text, why) in [
            ("k: &a x\nz: *a", "c", "has a YAML anchor"),
            ("z: &a x\nk: *a", "c", "has a YAML anchor"),
            ("k: >\n  x\n", "c", "cannot represent `c`"),
            ("k: |-\n  x\n", " c", "cannot represent ` c`"),
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
    fn text_that_makes_document_too_large_is_rejected_as_too_large() {
        let text = "x".repeat(usize::try_from(document_text::MAX_DOCUMENT_BYTES).unwrap());
        let reason = replaced("k: a", &text).unwrap_err();
        assert!(reason.contains("more than 33554432 bytes"), "{reason}");
    }

    #[test]
    fn several_values_are_replaced_at_once() {
        let document = "a: [x, 'y', z]\n";
        let tree = Tree::parse(document.as_bytes()).unwrap();
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
            let editable = EditableDocument::parse(document.as_bytes(), |_| true).unwrap();
            let (document, ()) = editable.replace_texts(&texts, |_, _| ()).unwrap();
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
                    let tree = Tree::parse(document.as_bytes()).unwrap();
                    prop_assert_eq!(tree.root().get("k").unwrap().string(), Some(text.as_str()));
                }
                Err(why) => prop_assert!(form.contains(['>', '|']), "{}", why),
            }
        }
    }
}
