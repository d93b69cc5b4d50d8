//! Opens the empty files that commands lock.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// An open lock file, which this run has not locked yet. Dropping it leaves the file: another run may have locked it.
#[derive(Debug)]
pub(crate) struct LockFile {
    pub(crate) file: File,
    pub(crate) is_created: bool,
}

impl LockFile {
    /// Opens the file for writing, which some network file systems require for a lock, and creates it if it is missing.
    /// The file of another user, which may be readable only, is opened for reading.
    pub(crate) fn open_or_create(path: &Path) -> io::Result<Self> {
        match File::options().write(true).create_new(true).open(path) {
            Ok(file) => {
                allow_reading(&file);
                Ok(Self {
                    file,
                    is_created: true,
                })
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let file = File::options().write(true).open(path);
                let file = file.or_else(|_| File::open(path))?;
                Ok(Self {
                    file,
                    is_created: false,
                })
            }
            Err(error) => Err(error),
        }
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
        for is_created in [true, false] {
            let mut lock_file = LockFile::open_or_create(&path).unwrap();
            assert_eq!(lock_file.is_created, is_created);
            assert!(lock_file.file.write_all(b"x").is_ok());
        }
    }
}
