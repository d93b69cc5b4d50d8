//! Writes files whole or not at all.

use std::fs;
use std::io;
use std::path::Path;
use uuid::Uuid;

/// Writes a file so that a reader never meets half of it.
pub fn whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    if path.exists() && !path.is_file() {
        // A device or a pipe is written to, not replaced.
        return fs::write(path, bytes);
    }
    let beside = folder.join(format!(".sluicegate-{}", Uuid::new_v4().simple()));
    let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}
