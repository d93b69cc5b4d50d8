//! Reads files and streams completely, but never without a size limit.
//!
//! The size that the file system reports is not used: a device or a pipe has no size and may never end.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// The reason why UTF-16 is not read.
const UTF_16_REASON: &str = "the content is UTF-16: save it as UTF-8";

/// Reads a reader to its end; fails if it has more than `limit` bytes.
pub fn read_bytes(reader: impl Read, limit: u64) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    reader.take(limit.saturating_add(1)).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        let reason = format!("the content has more than {limit} bytes");
        return Err(Error::new(ErrorKind::FileTooLarge, reason));
    }
    Ok(content)
}

/// Reads a file; fails if it has more than `limit` bytes.
pub fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>> {
    read_bytes(File::open(path)?, limit)
}

/// Reads a text file; fails if it has more than `limit` bytes or is not UTF-8.
pub fn read_text_file(path: &Path, limit: u64) -> Result<String> {
    decode_utf_8(read_file(path, limit)?).map_err(|reason| Error::new(ErrorKind::InvalidData, reason))
}

/// Returns the bytes as text, or the reason why they are not text.
pub fn decode_utf_8(bytes: Vec<u8>) -> std::result::Result<String, &'static str> {
    if is_utf_16(&bytes) {
        return Err(UTF_16_REASON);
    }
    String::from_utf8(bytes).map_err(|_| "the content is not UTF-8")
}

/// Returns the content of a JSON file without the byte order mark that PowerShell and some editors write, or the reason
/// why it cannot be JSON.
pub fn decode_json(bytes: &[u8]) -> std::result::Result<&[u8], &'static str> {
    if is_utf_16(bytes) {
        return Err(UTF_16_REASON);
    }
    Ok(strip_byte_order_mark(bytes))
}

/// Returns the content without the UTF-8 byte order mark at its start.
pub fn strip_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Detects UTF-16, which PowerShell and some editors on Windows write, by its byte order mark, or by the zero bytes of
/// two ASCII characters at the beginning.
pub const fn is_utf_16(bytes: &[u8]) -> bool {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [0, first, 0, second, ..] | [first, 0, second, 0, ..] => *first != 0 && *second != 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_itself_is_read_and_one_byte_more_is_not() {
        assert_eq!(read_bytes(&b"abc"[..], 3).unwrap(), b"abc");
        let error = read_bytes(&b"abcd"[..], 3).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "the content has more than 3 bytes");
    }

    #[test]
    fn endless_input_is_an_error() {
        let error = read_bytes(std::io::repeat(0), 65_536).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn text_is_utf_8() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"a\xff").unwrap();
        assert_eq!(
            read_text_file(file.path(), 9).unwrap_err().to_string(),
            "the content is not UTF-8"
        );
        for bytes in [&b"\xff\xfea\0"[..], b"\xfe\xff\0a", b"a\0b\0", b"\0a\0b"] {
            assert!(is_utf_16(bytes), "{bytes:?}");
        }
        for bytes in [&b""[..], b"ab", b"\0GITCRYPT\0", b"a\0\0b"] {
            assert!(!is_utf_16(bytes), "{bytes:?}");
        }
        std::fs::write(file.path(), "ü").unwrap();
        assert_eq!(read_text_file(file.path(), 9).unwrap(), "ü");
    }
}
