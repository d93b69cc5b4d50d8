//! Encodes paths for URLs.

/// Percent-encodes all bytes of the path except unreserved characters and `/`
/// (<https://www.rfc-editor.org/rfc/rfc3986#section-2.3>).
pub(super) fn encode_path(path: &str) -> String {
    path.bytes().map(encode_byte).collect()
}

/// Returns the byte as it appears in the path of a URI: unchanged or as `%` and two hexadecimal digits.
fn encode_byte(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~') {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

/// Fills the host's URL template, which has the placeholders `{path}` and `{line}`, with a line of a file.
pub(super) fn build_line_url(url_template: &str, path: &str, line: u32) -> String {
    url_template
        .replace("{line}", &line.to_string())
        .replace("{path}", &encode_path(path))
}
