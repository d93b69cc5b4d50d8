//! The input of the parser: a text in memory.
//!
//! The parser's own input for texts decodes each character several times. It also reports a buffer of 128 characters,
//! for which the parser reserves space in every plain scalar. Pipelines are almost completely ASCII, and half of their
//! scalars have fewer than 12 characters. The result of parsing does not depend on the input, which a test checks.

use saphyr_parser::input::Input;

/// Number of characters that the parser may read at once. For a plain scalar, it reserves 32 bytes, and requests this
/// many more after the first character, which has up to four bytes.
const LOOKAHEAD_CHARS: usize = 28;

/// A text and the reading position. The text contains no NUL, which the parser treats as the end.
pub(crate) struct TextInput<'a> {
    text: &'a str,
    /// The position in bytes; always on a character boundary.
    offset: usize,
}

impl<'a> TextInput<'a> {
    /// Creates the input, with the reading position at the beginning of the text.
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, offset: 0 }
    }

    /// Returns the byte at this distance from the reading position, without reading it.
    #[inline]
    fn peek_byte(&self, distance: usize) -> Option<u8> {
        self.text.as_bytes().get(self.offset + distance).copied()
    }

    /// Returns the character at this distance, in characters, from the reading position. It is slow, and marked as
    /// cold, because almost all text is ASCII and is looked up by bytes.
    #[cold]
    fn peek_char(&self, distance: usize) -> Option<char> {
        self.text.get(self.offset..)?.chars().nth(distance)
    }
}

