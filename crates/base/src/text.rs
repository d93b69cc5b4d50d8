//! Makes text from outside safe to show.
//!
//! Server responses, file names and repository content may contain terminal escapes, or lines that a CI host reads
//! as a command. All text for people passes through here; machine-readable formats have their own escapes. This module
//! also suggests corrections for misspelled words, joins numbers with their nouns, and formats bytes as hexadecimal
//! digits.

pub mod wrap;

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io;

/// Command prefixes that a host recognizes anywhere in a line: GitHub's older form and Azure's logging commands.
/// GitHub: <https://github.com/actions/toolkit/blob/main/docs/problem-matchers.md>,
/// Azure: <https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands>.
const COMMAND_MARKS: [(&str, &str); 2] = [("##[", "# #["), ("##vso[", "# #vso[")];

/// Returns the text as one safe line: line breaks become spaces, other control characters are escaped, and host
/// commands are broken up.
pub fn line(text: &str) -> String {
    let joined: String = text
        .chars()
        .map(|c| if is_line_break(c) { ' ' } else { c })
        .collect();
    block(&joined).into_owned()
}

/// Returns the text as safe lines: line breaks stay (CR LF becomes LF), other control characters are escaped, and
/// no line can be read as a host command.
pub fn block(text: &str) -> Cow<'_, str> {
    if is_harmless(text) {
        return Cow::Borrowed(text);
    }
    let unified = text.replace("\r\n", "\n");
    let lines: Vec<String> = unified.split('\n').map(safe_line).collect();
    Cow::Owned(lines.join("\n"))
}

/// Escapes control characters for a page, which no host reads as commands: line breaks stay (CR LF becomes LF), and
/// all other text is unchanged.
pub fn visible(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let unified = text.replace("\r\n", "\n");
    let lines: Vec<String> = unified.split('\n').map(visible_line).collect();
    lines.join("\n")
}

/// Returns whether the byte is a character of ASCII that no kind of markup escapes, as nearly all are.
pub const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'' | b'`' | b'#')
}

/// Removes host command prefixes from JSON without changing its meaning. They can occur only inside strings, where
/// the escaped `#` reads the same; a line of JSON cannot start with `::`.
pub fn json(json: String) -> String {
    if !json.contains("##") {
        return json;
    }
    json.replace("##[", r"\u0023#[").replace("##vso[", r"\u0023#vso[")
}

/// A writer for JSON that removes host command prefixes: the second of two `#` is escaped, which does not change
/// the meaning.
pub struct SafeJson<W> {
    out: W,
    is_after_mark: bool,
}

impl<W: io::Write> SafeJson<W> {
    pub const fn new(out: W) -> Self {
        Self {
            out,
            is_after_mark: false,
        }
    }
}

impl<W: io::Write> io::Write for SafeJson<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if memchr::memchr(b'#', piece).is_none() {
            self.is_after_mark &= piece.is_empty();
            self.out.write_all(piece)?;
            return Ok(piece.len());
        }
        for part in piece.split_inclusive(|byte| *byte == b'#') {
            if self.is_after_mark && part == b"#" {
                self.out.write_all(br"\u0023")?;
            } else {
                self.out.write_all(part)?;
            }
            self.is_after_mark = part.ends_with(b"#");
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Escapes text for an element or a quoted attribute of HTML, XML or SVG. Line breaks become character references,
/// so no line of the page begins with text from outside. The second of two `#` is escaped, so that a page on standard
/// output contains no host command.
pub fn markup(raw: &str) -> String {
    if raw.bytes().all(is_plain) {
        return raw.to_owned();
    }
    let safe = visible(raw);
    let mut shown = String::with_capacity(safe.len() + safe.len() / 8);
    for c in safe.chars() {
        match c {
            '&' | '<' | '>' | '"' | '\'' | '\n' | '`' => {
                let _ = write!(shown, "&#{};", u32::from(c));
            }
            '#' if shown.ends_with('#') => shown.push_str("&#35;"),
            _ if is_no_character(c) => shown.push('\u{fffd}'),
            _ => shown.push(c),
        }
    }
    shown
}

/// Returns the number with its noun: `1 file`, `2,505 files`.
pub fn count<N: Copy + PartialEq + From<u8> + Display>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// Returns the number with a comma before every three digits: `2,505`.
pub fn grouped<N: Display>(number: N) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Joins the first three names and the number of the others, for a sentence. The result may contain text from
/// outside.
pub fn named<S: AsRef<str>>(names: &[S]) -> String {
    first_named(names, 3)
}

/// Joins the first `most` names and the number of the others, like [`named`].
pub fn first_named<S: AsRef<str>>(names: &[S], most: usize) -> String {
    let first: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let mut said = first.join(", ");
    if names.len() > most {
        let _ = write!(said, " and {} more", names.len() - most);
    }
    said
}

/// Joins the first `most` names of a list of `all` names; the last item is the number of the others. The result may
/// contain text from outside.
pub fn listed(names: &[String], most: usize, all: usize) -> String {
    let mut first: Vec<String> = names.iter().take(most).cloned().collect();
    let more = all.saturating_sub(first.len());
    first.extend((more > 0).then(|| format!("{more} more")));
    first.join(", ")
}

/// Joins numbers with their nouns and omits those that are 0.
pub fn counts(parts: &[(usize, &str)]) -> String {
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, noun)| count(*number, noun)).collect();
    parts.join(", ")
}

