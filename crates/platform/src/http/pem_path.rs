//! Names a PEM file in a message, without a secret that was pasted into the setting for its path.

use std::path::Path;

/// Maximum number of characters of a missing path that is shown. The shortest private key in PEM has more.
const MAX_SHOWN_CHARS: usize = 40;

/// Returns the path of a PEM file for a message. If no such file exists, the part of the path that does not exist may
/// be the text of a key, so a long part, and one with a line break or a section of PEM, is hidden.
pub(super) fn describe_pem_path(path: &Path) -> String {
    let existing_dir = path
        .ancestors()
        .find(|ancestor| ancestor.symlink_metadata().is_ok());
    let missing_part = existing_dir
        .and_then(|dir| path.strip_prefix(dir).ok())
        .unwrap_or(path);
    let missing_text = missing_part.to_string_lossy();
    let char_count = missing_text.chars().count();
    let may_be_pem = char_count > MAX_SHOWN_CHARS
        || missing_text.contains("---")
        || missing_text.contains(char::is_control);
    if may_be_pem {
        return format!("(its path, {char_count} characters, is hidden because it may be a secret)");
    }
    path.display().to_string()
}
