//! Replaces scalars in place; every other byte stays unchanged.
//!
//! A value is found by its position and written in its current style: quotes stay quotes, a block stays a block, and a
//! plain value is quoted only if it would be read differently otherwise. The result is parsed again and must differ
//! from the original only in these values, so a mistake here leads to an error and never to a broken file.

use super::document::{self, DocumentError, Position};
use super::input::TextInput;
use super::scalar::{Scalar, Value, in_double_quotes};
use super::{build, shortened};
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::collections::BTreeMap;
use std::ops::Range;

/// Returns the document with these texts in place of the scalars at these positions. Fails, with the position, if a
/// scalar cannot be replaced alone.
pub fn rewrite(bytes: &[u8], texts: &BTreeMap<Position, String>) -> Result<Vec<u8>, DocumentError> {
    let text = document::text(bytes)?;
    let found = find(text, |place| texts.contains_key(&place))?;
    let start = bytes.get(..bytes.len() - text.len()).unwrap_or_default();
    // More texts need quotes inside brackets, and the parser does not report what is inside brackets.
    let attempt = |context| {
        let out = [start, &spliced(text, &found, texts, context)?].concat();
        verify(text, &out, &found, texts).map(|()| out)
    };
    attempt(Context::Block).or_else(|_| attempt(Context::Flow))
}

/// The context of a plain scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    Block,
    /// Inside brackets.
    Flow,
}

fn spliced(
    text: &str,
    found: &BTreeMap<Position, FoundScalar>,
    texts: &BTreeMap<Position, String>,
    context: Context,
) -> Result<Vec<u8>, DocumentError> {
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    for (place, new) in texts {
        let refused = |why: &str| DocumentError::at(*place, format!("the value {why}"));
        let scalar = found.get(place).ok_or_else(|| refused("is missing"))?;
        if scalar.has_anchor {
            return Err(refused("has a YAML anchor, so other places may use it"));
        }
        let range = scalar.range.clone();
        let range = range.ok_or_else(|| refused("is written in a style that cannot be replaced in place"))?;
        let before = text.get(at..range.start);
        out.extend(
            before
                .ok_or_else(|| refused("overlaps another value"))?
                .as_bytes(),
        );
        out.extend(scalar.written(new, context).as_bytes());
        at = range.end;
    }
    out.extend(text.get(at..).unwrap_or_default().as_bytes());
    Ok(out)
}

/// Returns the bytes before, between and after the scalars at these positions, or `None` if a scalar is missing.
pub fn around<'b>(bytes: &'b [u8], places: &[Position]) -> Option<Vec<&'b [u8]>> {
    let text = document::text(bytes).ok()?;
    let found = find(text, |place| places.contains(&place)).ok()?;
    if found.len() != places.len() {
        return None;
    }
    let mut parts = vec![bytes.get(..bytes.len() - text.len())?];
    let mut at = 0;
    for scalar in found.values() {
        let range = scalar.range.clone()?;
        parts.push(text.get(at..range.start)?.as_bytes());
        at = range.end;
    }
    parts.push(text.get(at..)?.as_bytes());
    Some(parts)
}

/// A scalar of the document.
struct FoundScalar {
    /// The number of events before it.
    ordinal: usize,
    style: ScalarStyle,
    has_anchor: bool,
    /// Its bytes: with its quotes, or only the content of a block. `None` if they could not be determined.
    range: Option<Range<usize>>,
}

fn find(
    text: &str,
    wanted: impl Fn(Position) -> bool,
) -> Result<BTreeMap<Position, FoundScalar>, DocumentError> {
    let mut offsets = Offsets {
        text,
        characters: 0,
        bytes: 0,
    };
    let mut found = BTreeMap::new();
    for (ordinal, event) in Parser::new(TextInput::new(text)).enumerate() {
        let (event, span) = event.map_err(|error| build::not_yaml(&error))?;
        let place = build::position(&span.start);
        let Event::Scalar(value, style, anchor, _) = event else {
            continue;
        };
        if !wanted(place) {
            continue;
        }
        let start = offsets.of(span.start.index());
        let scalar = FoundScalar {
            ordinal,
            style,
            has_anchor: anchor > 0,
            range: start.and_then(|start| extent(text, start, style, &value)),
        };
        found.insert(place, scalar);
    }
    Ok(found)
}