/// Returns the word for use in a shell command, quoted if it contains special characters.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,@%=:".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns the bytes as lowercase hexadecimal digits, two for each byte.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(u32::from(digit), 16))
        .collect()
}

/// Maximum length in bytes of a word that is compared with known words. Nobody typed a longer one.
const COMPARED: usize = 200;

/// Maximum length in bytes of a known word. A longer one is not close to any word that is compared.
const COMPARED_WITH: usize = 4 * COMPARED;

/// Maximum number of characters of a name in a sentence.
const SHOWN: usize = 300;

/// Returns a name for a sentence. A very long one is shortened in its middle, because a message may repeat a name that
/// is stored once.
pub fn bounded(name: &str) -> Cow<'_, str> {
    if name.char_indices().nth(SHOWN).is_none() {
        return Cow::Borrowed(name);
    }
    let half = SHOWN / 2;
    let start: String = name.chars().take(half).collect();
    let end = name.char_indices().rev().nth(half - 1).map_or(0, |(at, _)| at);
    Cow::Owned(format!("{start}…{}", name.get(end..).unwrap_or_default()))
}

/// Returns the known word that is closest to `word`, or `None` if no word is close enough.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    if word.len() > COMPARED {
        return None;
    }
    let length = word.chars().count();
    // The distance is at least the difference of the lengths, and a comparison needs memory for each pair of characters.
    let is_near =
        |k: &&&str| k.len() <= COMPARED_WITH && k.chars().count().abs_diff(length) <= k.len().div_ceil(3);
    let scored = known
        .iter()
        .filter(is_near)
        .map(|k| (strsim::damerau_levenshtein(word, k), *k));
    scored
        .min()
        .filter(|(distance, k)| *distance <= k.len().div_ceil(3))
        .map(|(_, k)| k)
}

/// Minimum similarity of a name that is suggested for another one.
const SIMILAR: f64 = 0.85;

/// Minimum number of characters of a name in which one wrong character is a typo.
const TYPO_LENGTH: usize = 4;

/// Returns the known name that is most similar to `name`, or `None` if none is similar.
pub fn most_similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .filter(|other| is_similar(name, other))
        .map(|other| (similarity(name, other), other))
        .max_by(|(a, one), (b, other)| a.total_cmp(b).then_with(|| other.cmp(one)))
        .map(|(_, other)| other)
}

/// Returns whether one name is probably the other one with a typo: they are similar, or differ by one character that is
/// missing or by two that are swapped. Names that differ in a digit are not.
pub fn is_similar(one: &str, other: &str) -> bool {
    may_be_similar(one, other) && (similarity(one, other) >= SIMILAR || is_typo(one, other))
}

/// Returns whether one name lacks one character of the other, or has two swapped.
fn is_typo(one: &str, other: &str) -> bool {
    let [one_letters, other_letters] = [one, other].map(|name| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters
    });
    let is_long = one_letters.len().min(other_letters.len()) >= TYPO_LENGTH;
    let is_substitution = one_letters.len() == other_letters.len() && one_letters != other_letters;
    is_long && !is_substitution && strsim::damerau_levenshtein(one, other) == 1
}

/// Returns whether two paths are at least as similar as a suggestion must be.
pub fn is_similar_path(one: &str, other: &str) -> bool {
    may_be_similar(one, other) && similarity(one, other) >= SIMILAR
}

