//! Opens the empty files that commands lock.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Opens the file for writing, which some network file systems require for a lock, and creates it if it is missing. The
/// file of another user, which may be readable only, is opened for reading. The file is not locked yet.
pub(crate) fn open_lock_file(path: &Path) -> io::Result<File> {
    match File::options().write(true).create_new(true).open(path) {
        Ok(file) => {
            allow_reading(&file);
            Ok(file)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => File::options()
            .write(true)
            .open(path)
            .or_else(|_| File::open(path)),
        Err(error) => Err(error),
    }
}

/// Lets other users lock the file. It is empty, so that they learn nothing from it.
#[cfg(unix)]
fn allow_reading(file: &File) {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(metadata) = file.metadata() else {
        return;
    };
    let mut permissions = metadata.permissions();
    permissions.set_mode(permissions.mode() | 0o444);
    // Only a run of another user needs it.
    let _ = file.set_permissions(permissions);
}

#[cfg(not(unix))]
fn allow_reading(_: &File) {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn lock_file_is_opened_for_writing_whether_or_not_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        for exists in [false, true] {
            assert_eq!(path.exists(), exists);
            assert!(open_lock_file(&path).unwrap().write_all(b"x").is_ok());
        }
    }
}
