//! Paths as parts of addresses.

/// The path with every byte percent-encoded that could mean anything in an address, `/` aside
/// (<https://www.rfc-editor.org/rfc/rfc3986#section-2.3>).
pub(super) fn encoded(path: &str) -> String {
    path.bytes().map(encoded_byte).collect()
}

fn encoded_byte(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~') {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

/// Where the host shows a line of a file, from the form that the host has for it.
pub(super) fn blob(form: &str, path: &str, line: u32) -> String {
    form.replace("{line}", &line.to_string())
        .replace("{path}", &encoded(path))
}
