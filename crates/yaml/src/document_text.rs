//! Checks bytes and converts them to text that is safe for the parser.

use saphyr_parser::{Marker, ScanError};
use sluicegate_base::file_defect::{self, FileDefect};
use sluicegate_base::input::is_utf_16;
use sluicegate_base::text::wrap::shorten_end;
use std::borrow::Cow;
use std::fmt;

/// Maximum size of a document, in bytes. The largest real pipelines have about 100,000 lines, a tenth of this.
pub const MAX_DOCUMENT_BYTES: u64 = 32 << 20;

/// Size of a document, in bytes, up to which its tokens cannot need much memory and are not counted.
const MAX_UNCOUNTED_BYTES: usize = 1 << 20;

/// Maximum number of the marks `,:[]{}`. The parser buffers every token of an open flow collection (`[…]`, `{…}`),
/// about 250 bytes each, and each needs one of these marks; the limit keeps the memory at about half a gigabyte. A block
/// collection needs no such memory, but the scan for marks does not know the collections: a file of waivers has three or
/// more marks for each finding.
const MAX_FLOW_MARKS: usize = 2_000_000;

/// Maximum length of a directive, in bytes. The parser copies the prefix of a `%TAG` directive into every tag that uses
/// it.
const MAX_DIRECTIVE_BYTES: usize = 1024;

/// Maximum number of characters of a name or value that a message quotes.
const MAX_QUOTED_CHARS: usize = 120;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
}

impl Position {
    /// Returns the offset of this position in the text, in bytes; `None` if the text has no such character. Positions
    /// do not count a byte order mark, so the text must not have one.
    pub fn find_offset(self, text: &str) -> Option<usize> {
        let line_index = usize::try_from(self.line).ok()?.checked_sub(1)?;
        let column_index = usize::try_from(self.column).ok()?.checked_sub(1)?;
        let line = text.split_inclusive('\n').nth(line_index)?;
        let line_offset: usize = text.split_inclusive('\n').take(line_index).map(str::len).sum();
        let (column_offset, _) = line.char_indices().nth(column_index)?;
        Some(line_offset + column_offset)
    }
}

impl fmt::Display for Position {
    /// Writes the position as messages show it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Returns the place in the file `name` as `NAME:LINE:COLUMN`, or only the name if the position is unknown.
pub fn format_place(name: &str, position: Option<Position>) -> String {
    match position {
        Some(position) => format!("{name}:{}:{}", position.line, position.column),
        None => name.to_owned(),
    }
}

/// The reason why a document is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", position.map(|p| format!(" ({p})")).unwrap_or_default())]
pub struct DocumentError {
    pub message: String,
    /// The position of the error; `None` if it concerns the entire document.
    pub position: Option<Position>,
}

impl DocumentError {
    /// Creates an error at this position.
    pub fn at_position(position: Position, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            position: Some(position),
        }
    }

    /// Creates the error for a document that was not read because it has more than [`MAX_DOCUMENT_BYTES`] bytes.
    pub fn too_large() -> Self {
        Self::for_document(format!("the document has more than {MAX_DOCUMENT_BYTES} bytes"))
    }

    /// Returns the error for the first merge conflict in the text, if the text has one. A valid document can contain
    /// the markers in a block of text, so only documents that cannot be parsed are searched.
    pub fn find_merge_conflict(text: &str) -> Option<Self> {
        let line_index = file_defect::find_conflict_line(text.as_bytes())?;
        let position = Position {
            line: saturating_u32(line_index + 1),
            column: 1,
        };
        let defect = FileDefect::ConflictMarkers;
        let message = format!("the document {}: {}", defect.reason(), defect.help());
        Some(Self::at_position(position, message))
    }

    /// Creates an error that concerns the entire document.
    pub fn for_document(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            position: None,
        }
    }
}

