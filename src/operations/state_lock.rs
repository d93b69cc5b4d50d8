//! Locks a state file, so that two runs do not repeat each other's steps.

use crate::error::Failure;
use crate::exit::ExitStatus;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The lock of a state file; dropping it removes the lock file and releases the lock.
#[derive(Debug)]
pub(super) struct StateLock {
    path: PathBuf,
    _file: File,
}

impl StateLock {
    /// Locks the state file at this path; fails if another run has locked it. The lock is on a file next to it, because
    /// each write replaces the state file. A run that is killed releases its lock.
    pub(super) fn acquire(state_path: &Path) -> Result<Self, Failure> {
        let mut name = state_path.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        loop {
            let file = open_lock_file(&path).map_err(|error| lock_failure(state_path, error))?;
            match file.try_lock() {
                // Another run may have removed the file since it was opened, and a lock on it then protects nothing.
                Ok(()) if is_file_at(&file, &path) => return Ok(Self { path, _file: file }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(running_failure(state_path)),
                Err(TryLockError::Error(error)) => return Err(lock_failure(state_path, error)),
            }
        }
    }
}

impl Drop for StateLock {
    fn drop(&mut self) {
        // A file that remains does not matter: the next run locks it again.
        let _ = fs::remove_file(&self.path);
    }
}

/// Opens the lock file. Creates the file and its directory if they are missing, and never changes the content.
fn open_lock_file(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

/// Returns whether the path still leads to the open file.
#[cfg(unix)]
fn is_file_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(current)) => (open.dev(), open.ino()) == (current.dev(), current.ino()),
        _ => false,
    }
}

/// Returns whether the path still leads to a file.
#[cfg(not(unix))]
fn is_file_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Returns the failure for a state file that another run has locked.
fn running_failure(state_path: &Path) -> Failure {
    let message = format!("another run uses the state file {}", state_path.display());
    Failure::usage(message).with_hint("run the command again after the other run has ended")
}

/// Returns the failure for a state file that cannot be locked.
fn lock_failure(state_path: &Path, error: io::Error) -> Failure {
    let context = format!("could not lock the state file {}", state_path.display());
    Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(context))
        .with_hint("pass a state file in another directory with --state")
}
