//! Makes untrusted text safe to show.
//!
//! Server responses, file names and repository content may contain terminal escapes, or lines that a CI host reads
//! as a command. All text for people passes through here; machine-readable formats have their own escapes. This module
//! also shortens lists, suggests corrections for misspelled words, joins numbers with their nouns, and formats bytes as
//! hexadecimal digits.

mod list;
mod suggestion;
pub mod wrap;

pub use list::{
    List, format_and_more, format_and_more_of, format_more, join_names_within, join_with_and,
    join_with_commas_and, join_with_or,
};
pub use suggestion::{
    NameProfile, did_you_mean, did_you_mean_any, find_most_similar, find_nearest_word, suggest,
    suggestion_after_colon,
};

use serde::Serialize;
use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io;
use std::path::Path;

/// Command prefixes that a host recognizes anywhere in a line: GitHub's older form, Azure's logging commands and
/// TeamCity's service messages.
/// GitHub: <https://github.com/actions/toolkit/blob/main/docs/problem-matchers.md>,
/// Azure: <https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands>,
/// TeamCity: <https://www.jetbrains.com/help/teamcity/service-messages.html>.
const COMMAND_PREFIXES: [&str; 3] = ["##[", "##vso[", "##teamcity["];

/// Returns the text as one safe line: line breaks become spaces, other control characters are escaped, and commands
/// that a CI host would read in its log (`::error`, `##vso[`) are broken up.
pub fn escape_line(text: &str) -> String {
    escape_lines(&to_single_line(text)).into_owned()
}

/// Returns the text on one line: each line break becomes a space.
pub fn to_single_line(text: &str) -> Cow<'_, str> {
    if text.contains(is_line_break) {
        Cow::Owned(text.replace(is_line_break, " "))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns the path on one line, for a message.
pub fn format_path(path: &Path) -> String {
    to_single_line(&path.to_string_lossy()).into_owned()
}

/// Returns the text as safe lines: line breaks stay (CR LF becomes LF), other control characters are escaped, and
/// no line can be read as a command of a CI host.
pub fn escape_lines(text: &str) -> Cow<'_, str> {
    if is_safe(text) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<String> = text
        .replace("\r\n", "\n")
        .split('\n')
        .map(escape_host_commands)
        .collect();
    Cow::Owned(lines.join("\n"))
}

/// Escapes control characters for an HTML page: line breaks stay (CR LF becomes LF), and all other text is unchanged.
/// No CI host reads commands in a page, so commands are not broken up.
pub fn escape_controls(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let lines: Vec<String> = text
        .replace("\r\n", "\n")
        .split('\n')
        .map(escape_controls_in_line)
        .collect();
    lines.join("\n")
}

/// Returns whether the byte is a character of ASCII that no kind of markup escapes. Nearly all bytes are such
/// characters.
pub const fn is_plain_in_markup(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'' | b'`' | b'#')
}

/// Replaces the `##` at the beginning of each CI host command (`##[`, `##vso[`) with `marks`, in which the two `#` are
/// separated or escaped. All other text is unchanged.
pub fn replace_command_marks(text: String, marks: &str) -> String {
    if !text.contains("##") {
        return text;
    }
    let mut replaced_text = text;
    for prefix in COMMAND_PREFIXES {
        replaced_text = replaced_text.replace(prefix, &format!("{marks}{}", &prefix[2..]));
    }
    replaced_text
}

/// Escapes the prefixes of CI host commands (`##[`, `##vso[`) and control characters in JSON without changing its
/// meaning. They can occur only inside strings, where the escaped characters read the same; a line of JSON cannot start
/// with `::`.
pub fn escape_commands_in_json(json: String) -> String {
    let is_plain = json.bytes().all(is_plain_in_json);
    let json = if is_plain {
        json
    } else {
        escape_controls_in_json(&json)
    };
    replace_command_marks(json, r"\u0023#")
}

/// Returns whether the byte is a character of ASCII that JSON can contain without an escape in a terminal.
const fn is_plain_in_json(byte: u8) -> bool {
    byte < 0x7f
}

/// Escapes the characters in JSON that are not safe to print ([`is_unsafe`]), which does not change its meaning: they
/// can occur only inside strings. JSON cannot contain the control characters of ASCII, except as white space.
fn escape_controls_in_json(json: &str) -> String {
    let mut escaped_json = String::with_capacity(json.len() + json.len() / 8);
    for c in json.chars() {
        if is_unsafe(c) && !c.is_ascii_whitespace() {
            // All these characters have up to 16 bits.
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped_json, "\\u{unit:04x}");
            }
        } else {
            escaped_json.push(c);
        }
    }
    escaped_json
}