/// Returns the number of bytes of the character that begins with this byte.
#[inline]
fn utf8_length(first_byte: u8) -> usize {
    match first_byte {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

/// Returns whether the byte separates or encloses the items of a flow collection (`[…]`, `{…}`).
#[inline]
fn is_flow_indicator(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}

impl Input for TextInput<'_> {
    /// Does nothing, because there is no buffer to fill: the complete text is already in memory.
    #[inline]
    fn lookahead(&mut self, _count: usize) {}

    /// Returns the number of characters that the parser may read at once, for which it reserves memory.
    #[inline]
    fn buflen(&self) -> usize {
        LOOKAHEAD_CHARS
    }

    /// Returns the same number as `buflen`, because the complete text is already in memory.
    #[inline]
    fn bufmaxlen(&self) -> usize {
        LOOKAHEAD_CHARS
    }

    /// Returns false, because the parser reads the text itself and not a buffer.
    #[inline]
    fn buf_is_empty(&self) -> bool {
        false
    }

    /// Reads a character; returns NUL at the end of the input.
    #[inline]
    fn raw_read_ch(&mut self) -> char {
        let next = self.peek();
        self.skip();
        next
    }

    /// Reads a character. Returns `None` without reading it if the line or the input ends there, which the parser calls
    /// `breakz`, or if it is a byte order mark, which YAML does not allow inside a document.
    #[inline]
    fn raw_read_non_breakz_ch(&mut self) -> Option<char> {
        let next = self.peek_opt()?;
        if matches!(next, '\0' | '\n' | '\r' | '\u{FEFF}') {
            return None;
        }
        self.skip();
        Some(next)
    }

    /// Skips a character; does nothing at the end of the input.
    #[inline]
    fn skip(&mut self) {
        self.offset += self.peek_byte(0).map_or(0, utf8_length);
    }

    #[inline]
    fn skip_n(&mut self, count: usize) {
        for _ in 0..count {
            self.skip();
        }
    }

    /// Returns the next character without reading it; NUL at the end of the input.
    #[inline]
    fn peek(&self) -> char {
        self.peek_opt().unwrap_or('\0')
    }

    /// Returns the character `n` characters ahead without reading it; NUL after the end of the input. ASCII is looked
    /// up by bytes, which is faster.
    #[inline]
    fn peek_nth(&self, n: usize) -> char {
        match (n, self.peek_byte(0), self.peek_byte(1)) {
            (0, ..) => self.peek(),
            (1, Some(first), Some(second)) if first.is_ascii() && second.is_ascii() => char::from(second),
            _ => self.peek_char(n).unwrap_or('\0'),
        }
    }

    /// Returns the next character without reading it; `None` at the end of the input.
    #[inline]
    fn peek_opt(&self) -> Option<char> {
        match self.peek_byte(0)? {
            byte if byte.is_ascii() => Some(char::from(byte)),
            _ => self.peek_char(0),
        }
    }

    /// Returns whether the next character, which is neither a blank nor the end, may continue a plain scalar. A colon
    /// ends it before a blank, a byte order mark ends it anywhere, and an indicator such as a bracket ends it in a flow
    /// collection (`is_in_flow`).
    #[inline]
    fn next_can_be_plain_scalar(&self, is_in_flow: bool) -> bool {
        match self.peek_byte(0) {
            Some(b':') => match self.peek_byte(1) {
                None | Some(b' ' | b'\t' | b'\n' | b'\r') => false,
                Some(next) => !(is_in_flow && is_flow_indicator(next)),
            },
            Some(byte) if byte.is_ascii() => !(is_in_flow && is_flow_indicator(byte)),
            Some(_) => self.peek() != '\u{FEFF}',
            None => true,
        }
    }

    /// Returns whether the next character is a blank or a line break, or the input ends. The parser calls a line break
    /// or the end `breakz`.
    #[inline]
    fn next_is_blank_or_breakz(&self) -> bool {
        matches!(self.peek_byte(0), None | Some(b' ' | b'\t' | b'\n' | b'\r'))
    }

    /// Returns whether the next character is a blank or a line break.
    #[inline]
    fn next_is_blank_or_break(&self) -> bool {
        matches!(self.peek_byte(0), Some(b' ' | b'\t' | b'\n' | b'\r'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use saphyr_parser::{Event, Parser, ScanError, Span};

    /// Returns the parser's output for a text, up to its end or its first error.
    fn told<I: Input>(parser: Parser<'_, I>) -> (Vec<(Event<'_>, Span)>, Option<ScanError>) {
        let mut events = Vec::new();
        for event in parser {
            match event {
                Ok(event) => events.push(event),
                Err(error) => return (events, Some(error)),
            }
        }
        (events, None)
    }

    /// Compares with the parser's simplest input, because its input for texts counts the bytes of a directive's name.
    fn assert_told_alike(text: &str) {
        assert_eq!(
            told(Parser::new(TextInput::new(text))),
            told(Parser::new_from_iter(text.chars())),
            "{text:?}"
        );
    }

    /// Checks every scalar style, with lengths at and above the number of characters that are read at once.
    #[test]
    fn events_do_not_depend_on_parser_input() {
        let long = ["ü", "a", "a b", "a: b", "😀", "x#", "# ", "- "].map(|part| part.repeat(40));
        let short = [
            "",
            "\u{feff}",
            "a\u{feff}b",
            "a #\u{feff}",
            "é: ü",
            "---",
            "...",
            "--- a",
            "%TAG ! x",
        ]
        .map(str::to_owned);
        for part in long.iter().chain(&short) {
            for form in [
                "{}",
                "k: {}\n",
                "- \"{}\"\n",
                "'{}' : 1",
                "a: |2\n  {}\n b",
                ">\n {}\n\n {}\n",
                "[{}, {}]",
                "{ {} : {} }",
                "&{} *{}",
                "!<{}> !{}",
                "# {}\r\n{}",
            ] {
                assert_told_alike(&form.replace("{}", part));
            }
        }
    }

    /// Checks indentation around the number of characters that are read at once, with both inputs.
    #[test]
    fn block_scalar_with_any_indentation_is_read() {
        for depth in (20..34).chain(120..134) {
            let indent = " ".repeat(depth);
            for begin in ["k: |", "k: >", "- - |+"] {
                assert_told_alike(&format!("{begin}\n{indent}a\n{indent}  b\n\n{indent}c\n  d"));
                assert_told_alike(&format!("{begin}\n{indent}\n{indent}a\n {indent}"));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]
        #[test]
        fn events_of_any_text_do_not_depend_on_parser_input(text in "([a-c\u{e9}\u{20ac}\u{1f600}\u{feff}0-9 \t\r\n:,\\[\\]{}#&*!|>'\"%@`?.\\\\x+-]|: |- |\n  |\n|---|\\.\\.\\.|\\\\u00e9){0,60}") {
            assert_told_alike(&text);
        }
    }
}