/// Returns the document's text without a byte order mark. Fails for bytes that the parser would misread, and for
/// documents that would overload it.
pub(crate) fn decode_text(bytes: &[u8]) -> Result<&str, DocumentError> {
    if bytes.len() as u64 > MAX_DOCUMENT_BYTES {
        return Err(DocumentError::too_large());
    }
    // The parser reads a pointer as a string, and an encrypted file as an invalid document.
    if let Some(defect @ (FileDefect::LfsPointer | FileDefect::GitCrypt)) =
        FileDefect::find_in_document(bytes)
    {
        return Err(DocumentError::for_document(format!(
            "the document {}",
            defect.reason()
        )));
    }
    if is_utf_16(bytes) {
        return Err(DocumentError::for_document(
            "the document is UTF-16: save it as UTF-8",
        ));
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        DocumentError::at_position(
            position_at_offset(bytes, error.valid_up_to()),
            "the text is not UTF-8",
        )
    })?;
    reject_control_characters(bytes)?;
    reject_other_line_ends(text)?;
    reject_long_directives(text)?;
    reject_token_floods(bytes)?;
    Ok(text)
}

/// Fails for a document with control characters. YAML does not allow them, and the parser treats NUL as the end of the
/// document.
fn reject_control_characters(bytes: &[u8]) -> Result<(), DocumentError> {
    let is_forbidden = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
    // Checks every byte without a branch first, so that the processor can check many at a time.
    if !bytes.iter().fold(false, |any, byte| any | is_forbidden(byte)) {
        return Ok(());
    }
    let offset = bytes.iter().position(is_forbidden).unwrap_or_default();
    let message = "control characters are not allowed";
    Err(DocumentError::at_position(
        position_at_offset(bytes, offset),
        message,
    ))
}

/// Fails for characters that end a line only in YAML 1.1 (<https://yaml.org/spec/1.1/#id871136>): a parser of YAML 1.1
/// would find keys where YAML 1.2 has a comment.
fn reject_other_line_ends(text: &str) -> Result<(), DocumentError> {
    if text.is_ascii() {
        return Ok(());
    }
    let Some((offset, character)) = text
        .char_indices()
        .find(|(_, c)| matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}'))
    else {
        return Ok(());
    };
    let message = format!(
        "U+{:04X} is not allowed, because some YAML parsers end a line there; in double quotes, write it as `{}`",
        u32::from(character),
        match character {
            '\u{85}' => r"\N",
            '\u{2028}' => r"\L",
            _ => r"\P",
        }
    );
    Err(DocumentError::at_position(
        position_at_offset(text.as_bytes(), offset),
        message,
    ))
}

/// Fails for a directive that is too long, because the parser copies its prefix into every tag that uses it. Directives
/// come before the content, so the search ends at the first line of content.
fn reject_long_directives(text: &str) -> Result<(), DocumentError> {
    let lines = text
        .split('\n')
        .flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'));
    for (line_index, line) in lines.enumerate() {
        // The parser skips byte order marks and `...` before a directive.
        let line = line.trim_start_matches('\u{feff}');
        let is_content =
            !(line.is_empty() || line.starts_with([' ', '\t', '#', '%']) || line.starts_with("..."));
        if is_content {
            break;
        }
        if line.starts_with('%') && line.len() > MAX_DIRECTIVE_BYTES {
            let position = Position {
                line: saturating_u32(line_index + 1),
                column: 1,
            };
            return Err(DocumentError::at_position(
                position,
                "the YAML directive is too long",
            ));
        }
    }
    Ok(())
}

/// Fails for a document with too many of the characters `,:[]{}`, because the parser keeps every token of an open
/// collection in memory. A small document cannot contain enough of them.
fn reject_token_floods(bytes: &[u8]) -> Result<(), DocumentError> {
    if bytes.len() <= MAX_UNCOUNTED_BYTES {
        return Ok(());
    }
    let mark_count = bytes
        .iter()
        .filter(|byte| matches!(byte, b',' | b':' | b'[' | b']' | b'{' | b'}'))
        .count();
    if mark_count > MAX_FLOW_MARKS {
        return Err(DocumentError::for_document(format!(
            "the document contains the characters `,:[]{{}}` {mark_count} times; the maximum is {MAX_FLOW_MARKS}"
        )));
    }
    Ok(())
}

/// Returns the line and the column of the byte at `offset`; the bytes before it must be valid UTF-8.
fn position_at_offset(bytes: &[u8], offset: usize) -> Position {
    let bytes_before = bytes.get(..offset).unwrap_or(bytes);
    let line_start = bytes_before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |index| index + 1);
    let line_prefix = bytes_before.get(line_start..).unwrap_or_default();
    Position {
        line: saturating_u32(bytes_before.split(|byte| *byte == b'\n').count()),
        column: saturating_u32(String::from_utf8_lossy(line_prefix).chars().count() + 1),
    }
}