/// Returns whether a comparison of two names is worth its cost. A comparison needs memory for each pair of characters.
fn may_be_similar(one: &str, other: &str) -> bool {
    let [length, other_length] = [one, other].map(|name| name.chars().count());
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<Vec<_>>();
    one.len() <= COMPARED
        && other.len() <= COMPARED_WITH
        && length.abs_diff(other_length) <= 1 + length.max(other_length) * 15 / 100
        && digits(one) == digits(other)
}

/// Returns the similarity of two names regardless of case, from 0 to 1.
fn similarity(one: &str, other: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(&one.to_lowercase(), &other.to_lowercase())
}

fn is_harmless(text: &str) -> bool {
    !text.chars().any(|c| c != '\n' && is_unsafe(c)) && !text.contains("::") && !text.contains("##")
}

fn safe_line(line: &str) -> String {
    let mut shown = visible_line(line);
    for (mark, broken) in COMMAND_MARKS {
        shown = shown.replace(mark, broken);
    }
    break_leading_command(shown)
}

fn visible_line(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for c in line.chars() {
        if is_unsafe(c) && c != '\t' {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Breaks a leading `::`. GitHub's runner trims a line before it looks for `::`, so leading blanks do not protect.
fn break_leading_command(line: String) -> String {
    let trimmed = line.trim_start();
    if !trimmed.starts_with("::") {
        return line;
    }
    let indent = line.len() - trimmed.len();
    format!("{}: {}", &line[..indent], &trimmed[1..])
}

const fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Returns whether the character is a control character, or changes the direction of text and so can disguise it.
fn is_unsafe(c: char) -> bool {
    ((c.is_control() || is_line_break(c)) && c != '\n')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Returns whether neither HTML nor XML allows the character in text.
const fn is_no_character(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || (c as u32) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::{SafeJson, block, line, shell_word};
    use proptest::prelude::*;
    use std::io::Write as _;

    #[test]
    fn terminal_escapes_are_shown_as_text() {
        assert_eq!(line("a\u{1b}[31mred"), "a\\u{1b}[31mred");
        assert_eq!(line("right\u{202e}left"), "right\\u{202e}left");
    }

    #[test]
    fn host_commands_are_broken_up() {
        assert_eq!(block("ok\n  ::error::x"), "ok\n  : :error::x");
        assert_eq!(block("x ##[error]y ##vso[task]z"), "x # #[error]y # #vso[task]z");
        assert_eq!(line("a\n::set-output name=x::y"), "a ::set-output name=x::y");
    }

    #[test]
    fn plain_text_is_untouched() {
        assert_eq!(line("Größe: a::b 100 %"), "Größe: a::b 100 %");
        assert_eq!(block("a\n\tb\r\nc"), "a\n\tb\nc");
        assert_eq!(
            super::markup("a = b; c # d: (e) 100 %"),
            "a = b; c # d: (e) 100 %"
        );
        assert_eq!(super::visible("a\tb"), "a\tb");
    }

    #[test]
    fn a_word_stays_one_word() {
        assert_eq!(
            shell_word("sales/load it's $(x).orch.yaml"),
            r"'sales/load it'\''s $(x).orch.yaml'"
        );
        assert_eq!(shell_word("sales/ü.orch.yaml"), "sales/ü.orch.yaml");
        assert_eq!(shell_word(""), "''");
    }

    proptest! {
        #[test]
        fn json_in_any_pieces_says_the_same_without_commands(text in "(#|\\[|vso|a|\"|\\n){0,20}", size in 1_usize..9) {
            let json = serde_json::to_string(&text).unwrap();
            let mut safe = SafeJson::new(Vec::new());
            for piece in json.as_bytes().chunks(size) {
                safe.write_all(piece).unwrap();
            }
            let safe = String::from_utf8(safe.out).unwrap();
            prop_assert!(!safe.contains("##"), "{safe}");
            prop_assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
        }

        #[test]
        fn no_line_can_be_a_command(text in "(\\PC|[\\r\\n\\x1b:#\\[]){0,80}") {
            for shown in block(&text).split(['\n', '\r']) {
                prop_assert!(!shown.trim_start().starts_with("::"), "{shown:?}");
                prop_assert!(!shown.contains("##["), "{shown:?}");
                prop_assert!(!shown.contains('\u{1b}'), "{shown:?}");
            }
        }
    }
}
