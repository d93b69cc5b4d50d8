//! Locks a file with the state of a command, so that two runs do not repeat each other's steps.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::workspace::lock_file::open_lock_file;
use sluicegate_base::text::format_path;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Maximum number of attempts to lock a file that other runs create and remove, and the pause between two attempts.
const MAX_ATTEMPTS: usize = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// A file with the state of a command, which each write replaces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StateFile<'p> {
    pub path: &'p Path,
    /// The name of such a file in messages.
    pub name: &'static str,
    /// The flag that selects another file.
    pub flag: &'static str,
}

/// The lock of a state file; dropping it releases the lock, and removes the lock file.
#[derive(Debug)]
pub(crate) struct StateLock {
    path: PathBuf,
    file: File,
}

impl StateLock {
    /// Locks the state file; fails if another run has locked it. The lock is on a file next to it, because
    /// each write replaces the state file. A run that is killed releases its lock, and the file that it leaves is
    /// locked again.
    pub(crate) fn acquire(state_file: StateFile<'_>) -> Result<Self, Failure> {
        let mut name = state_file.path.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        for _ in 0..MAX_ATTEMPTS {
            match try_acquire(&path) {
                Ok(Some(lock)) => return Ok(lock),
                Ok(None) => sleep(PAUSE),
                Err(TryLockError::WouldBlock) => return Err(running_failure(state_file)),
                Err(TryLockError::Error(error)) => return Err(lock_failure(state_file, error)),
            }
        }
        Err(lock_failure(state_file, ErrorKind::NotFound.into()))
    }
}

impl Drop for StateLock {
    fn drop(&mut self) {
        // A file with content is not a lock file of this program. A file that remains does not matter: the next run locks
        // it again.
        let is_empty = self.file.metadata().is_ok_and(|metadata| metadata.len() == 0);
        if is_empty && is_file_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens and locks the lock file. Creates its directory if it is missing. Returns `None` if another run removed the file
/// meanwhile.
fn try_acquire(path: &Path) -> Result<Option<StateLock>, TryLockError> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(TryLockError::Error)?;
    }
    match open_lock_file(path) {
        Ok(file) => try_lock(file, path),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(TryLockError::Error(error)),
    }
}

/// Locks the file. Returns `None` if the path no longer leads to the file: a lock on it then protects nothing.
fn try_lock(file: File, path: &Path) -> Result<Option<StateLock>, TryLockError> {
    file.try_lock()?;
    let is_at_path = is_file_at(&file, path);
    Ok(is_at_path.then(|| StateLock {
        path: path.to_owned(),
        file,
    }))
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
fn running_failure(state_file: StateFile<'_>) -> Failure {
    let message = format!(
        "another run uses the {} {}",
        state_file.name,
        format_path(state_file.path)
    );
    Failure::usage(message).with_hint("run the command again after the other run has ended")
}

/// Returns the failure for a state file that cannot be locked. The hint keeps the state: with an empty one, the next
/// run would create the project again.
fn lock_failure(state_file: StateFile<'_>, error: io::Error) -> Failure {
    let StateFile { path, name, flag } = state_file;
    let context = format!("could not lock the {name} {}", format_path(path));
    let hint = if matches!(path.try_exists(), Ok(false)) {
        format!("pass a {name} in another directory with {flag}")
    } else {
        format!(
            "make its directory writable, or copy the {name} to a writable directory and pass the copy with {flag}"
        )
    };
    Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(context)).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_file_that_another_run_locked_first_is_removed_by_that_run() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state.lock");
        let [created, waiting] = [(); 2].map(|()| open_lock_file(&path).unwrap());
        let lock = try_acquire(&path).unwrap().unwrap();
        assert!(matches!(try_lock(created, &path), Err(TryLockError::WouldBlock)));
        assert!(matches!(try_acquire(&path), Err(TryLockError::WouldBlock)));
        assert!(path.exists());
        drop(lock);
        assert!(!path.exists());
        // A lock on the removed file protects nothing.
        assert!(try_lock(waiting, &path).unwrap().is_none());
        assert!(try_acquire(&path).unwrap().is_some());
    }

    #[test]
    fn lock_file_of_killed_run_is_removed_by_the_next_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state.lock");
        fs::write(&path, "").unwrap();
        let lock = try_acquire(&path).unwrap().unwrap();
        assert!(matches!(try_acquire(&path), Err(TryLockError::WouldBlock)));
        drop(lock);
        assert!(!path.exists());
    }
}
