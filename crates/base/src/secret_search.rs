//! Finds secrets in a text, in the encodings in which a server may repeat them: as a form, a URL or JSON spells their
//! characters, in hexadecimal digits, and in base64, also as a part of a longer encoded text or on several lines.
//!
//! A search reads the text once. Only at a byte with which a secret may begin, it compares the following characters.
//! Only line breaks with indentation may split a secret: with other blanks, ordinary words could be one.

use crate::text::to_hex;
use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use std::borrow::Cow;

/// Minimum length of a secret that is also found if it is encoded as a whole or on several lines, in bytes. The
/// encoding of a shorter secret may be an ordinary word.
const MIN_ENCODED_LENGTH: usize = 8;

/// Maximum number of whitespace characters at which a secret continues on another line.
const MAX_GAP_LENGTH: usize = 64;

/// Maximum number of backslashes that one escape sequence begins with. Each time a JSON string is quoted again, their
/// number doubles, so this suffices for a backslash that is quoted four times.
const MAX_BACKSLASHES: usize = 16;

/// Number of characters that are compared before the spellings of all characters are.
const START_LENGTH: usize = 3;

/// The characters of a secret's encoding, for the comparison with a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    /// The secret itself.
    Plain,
    /// Hexadecimal digits in any case.
    Hex,
    /// The standard digits or those for URLs.
    Base64,
}

impl Alphabet {
    /// Returns the character that stands for all characters with the same meaning.
    fn normalize(self, c: char) -> char {
        match (self, c) {
            (Self::Hex, _) => c.to_ascii_lowercase(),
            (Self::Base64, '-') => '+',
            (Self::Base64, '_') => '/',
            _ => c,
        }
    }
}

/// A secret in one encoding.
struct SecretPattern {
    characters: Vec<char>,
    alphabet: Alphabet,
    /// True if the characters may be on several lines.
    can_wrap: bool,
}

impl SecretPattern {
    /// Lists the secret and its encodings.
    fn list_encodings(secret: &str) -> Vec<Self> {
        let can_wrap = secret.len() >= MIN_ENCODED_LENGTH;
        // A line break stands for all that a gap may contain, so empty lines are omitted.
        let lines: Vec<&str> = secret.lines().filter(|line| !line.is_empty()).collect();
        let text = if can_wrap {
            lines.join("\n")
        } else {
            secret.to_owned()
        };
        let mut encodings = vec![(text, Alphabet::Plain)];
        if can_wrap {
            encodings.push((to_hex(secret.as_bytes()), Alphabet::Hex));
            encodings.extend((0..3).map(|offset| (encode_base64(secret, offset), Alphabet::Base64)));
        }
        let encodings = encodings.into_iter().filter(|(text, _)| !text.is_empty());
        encodings
            .map(|(text, alphabet)| Self {
                characters: text.chars().collect(),
                alphabet,
                can_wrap,
            })
            .collect()
    }

    /// Returns whether the pattern may begin with this byte of a text.
    fn can_begin_with(&self, byte: u8) -> bool {
        let Some(first) = self.characters.first() else {
            return false;
        };
        match byte {
            // An escape sequence of any character.
            b'%' | b'\\' => true,
            b'+' if *first == ' ' => true,
            _ if byte.is_ascii() => self.alphabet.normalize(char::from(byte)) == *first,
            _ => first.encode_utf8(&mut [0; 4]).as_bytes().first() == Some(&byte),
        }
    }

    /// Returns whether the text may begin with a spelling of the pattern. Compares only the first characters, up to one
    /// that may begin an escape sequence or stand for another one, because this is fast.
    fn can_begin(&self, text: &[u8]) -> bool {
        for (character, byte) in self.characters.iter().zip(text).take(START_LENGTH) {
            if !byte.is_ascii() || matches!(byte, b'%' | b'\\' | b'+' | b'\r' | b'\n') {
                return true;
            }
            if self.alphabet.normalize(char::from(*byte)) != *character {
                return false;
            }
        }
        true
    }