/// Writes the value as indented JSON with a final line break, with escapes that make it safe to print in a CI log.
pub fn write_json(value: &impl Serialize, mut writer: impl io::Write) -> io::Result<()> {
    serde_json::to_writer_pretty(JsonEscaper::new(&mut writer), value)?;
    writer.write_all(b"\n")
}

/// A writer for JSON that is safe to print: it escapes control characters, which a terminal would interpret, and the
/// second of two `#`, so that there are no commands of a CI host, such as `##vso[`. The escapes do not change the
/// value.
pub struct JsonEscaper<W> {
    writer: W,
    is_after_mark: bool,
}

impl<W: io::Write> JsonEscaper<W> {
    /// Creates a writer that passes the escaped JSON on to `writer`.
    pub const fn new(writer: W) -> Self {
        Self {
            writer,
            is_after_mark: false,
        }
    }
}

impl<W: io::Write> io::Write for JsonEscaper<W> {
    /// Writes the JSON with control characters escaped, and each `#` that follows another one, because a CI host takes
    /// a line with `##` for a command. The first `#` may be the last byte of the previous call. A character that is not
    /// complete in one call is not escaped; serializers write complete strings.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match str::from_utf8(bytes) {
            Ok(json) if !bytes.iter().copied().all(is_plain_in_json) => {
                self.write_marks_escaped(escape_controls_in_json(json).as_bytes())?;
            }
            _ => self.write_marks_escaped(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl<W: io::Write> JsonEscaper<W> {
    /// Writes the JSON with each `#` that follows another one escaped.
    fn write_marks_escaped(&mut self, bytes: &[u8]) -> io::Result<()> {
        if memchr::memchr(b'#', bytes).is_none() {
            // A call without bytes does not separate two `#`.
            self.is_after_mark &= bytes.is_empty();
            return self.writer.write_all(bytes);
        }
        for part in bytes.split_inclusive(|byte| *byte == b'#') {
            if self.is_after_mark && part == b"#" {
                self.writer.write_all(br"\u0023")?;
            } else {
                self.writer.write_all(part)?;
            }
            self.is_after_mark = part.ends_with(b"#");
        }
        Ok(())
    }
}

/// Escapes text for an element or a quoted attribute of HTML, XML or SVG. A page may be printed to a CI log, so the
/// text must not contain a command of the CI host: line breaks become character references, so that the text cannot
/// begin a line, and the second of two `#` is escaped. Tabs become references, too, because XML readers replace a tab
/// in an attribute by a space. A character that markup does not allow becomes `\u{fffd}`.
pub fn escape_markup(text: &str) -> String {
    if text.bytes().all(is_plain_in_markup) {
        return text.to_owned();
    }
    let safe_text = escape_controls(text);
    let mut markup = String::with_capacity(safe_text.len() + safe_text.len() / 8);
    for c in safe_text.chars() {
        match c {
            '&' | '<' | '>' | '"' | '\'' | '\n' | '\t' | '`' => {
                let _ = write!(markup, "&#{};", u32::from(c));
            }
            '#' if markup.ends_with('#') => markup.push_str("&#35;"),
            _ if is_forbidden_in_markup(c) => markup.push('\u{fffd}'),
            _ => markup.push(c),
        }
    }
    markup
}

/// Returns the message with its hint in one line, for a note.
pub fn format_note(message: &str, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{message} ({hint})"),
        None => message.to_owned(),
    }
}

/// Returns the number with its noun: `1 file`, `2,505 files`.
pub fn format_count<N: Copy + PartialEq + From<u8> + Display>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{} {noun}{plural}", format_number(number))
}

/// Returns the number with a comma before every three digits: `2,505`.
pub fn format_number<N: Display>(number: N) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Joins numbers with their nouns, as in `2 files, 1 rule`. Numbers that are 0 are omitted.
pub fn format_counts(parts: &[(usize, &str)]) -> String {
    parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| format_count(*number, noun))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Formats a flag with its value, which is quoted for the shell.