/// Converts character indices to byte indices, in ascending order.
struct Offsets<'t> {
    text: &'t str,
    characters: usize,
    bytes: usize,
}

impl Offsets<'_> {
    fn of(&mut self, character: usize) -> Option<usize> {
        let more = character.checked_sub(self.characters)?;
        let rest = self.text.get(self.bytes..)?;
        let step = match rest.char_indices().nth(more) {
            Some((step, _)) => step,
            None => rest.len(),
        };
        self.characters = character;
        self.bytes += step;
        Some(self.bytes)
    }
}

/// Returns the bytes of the scalar that begins at `start` and has this value.
fn extent(text: &str, start: usize, style: ScalarStyle, value: &str) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    match style {
        ScalarStyle::Plain => plain(rest, value).map(|length| start..start + length),
        ScalarStyle::SingleQuoted => single_quoted(rest).map(|length| start..start + length),
        ScalarStyle::DoubleQuoted => double_quoted(rest).map(|length| start..start + length),
        ScalarStyle::Literal | ScalarStyle::Folded => block(text, start),
    }
}

/// Returns the length of a plain scalar in bytes. A line break in it is a space of its value; several line breaks are
/// one line break less (<https://yaml.org/spec/1.2.2/#65-line-folding>).
fn plain(rest: &str, value: &str) -> Option<usize> {
    let (mut source, mut left) = (rest, value);
    while !left.is_empty() {
        let blank = source.trim_start_matches([' ', '\t', '\r', '\n']);
        let gap = source.get(..source.len() - blank.len())?;
        let breaks = gap.matches('\n').count();
        if breaks == 0 {
            let next = source.chars().next()?;
            left = left.strip_prefix(next)?;
            source = source.get(next.len_utf8()..)?;
            continue;
        }
        let said = if breaks == 1 {
            " ".to_owned()
        } else {
            "\n".repeat(breaks - 1)
        };
        left = left.strip_prefix(said.as_str())?;
        source = blank;
    }
    Some(rest.len() - source.len())
}

fn single_quoted(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    let mut quotes = inner.match_indices('\'').map(|(at, _)| at).peekable();
    while let Some(at) = quotes.next() {
        if quotes.next_if_eq(&(at + 1)).is_none() {
            return Some(at + 2);
        }
    }
    None
}

