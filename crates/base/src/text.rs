//! Makes text from outside safe to show.
//!
//! Server responses, file names and repository content may contain terminal escapes, or lines that a CI host reads
//! as a command. All text for people passes through here; machine-readable formats have their own escapes. This module
//! also shortens lists, suggests corrections for misspelled words, joins numbers with their nouns, and formats bytes as
//! hexadecimal digits.

mod list;
mod suggestion;
pub mod wrap;

pub use list::{List, and_more, and_more_of, more};
pub use suggestion::{
    did_you_mean, did_you_mean_any, is_similar, is_similar_path, most_similar, nearest, suggest,
};

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

/// Returns the first seven digits of an id, or the first seven characters of another text, for display.
pub fn short_id(text: &str) -> &str {
    text.char_indices().nth(7).map_or(text, |(end, _)| &text[..end])
}

/// Returns the bytes as lowercase hexadecimal digits, two for each byte.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(u32::from(digit), 16))
        .collect()
}

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
    fn word_stays_one_word() {
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