/// Returns whether the text contains only comments, blank lines and `---`, and so no document.
pub fn is_blank(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| {
        text.trim_start_matches('\u{feff}')
            .lines()
            .all(|line| line.trim_start().starts_with('#') || ["", "---"].contains(&line.trim()))
    })
}

/// Truncates a very long name or value from a document, so that messages stay readable.
pub fn shorten(text: &str) -> Cow<'_, str> {
    shorten_end(text, MAX_QUOTED_CHARS)
}

/// Converts a count to the number of a line or column. A count that is too large becomes the maximum.
pub(crate) fn saturating_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Converts an error of the YAML parser.
pub(crate) fn to_document_error(error: &ScanError) -> DocumentError {
    DocumentError::at_position(
        marker_position(error.marker()),
        format!("not YAML: {}", error.info()),
    )
}

/// Converts a position of the YAML parser, whose columns begin with 0, to one whose columns begin with 1.
pub(crate) fn marker_position(marker: &Marker) -> Position {
    Position {
        line: saturating_u32(marker.line()),
        column: saturating_u32(marker.col() + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> (String, Option<(u32, u32)>) {
        let error = decode_text(bytes).unwrap_err();
        (error.message, error.position.map(|p| (p.line, p.column)))
    }

    #[test]
    fn byte_order_mark_and_windows_line_ends_are_accepted() {
        assert_eq!(decode_text("\u{feff}a: ü\r\n".as_bytes()), Ok("a: ü\r\n"));
    }

    #[test]
    fn line_ends_of_yaml_1_1_are_rejected() {
        for (sign, told) in [
            ("\u{85}", "U+0085"),
            ("\u{2028}", "U+2028"),
            ("\u{2029}", "U+2029"),
        ] {
            let (message, place) = refused(format!("a: 1\n# x{sign}b: 2").as_bytes());
            assert!(message.starts_with(told), "{message}");
            assert_eq!(place, Some((2, 4)));
        }
        let escaped = format!("a: \"{}\"", r"\N\L\P");
        assert_eq!(decode_text(escaped.as_bytes()), Ok(escaped.as_str()));
    }

    #[test]
    fn comments_after_byte_order_mark_are_no_document() {
        assert!(is_blank("\u{feff}# words\n---\n".as_bytes()));
        assert!(!is_blank("\u{feff}a: b\n".as_bytes()));
    }

    #[test]
    fn binary_content_is_rejected_with_position() {
        assert_eq!(
            refused(b"a: 1\n\xc3\xa4 \xff"),
            ("the text is not UTF-8".into(), Some((2, 3)))
        );
        let control = "control characters are not allowed";
        assert_eq!(refused(b"a: 1\nb: \0"), (control.into(), Some((2, 4))));
        assert_eq!(refused(b"a: \x1b[31m"), (control.into(), Some((1, 4))));
        let wide = "the document is UTF-16: save it as UTF-8";
        assert_eq!(refused(b"\xff\xfea\0:\0"), (wide.into(), None));
    }

    #[test]
    fn document_that_overloads_parser_is_rejected() {
        let directive = format!("# first\n\n%TAG !p! tag:{}\n--- !p!a x\n", "x".repeat(2000));
        assert_eq!(
            refused(directive.as_bytes()),
            ("the YAML directive is too long".into(), Some((3, 1)))
        );
        let directive = format!(
            "# first\r\n...\r\n\u{feff}%TAG !p! tag:{}\r\n--- !p!a x\r\n",
            "x".repeat(2000)
        );
        assert_eq!(
            refused(directive.as_bytes()),
            ("the YAML directive is too long".into(), Some((3, 1)))
        );
        assert!(decode_text(format!("a: {}", "%".repeat(3000)).as_bytes()).is_ok());
        assert!(
            refused(&b"[a,".repeat(1_000_001))
                .0
                .contains("the maximum is 2000000")
        );
        let large = usize::try_from(MAX_DOCUMENT_BYTES).unwrap() + 1;
        assert!(refused(&vec![b'a'; large]).0.contains("more than 33554432 bytes"));
    }

    #[test]
    fn error_message_contains_position() {
        let error = DocumentError::at_position(Position { line: 3, column: 7 }, "no");
        assert_eq!(error.to_string(), "no (line 3, column 7)");
        assert_eq!(DocumentError::for_document("no").to_string(), "no");
    }
}