fn double_quoted(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('"')?;
    let mut is_escaped = false;
    for (at, c) in inner.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// Returns the range of a block scalar's content, from its first character, at `start`, to its last.
fn block(text: &str, start: usize) -> Option<Range<usize>> {
    let (before, rest) = text.split_at_checked(start)?;
    let own = before.len() - before.trim_end_matches(' ').len();
    let mut end = start;
    let mut at = start - own;
    for line in text.get(at..)?.split_inclusive('\n') {
        let said = line.trim_end_matches(['\r', '\n']);
        let indent = said.len() - said.trim_start_matches(' ').len();
        if indent < own && indent < said.len() {
            break;
        }
        if indent < said.len() {
            end = at + said.len();
        }
        at += line.len();
    }
    (!rest.is_empty() && end > start).then_some(start..end)
}

impl FoundScalar {
    /// Returns the text in the style of the scalar, if the style can represent it.
    fn written(&self, text: &str, context: Context) -> String {
        match self.style {
            ScalarStyle::Literal | ScalarStyle::Folded => text.to_owned(),
            ScalarStyle::Plain if is_plain(text, context) => text.to_owned(),
            ScalarStyle::Plain | ScalarStyle::SingleQuoted if !text.contains(char::is_control) => {
                format!("'{}'", text.replace('\'', "''"))
            }
            _ => in_double_quotes(text),
        }
    }
}

/// Returns whether the text keeps its meaning without quotes.
fn is_plain(text: &str, context: Context) -> bool {
    let document = match context {
        Context::Block => format!("k: {text}\n"),
        Context::Flow => format!("[{text}]\n"),
    };
    let scalar = |event| match event {
        Event::Scalar(value, style, anchor, tag) => Some((value, style, anchor, tag)),
        _ => None,
    };
    let last = events(&document).filter_map(scalar).last();
    let is_same = last.is_some_and(|(value, style, anchor, tag)| {
        let means = Scalar::new(value, style, tag.as_deref());
        anchor == 0 && tag.is_none() && means.value() == Value::Text(text)
    });
    is_same && !text.contains(char::is_control)
}

/// Checks that the new document differs from the old one only in these texts.
fn verify(
    old: &str,
    new: &[u8],
    found: &BTreeMap<Position, FoundScalar>,
    texts: &BTreeMap<Position, String>,
) -> Result<(), DocumentError> {
    let new = document::text(new)?;
    let replaced: BTreeMap<usize, (&Position, &String)> = texts
        .iter()
        .filter_map(|(place, text)| Some((found.get(place)?.ordinal, (place, text))))
        .collect();
    let (mut before, mut after) = (events(old), events(new));
    for ordinal in 0.. {
        let (old, new) = (before.next(), after.next());
        let is_same = match (replaced.get(&ordinal), &new) {
            (Some((_, text)), Some(Event::Scalar(value, style, anchor, tag))) => {
                let means = Scalar::new(value.clone(), *style, tag.as_deref());
                *anchor == 0 && means.value() == Value::Text(text)
            }
            (Some(_), _) => false,
            (None, _) => old == new,
        };
        if !is_same {
            let place = replaced.range(..=ordinal).next_back();
            let place = place.map_or(Position { line: 1, column: 1 }, |(_, (place, _))| **place);
            let text = texts.get(&place).map_or("", String::as_str);
            let why = format!("the value cannot contain `{}` in its YAML style", shortened(text));
            return Err(DocumentError::at(place, why));
        }
        if old.is_none() {
            return Ok(());
        }
    }
    Ok(())
}

/// Returns the events up to the first error, after which a parser would not advance.
fn events(text: &str) -> impl Iterator<Item = Event<'_>> {
    let parser = Parser::new(TextInput::new(text));
    parser.map_while(Result::ok).map(|(event, _)| event)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{NodeRef, Tree};
    use proptest::prelude::*;

    fn place(document: &str) -> Position {
        let tree = Tree::read(document.as_bytes(), None).unwrap();
        tree.root().get("k").unwrap().position()
    }

    fn replaced(document: &str, text: &str) -> Result<String, String> {
        let texts = BTreeMap::from([(place(document), text.to_owned())]);
        let bytes = rewrite(document.as_bytes(), &texts).map_err(|error| error.to_string())?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn value_keeps_its_style_and_all_around_it_stays() {
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
    fn plain_value_is_quoted_only_where_it_must_be() {
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
    fn value_that_cannot_be_replaced_alone_is_refused_with_place() {
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
        let tree = Tree::read(document.as_bytes(), None).unwrap();
        let places: Vec<Position> = tree
            .root()
            .get("a")
            .unwrap()
            .items()
            .unwrap()
            .map(NodeRef::position)
            .collect();
        let texts = [(places[0], "1,2".to_owned()), (places[2], "w".to_owned())];
        let new = rewrite(document.as_bytes(), &BTreeMap::from(texts)).unwrap();
        assert_eq!(String::from_utf8(new).unwrap(), "a: ['1,2', 'y', w]\n");
        let around: Vec<String> = around(document.as_bytes(), &places)
            .unwrap()
            .iter()
            .map(|part| String::from_utf8_lossy(part).into_owned())
            .collect();
        assert_eq!(around, ["", "a: [", ", ", ", ", "]\n"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn whatever_is_written_is_read_again(
            form in prop::sample::select(vec!["k: X\nz: 1\n", "k: 'X'\n", "k: \"X\"\n", "{k: X}", "# é\nk: >-\n  X\nz: 1", "k: |-\n  X\n"]),
            text in "[a-cé \t:#,'\"\\[\\]{}&*!|>%@`?.\\\\/0-9-]{1,20}",
        ) {
            match replaced(form, &text) {
                Ok(document) => {
                    let tree = Tree::read(document.as_bytes(), None).unwrap();
                    prop_assert_eq!(tree.root().get("k").unwrap().string(), Some(text.as_str()));
                }
                Err(why) => prop_assert!(form.contains(['>', '|']), "{}", why),
            }
        }
    }
}