    /// Returns the end of the longest spelling of the pattern that begins at `start`, if there is any. A character may
    /// have several spellings, so all possible ends are followed.
    fn find_end(&self, text: &str, start: usize) -> Option<usize> {
        let mut ends = vec![start];
        for (index, character) in self.characters.iter().enumerate() {
            let mut next_ends = Vec::new();
            for end in ends {
                self.push_ends(*character, text, end, &mut next_ends);
                if self.can_wrap && index > 0 {
                    let gap_end = skip_gap(text, end);
                    if gap_end > end {
                        self.push_ends(*character, text, gap_end, &mut next_ends);
                        // A line break may replace a blank or another line break.
                        next_ends.extend(character.is_whitespace().then_some(gap_end));
                    }
                }
            }
            if next_ends.is_empty() {
                return None;
            }
            next_ends.sort_unstable();
            next_ends.dedup();
            ends = next_ends;
        }
        ends.last().copied()
    }

    /// Adds the ends of all spellings of `character` that begin at `start`.
    fn push_ends(&self, character: char, text: &str, start: usize, ends: &mut Vec<usize>) {
        for (c, length) in read_spellings(text.get(start..).unwrap_or_default()) {
            if self.alphabet.normalize(c) == character {
                ends.push(start + length);
            }
        }
    }
}

/// Prepared search for secrets.
pub(crate) struct SecretSearch {
    patterns: Vec<SecretPattern>,
    /// True for each byte with which a pattern may begin.
    is_first_byte: [bool; 256],
}

impl SecretSearch {
    pub(crate) fn new<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let patterns: Vec<SecretPattern> = secrets
            .into_iter()
            .flat_map(SecretPattern::list_encodings)
            .collect();
        let mut is_first_byte = [false; 256];
        for (byte, is_first) in (0..=u8::MAX).zip(&mut is_first_byte) {
            *is_first = patterns.iter().any(|pattern| pattern.can_begin_with(byte));
        }
        Self {
            patterns,
            is_first_byte,
        }
    }

    /// Returns the text with each secret replaced by `replacement`. Without a secret, the text is not copied.
    pub(crate) fn replace<'t>(&self, text: &'t str, replacement: &str) -> Cow<'t, str> {
        let mut output = String::new();
        let (mut copied_length, mut position) = (0, 0);
        while let Some(start) = self.find_start(text, position) {
            position = start + 1;
            if let Some(end) = self.find_end(text, start) {
                output.push_str(text.get(copied_length..start).unwrap_or_default());
                output.push_str(replacement);
                (copied_length, position) = (end, end);
            }
        }
        if copied_length == 0 {
            return Cow::Borrowed(text);
        }
        output.push_str(text.get(copied_length..).unwrap_or_default());
        Cow::Owned(output)
    }

    /// Returns the position of the next byte with which a secret may begin.
    fn find_start(&self, text: &str, position: usize) -> Option<usize> {
        let tail = text.as_bytes().get(position..)?;
        let length = tail
            .iter()
            .position(|byte| self.is_first_byte.get(usize::from(*byte)) == Some(&true))?;
        Some(position + length)
    }

    /// Returns the end of the longest secret that begins at `start`.
    fn find_end(&self, text: &str, start: usize) -> Option<usize> {
        let tail = text.as_bytes().get(start..)?;
        let patterns = self.patterns.iter();
        patterns
            .filter(|pattern| pattern.can_begin(tail))
            .filter_map(|pattern| pattern.find_end(text, start))
            .max()
    }
}

/// Encodes the secret as base64 behind `offset` other bytes (0 to 2). Contains only the digits that do not depend on
/// the bytes around the secret.
fn encode_base64(secret: &str, offset: usize) -> String {
    let bytes = [&[0; 2][..offset.min(2)], secret.as_bytes()].concat();
    let digits = STANDARD_NO_PAD.encode(&bytes);
    let complete_digits = (8 * offset).div_ceil(6)..8 * bytes.len() / 6;
    digits.get(complete_digits).unwrap_or_default().to_owned()
}

