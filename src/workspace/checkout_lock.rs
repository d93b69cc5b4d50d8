//! Lets the commands that edit files of one checkout run one after another. Each reads whole files and replaces them, so
//! that of two at the same time one would lose the edit of the other.

use crate::error::Failure;
use crate::session::Run;
use sluicegate_git::Repository;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The name of the lock file in the git directory. It is empty and stays there: a file that is deleted while another
/// process waits for it locks nothing.
const LOCK_FILE: &str = "sluicegate-edits";

/// How long a command waits for another one.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// How long a command waits before it says that it waits.
const NOTICE_DELAY: Duration = Duration::from_secs(1);

const WAITING_NOTICE: &str = "waiting for another sluicegate command that edits this checkout";

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The lock of a checkout. The operating system releases it when the process ends, however that happens.
#[derive(Debug)]
pub(crate) struct CheckoutLock {
    _file: File,
}

impl Run {
    /// Waits until no other command edits the current checkout, and keeps other commands from doing so.
    pub(crate) fn lock_checkout(&self) -> Result<Option<CheckoutLock>, Failure> {
        CheckoutLock::acquire(self, &self.open_repository()?)
    }
}

impl CheckoutLock {
    /// Waits until no other command edits this checkout, and keeps other commands from doing so. Returns `None` if the
    /// checkout has no git directory that can contain a lock. Fails if the other command takes too long. A command that
    /// asks the user takes the lock after the answer.
    pub(crate) fn acquire(run: &Run, repo: &Repository) -> Result<Option<Self>, Failure> {
        let Some(git_dir) = repo.git_dir() else {
            return Ok(None);
        };
        let path = git_dir.join(LOCK_FILE);
        match wait_for_lock(&path, MAX_WAIT, &|| run.ui.say(WAITING_NOTICE))? {
            Ok(lock) => Ok(Some(lock)),
            Err(error) => {
                run.ui.warn(&format!(
                    "could not lock {}: {error}\nhint: do not run another sluicegate command that edits this checkout \
                     at the same time",
                    path.display()
                ));
                Ok(None)
            }
        }
    }
}

/// Opens the lock file for writing, which some network file systems require for a lock, and creates it if it is missing.
/// The file of another user, which cannot be written, is opened for reading.
fn open_lock_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    options
        .open(path)
        .or_else(|error| File::open(path).map_err(|_| error))
}

/// Locks the file, which is created if it is missing. Calls `notify` once if the wait is longer than [`NOTICE_DELAY`].
/// Fails if another process still has the lock after `max_wait`. The inner error is the reason why the file cannot be
/// locked, for example because its file system has no locks.
fn wait_for_lock(
    path: &Path,
    max_wait: Duration,
    notify: &dyn Fn(),
) -> Result<io::Result<CheckoutLock>, Failure> {
    let file = match open_lock_file(path) {
        Ok(file) => file,
        Err(error) => return Ok(Err(error)),
    };
    let started_at = Instant::now();
    let mut is_notified = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Ok(CheckoutLock { _file: file })),
            Err(TryLockError::Error(error)) => return Ok(Err(error)),
            Err(TryLockError::WouldBlock) if started_at.elapsed() >= max_wait => {
                let message = format!(
                    "another sluicegate command is still editing this checkout: it has locked {}",
                    path.display()
                );
                return Err(Failure::usage(message).with_hint(
                    "nothing was changed: run the command again after the other command has ended",
                ));
            }
            Err(TryLockError::WouldBlock) => {
                if !is_notified && started_at.elapsed() >= NOTICE_DELAY {
                    is_notified = true;
                    notify();
                }
                thread::sleep(POLL_INTERVAL);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn lock_is_refused_while_another_command_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE);
        let lock = wait_for_lock(&path, Duration::ZERO, &|| {}).unwrap();
        assert!(lock.is_ok());
        let error = wait_for_lock(&path, Duration::from_millis(50), &|| {}).unwrap_err();
        let text = error.describe_on_one_line();
        assert!(text.contains("still editing"), "{text}");
        drop(lock);
        assert!(wait_for_lock(&path, Duration::ZERO, &|| {}).unwrap().is_ok());
    }

    #[test]
    fn existing_lock_file_is_opened_for_writing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE);
        for _ in 0..2 {
            let mut file = open_lock_file(&path).unwrap();
            assert!(file.write_all(b"x").is_ok());
        }
    }

    #[test]
    fn checkout_that_cannot_have_a_lock_is_edited_without_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing").join(LOCK_FILE);
        assert!(wait_for_lock(&path, Duration::ZERO, &|| {}).unwrap().is_err());
    }
}