pub fn format_shell_option(flag: &str, value: &str) -> String {
    // A value that starts with `-` would be parsed as a flag.
    let separator = if value.starts_with('-') { '=' } else { ' ' };
    format!("{flag}{separator}{}", quote_shell_word(value))
}

/// Returns the word for use in a shell command, quoted if it contains special characters.
pub fn quote_shell_word(word: &str) -> String {
    let needs_quotes = |c: char| !c.is_alphanumeric() && !"/._-+,@%=:".contains(c);
    if !word.is_empty() && !word.contains(needs_quotes) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns the first seven digits of an id, or the first seven characters of another text, for display.
pub fn short_id(text: &str) -> &str {
    first_characters(text, 7)
}

/// Returns the first twelve digits of an id: enough to be unique in any repository, and short enough for one line.
pub fn unique_short_id(text: &str) -> &str {
    first_characters(text, 12)
}

fn first_characters(text: &str, count: usize) -> &str {
    text.char_indices()
        .nth(count)
        .map_or(text, |(end, _)| &text[..end])
}

/// Returns the bytes as lowercase hexadecimal digits, two for each byte.
pub fn to_hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(u32::from(digit), 16))
        .collect()
}

/// Maximum number of characters of a name in a sentence.
const MAX_NAME_LENGTH: usize = 300;

/// Returns the name for use in a sentence, on one line. A name longer than `MAX_NAME_LENGTH` is shortened in its middle,
/// because a message may contain the same name many times.
pub fn shorten_name(name: &str) -> Cow<'_, str> {
    let name = to_single_line(name);
    if name.char_indices().nth(MAX_NAME_LENGTH).is_none() {
        return name;
    }
    let half = MAX_NAME_LENGTH / 2;
    let start: String = name.chars().take(half).collect();
    let end = name
        .char_indices()
        .rev()
        .nth(half - 1)
        .map_or(0, |(offset, _)| offset);
    Cow::Owned(format!("{start}…{}", name.get(end..).unwrap_or_default()))
}

/// Returns whether the text is certainly safe to print without an escape. Any `::` or `##` is treated as unsafe, also
/// within a line.
fn is_safe(text: &str) -> bool {
    !text.chars().any(|c| c != '\n' && is_unsafe(c)) && !text.contains("::") && !text.contains("##")
}

/// Escapes control characters, and breaks up text that a CI host would interpret as a command in its log.
fn escape_host_commands(line: &str) -> String {
    let escaped_line = escape_controls_in_line(line);
    break_leading_command(replace_command_marks(escaped_line, "# #"))
}

/// Escapes the characters that are not safe to print ([`is_unsafe`]), except tabs.
fn escape_controls_in_line(line: &str) -> String {
    let mut escaped_text = String::with_capacity(line.len());
    for c in line.chars() {
        if is_unsafe(c) && c != '\t' {
            escaped_text.extend(c.escape_unicode());
        } else {
            escaped_text.push(c);
        }
    }
    escaped_text
}

/// Breaks up a leading `::` with a blank, because GitHub's runner would read the line as a command. The runner trims a
/// line before it looks for `::`, so `::` after leading blanks is broken up, too.
fn break_leading_command(line: String) -> String {
    let command = line.trim_start();
    if !command.starts_with("::") {
        return line;
    }
    let indent = line.len() - command.len();
    format!("{}: {}", &line[..indent], &command[1..])
}

