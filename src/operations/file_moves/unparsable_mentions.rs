//! Searches files that cannot be parsed for the old path, because a reference in them could not be rewritten.

use crate::error::Failure;
use sluicegate_base::input::is_utf_16;
use sluicegate_pipelines::file_moves::PathMove;
use sluicegate_pipelines::pipelines::{build_spelling_search, file_name, trim_pipeline_extension};
use std::borrow::Cow;
use std::ops::Range;

/// Fails if a pipeline that cannot be parsed contains the old path, or the old name of a renamed pipeline, because a
/// call may consist of the name alone. The path of a pipeline is searched without the extension, which a reference may
/// omit.
pub(crate) fn reject_unparsable_call(
    path_move: &PathMove,
    path: &str,
    bytes: &[u8],
    reason: &str,
) -> Result<(), Failure> {
    reject_unparsable_path(path_move, path, bytes, reason)?;
    let (old_path, new_path) = (
        trim_pipeline_extension(&path_move.old_path),
        trim_pipeline_extension(&path_move.new_path),
    );
    let old_name = file_name(old_path);
    let is_renamed_pipeline = old_path != path_move.old_path && file_name(new_path) != old_name;
    if is_renamed_pipeline && let Some(line) = find_spelling(&decode_utf_16(bytes), old_name) {
        return Err(mention_failure(path, line, old_name, reason));
    }
    Ok(())
}

/// Fails if a file that cannot be parsed contains the old path. The path of a pipeline is searched without the
/// extension.
pub(crate) fn reject_unparsable_path(
    path_move: &PathMove,
    path: &str,
    bytes: &[u8],
    reason: &str,
) -> Result<(), Failure> {
    let old_path = trim_pipeline_extension(&path_move.old_path);
    match find_spelling(&decode_utf_16(bytes), old_path) {
        Some(line) => Err(mention_failure(path, line, old_path, reason)),
        None => Ok(()),
    }
}

/// Returns UTF-16 text as UTF-8, and all other bytes unchanged.
fn decode_utf_16(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !is_utf_16(bytes) {
        return Cow::Borrowed(bytes);
    }
    let is_big_endian = matches!(bytes, [0xfe, 0xff, ..] | [0, ..]);
    let mut units = Vec::with_capacity(bytes.len() / 2);
    for pair in bytes.chunks_exact(2) {
        if let [first, second] = *pair {
            let unit = u16::from_le_bytes([first, second]);
            units.push(if is_big_endian { unit.swap_bytes() } else { unit });
        }
    }
    Cow::Owned(String::from_utf16_lossy(&units).into_bytes())
}

/// Returns the number of the first line with the text. A longer word that contains the text, such as `reload` for
/// `load`, is ignored.
pub(super) fn find_line(bytes: &[u8], text: &str) -> Option<usize> {
    memchr::memmem::find_iter(bytes, text.as_bytes())
        .find_map(|start| find_line_of_word(bytes, start..start + text.len()))
}

/// Returns the number of the first line where YAML may write this text, also with escapes or over several lines. Like
/// [`find_line`], ignores a longer word.
fn find_spelling(bytes: &[u8], text: &str) -> Option<usize> {
    match build_spelling_search(text) {
        Some(search) => search
            .find_iter(bytes)
            .find_map(|spelling| find_line_of_word(bytes, spelling.range())),
        None => find_line(bytes, text),
    }
}

/// Returns the number of the line with this range; `None` if the range is only a part of a longer word.
fn find_line_of_word(bytes: &[u8], range: Range<usize>) -> Option<usize> {
    let leading_bytes = bytes.get(..range.start)?;
    let neighbors = [leading_bytes.last(), bytes.get(range.end)];
    let is_word = !neighbors.into_iter().flatten().any(|byte| is_word_byte(*byte));
    is_word.then(|| leading_bytes.split(|byte| *byte == b'\n').count())
}

/// Returns whether the byte is a part of a word: a letter, a digit, an underscore, a hyphen or a part of a character
/// outside ASCII.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || !byte.is_ascii()
}

/// Returns the failure for a file that contains the text and cannot be parsed.
fn mention_failure(path: &str, line: usize, text: &str, reason: &str) -> Failure {
    Failure::usage(format!(
        "{path}:{line}: this file contains `{text}` and cannot be parsed: {reason}"
    ))
    .with_hint("nothing was changed: fix the file, then run the command again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_16_text_is_decoded_in_both_byte_orders() {
        let units: Vec<u16> = "a: 1\nb: ä\n".encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        for bytes in [
            &little[..],
            &big,
            &[&[0xff, 0xfe], &little[..]].concat(),
            &[&[0xfe, 0xff], &big[..]].concat(),
        ] {
            assert_eq!(find_line(&decode_utf_16(bytes), "ä"), Some(2), "{bytes:?}");
            assert_eq!(find_line(&decode_utf_16(bytes), "b"), Some(2), "{bytes:?}");
        }
        assert_eq!(decode_utf_16(b"a: 1"), &b"a: 1"[..]);
    }

    #[test]
    fn text_is_found_in_each_yaml_spelling() {
        for text in [
            "a: 'x y/für - it''s'",
            "b: 1\na: x\n  y/für\n  - it's",
            "a: \"x y/f\\u00FCr - it's\"",
            "a: \"x y\\/f\\xfcr - \\U00000069t's\"",
            "a: \"x y/fü\\\n  r -\\\n  \\ it's\"",
        ] {
            assert!(
                find_spelling(text.as_bytes(), "x y/für - it's").is_some(),
                "{text}"
            );
        }
        assert_eq!(find_spelling(b"b: 1\na: x\n y", "x y"), Some(2));
        assert_eq!(find_spelling(b"a: x\n yz", "x y"), None);
    }

    #[test]
    fn only_whole_words_are_found() {
        let text = "a: reload\nb: load-x\nc: 'sales/load.orch.yaml'\n";
        assert_eq!(find_line(text.as_bytes(), "load"), Some(3));
        assert_eq!(find_line(text.as_bytes(), "sales/load"), Some(3));
        assert_eq!(find_line(text.as_bytes(), "sale"), None);
        assert_eq!(find_line(text.as_bytes(), "relo"), None);
    }
}