/// Returns the position after the line breaks at `start` and the indentation behind them, which may be escaped. Returns
/// `start` if there is no line break or too much whitespace.
fn skip_gap(text: &str, start: usize) -> usize {
    let mut position = start;
    for _ in 0..=MAX_GAP_LENGTH {
        let tail = text.get(position..).unwrap_or_default();
        let is_gap = |c: char| matches!(c, '\r' | '\n') || position > start && matches!(c, ' ' | '\t');
        // A plus sign is a digit of base64.
        match read_spellings(tail).find(|(c, _)| is_gap(*c) && !tail.starts_with('+')) {
            Some((_, length)) => position += length,
            None => return position,
        }
    }
    start
}

/// Returns the characters that a text may begin with, each with the length of its spelling: the first character, the
/// character of an escape sequence of a URL or of JSON, and the space for which a form has a plus sign. In JSON that is
/// quoted once more, several backslashes stand for one.
fn read_spellings(text: &str) -> impl Iterator<Item = (char, usize)> {
    let first = text.chars().next();
    let backslash_count = count_backslashes(text);
    let meaning = match first {
        Some('%') => decode_percent_escape(text),
        Some('\\') => decode_json_escape(text, backslash_count),
        Some('+') => Some((' ', 1)),
        _ => None,
    };
    let backslashes = (2..=backslash_count).map(|length| ('\\', length));
    first
        .map(|c| (c, c.len_utf8()))
        .into_iter()
        .chain(backslashes)
        .chain(meaning)
}

/// Returns the number of backslashes at the beginning of the text, at most [`MAX_BACKSLASHES`].
fn count_backslashes(text: &str) -> usize {
    text.bytes()
        .take(MAX_BACKSLASHES)
        .take_while(|byte| *byte == b'\\')
        .count()
}

/// Decodes the character at the beginning of a URL's text, such as `%C3%A4`, and returns it with the length of its
/// spelling.
fn decode_percent_escape(text: &str) -> Option<(char, usize)> {
    let mut bytes = Vec::new();
    for index in 0..4 {
        let escape = text.get(3 * index..3 * index + 3)?.strip_prefix('%')?;
        bytes.push(parse_hex(escape)?.try_into().ok()?);
        if let Ok(decoded_text) = std::str::from_utf8(&bytes) {
            return Some((decoded_text.chars().next()?, 3 * bytes.len()));
        }
    }
    None
}

/// Decodes the escape sequence at the beginning of a JSON string's text, and returns its character with the length of
/// its spelling. Backslashes before any character other than a letter or a digit stand for that character.
fn decode_json_escape(text: &str, backslash_count: usize) -> Option<(char, usize)> {
    let escaped_character = text.get(backslash_count..)?.chars().next()?;
    let character = match escaped_character {
        'u' => return decode_unicode_escape(text),
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        // A longer row of backslashes than that of one escape sequence.
        '\\' => return None,
        c if c.is_ascii_alphanumeric() => return None,
        c => c,
    };
    Some((character, backslash_count + escaped_character.len_utf8()))
}

/// Decodes a sequence such as `\u00e4`, or two sequences that are a surrogate pair.
fn decode_unicode_escape(text: &str) -> Option<(char, usize)> {
    let (first_unit, first_length) = parse_unicode_unit(text)?;
    let second = text.get(first_length..).and_then(parse_unicode_unit);
    let units = [Some(first_unit), second.map(|(unit, _)| unit)];
    let character = char::decode_utf16(units.into_iter().flatten()).next()?.ok()?;
    let second_length = second
        .filter(|_| character.len_utf16() == 2)
        .map(|(_, length)| length);
    Some((character, first_length + second_length.unwrap_or_default()))
}

/// Parses a sequence such as `\u00e4` at the beginning of the text, and returns it with its length.
fn parse_unicode_unit(text: &str) -> Option<(u16, usize)> {
    let backslash_count = count_backslashes(text);
    let digits_start = backslash_count + 1;
    let length = digits_start + 4;
    if backslash_count == 0 || text.get(backslash_count..digits_start)? != "u" {
        return None;
    }
    let unit = parse_hex(text.get(digits_start..length)?)?.try_into().ok()?;
    Some((unit, length))
}

/// Parses hexadecimal digits, without a sign.
fn parse_hex(digits: &str) -> Option<u32> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number.then(|| u32::from_str_radix(digits, 16).ok())?
}