/// Returns whether a terminal, a log or an editor may begin a new line after this character.
const fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Returns whether the character is a control character or a line break, changes the direction of text and so can
/// disguise it, or is invisible, such as a space without width or a tag. Joiners, which are also invisible, are safe,
/// because emoji and some scripts need them. A line feed is safe, because callers keep it as the end of a line.
pub fn is_unsafe(c: char) -> bool {
    ((c.is_control() || is_line_break(c)) && c != '\n')
        || matches!(
            c,
            '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'
                | '\u{200e}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Returns whether neither HTML nor XML allows the character in text: the noncharacters of Unicode.
const fn is_forbidden_in_markup(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || (c as u32) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::{COMMAND_PREFIXES, JsonEscaper, escape_line, escape_lines, quote_shell_word};
    use proptest::prelude::*;
    use std::io::Write as _;

    #[test]
    fn terminal_escapes_are_shown_as_text() {
        assert_eq!(escape_line("a\u{1b}[31mred"), "a\\u{1b}[31mred");
        assert_eq!(escape_line("right\u{202e}left"), "right\\u{202e}left");
    }

    #[test]
    fn host_commands_are_broken_up() {
        assert_eq!(escape_lines("ok\n  ::error::x"), "ok\n  : :error::x");
        assert_eq!(
            escape_lines("x ##[error]y ##vso[task]z ##teamcity[q]"),
            "x # #[error]y # #vso[task]z # #teamcity[q]"
        );
        assert_eq!(
            escape_line("a\n::set-output name=x::y"),
            "a ::set-output name=x::y"
        );
    }

    #[test]
    fn plain_text_is_untouched() {
        assert_eq!(escape_line("Größe: a::b 100 %"), "Größe: a::b 100 %");
        assert_eq!(escape_lines("a\n\tb\r\nc"), "a\n\tb\nc");
        assert_eq!(
            super::escape_markup("a = b; c # d: (e) 100 %"),
            "a = b; c # d: (e) 100 %"
        );
        assert_eq!(super::escape_controls("a\tb"), "a\tb");
    }

    #[test]
    fn invisible_characters_are_escaped_but_joiners_are_not() {
        for c in [
            '\u{61c}',
            '\u{200b}',
            '\u{200e}',
            '\u{200f}',
            '\u{2060}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            let text = format!("a{c}b");
            assert_eq!(escape_line(&text), format!("a{}b", c.escape_unicode()));
            let json = super::escape_commands_in_json(serde_json::to_string(&text).unwrap());
            assert!(json.is_ascii(), "{json}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
        for text in ["\u{1f469}\u{200d}\u{1f4bb}", "\u{645}\u{6cc}\u{200c}\u{62e}"] {
            assert_eq!(escape_line(text), text);
        }
    }

    #[test]
    fn shell_word_stays_one_word() {
        assert_eq!(
            quote_shell_word("sales/load it's $(x).orch.yaml"),
            r"'sales/load it'\''s $(x).orch.yaml'"
        );
        assert_eq!(quote_shell_word("sales/ü.orch.yaml"), "sales/ü.orch.yaml");
        assert_eq!(quote_shell_word(""), "''");
    }

    #[test]
    fn control_characters_in_json_are_escaped() {
        let text = "c1\u{9b}31m right\u{202e}left\u{7f} ü\n";
        let json = serde_json::to_string_pretty(&[text]).unwrap();
        let mut writer = JsonEscaper::new(Vec::new());
        writer.write_all(json.as_bytes()).unwrap();
        let written = String::from_utf8(writer.writer).unwrap();
        assert_eq!(written, super::escape_commands_in_json(json));
        assert!(
            !written.contains(['\u{9b}', '\u{202e}', '\u{7f}']) && written.contains('ü'),
            "{written}"
        );
        assert_eq!(serde_json::from_str::<[String; 1]>(&written).unwrap(), [text]);
    }

    #[test]
    fn host_commands_in_json_are_escaped() {
        for prefix in COMMAND_PREFIXES {
            let json = serde_json::to_string(prefix).unwrap();
            let escaped_json = super::escape_commands_in_json(json);
            assert!(!escaped_json.contains(prefix), "{escaped_json}");
            assert_eq!(serde_json::from_str::<String>(&escaped_json).unwrap(), prefix);
        }
    }

    proptest! {
        #[test]
        fn json_in_any_pieces_is_equal_and_has_no_commands(text in "(#|\\[|vso|a|\"|\\n){0,20}", size in 1_usize..9) {
            let json = serde_json::to_string(&text).unwrap();
            let mut safe = JsonEscaper::new(Vec::new());
            for piece in json.as_bytes().chunks(size) {
                safe.write_all(piece).unwrap();
            }
            let safe = String::from_utf8(safe.writer).unwrap();
            prop_assert!(!safe.contains("##"), "{safe}");
            prop_assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
        }

        #[test]
        fn no_line_can_be_a_command(text in "(\\PC|[\\r\\n\\x1b:#\\[]|vso|teamcity){0,80}") {
            for shown in escape_lines(&text).split(['\n', '\r']) {
                prop_assert!(!shown.trim_start().starts_with("::"), "{shown:?}");
                let has_command = COMMAND_PREFIXES.iter().any(|prefix| shown.contains(prefix));
                prop_assert!(!has_command, "{shown:?}");
                prop_assert!(!shown.contains('\u{1b}'), "{shown:?}");
            }
        }
    }
}
