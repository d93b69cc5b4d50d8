//! Lets the commands that edit files of one checkout run one after another. Each reads whole files and replaces them, so
//! that of two at the same time one would lose the edit of the other.

use super::lock_file::open_lock_file;
use crate::error::Failure;
use crate::session::Session;
use sluicegate_base::text::format_path;
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

impl Session {
    /// Waits until no other command edits the current checkout, and keeps other commands from doing so.
    pub(crate) fn lock_checkout(&self) -> Result<Option<CheckoutLock>, Failure> {
        CheckoutLock::acquire(self, &self.open_repository()?)
    }
}

impl CheckoutLock {
    /// Waits until no other command edits this checkout, and keeps other commands from doing so. Returns `None` if the
    /// checkout has no git directory that can contain a lock. Fails if the other command takes too long. A command that
    /// asks the user takes the lock after the answer.
    pub(crate) fn acquire(session: &Session, repo: &Repository) -> Result<Option<Self>, Failure> {
        let Some(git_dir) = repo.git_dir() else {
            return Ok(None);
        };
        let path = git_dir.join(LOCK_FILE);
        match wait_for_lock(&path, MAX_WAIT, &|| session.ui.say(WAITING_NOTICE)) {
            LockOutcome::Locked(file) => Ok(Some(Self { _file: file })),
            LockOutcome::TimedOut => {
                let message = format!(
                    "another sluicegate command is still editing this checkout: it has locked {}",
                    format_path(&path)
                );
                Err(Failure::usage(message).with_hint(
                    "nothing was changed: run the command again after the other command has ended",
                ))
            }
            LockOutcome::Unlockable(error) => {
                session.ui.warn_with_hint(
                    &format!("could not lock {}: {error}", format_path(&path)),
                    "do not run another sluicegate command that edits this checkout at the same time",
                );
                Ok(None)
            }
        }
    }
}

/// The outcome of an attempt to lock the checkout.
#[derive(Debug)]
enum LockOutcome {
    Locked(File),
    /// Another process still has the lock.
    TimedOut,
    /// The file cannot be locked, for example because its file system has no locks.
    Unlockable(io::Error),
}

/// Locks the file, which is created if it is missing. Waits at most `max_wait` for another process that has the lock.
/// Calls `notify` once if the wait is longer than [`NOTICE_DELAY`].
fn wait_for_lock(path: &Path, max_wait: Duration, notify: &dyn Fn()) -> LockOutcome {
    let file = match open_lock_file(path) {
        Ok(file) => file,
        Err(error) => return LockOutcome::Unlockable(error),
    };
    let started_at = Instant::now();
    let mut is_notified = false;
    loop {
        match file.try_lock() {
            Ok(()) => return LockOutcome::Locked(file),
            Err(TryLockError::Error(error)) => return LockOutcome::Unlockable(error),
            Err(TryLockError::WouldBlock) if started_at.elapsed() >= max_wait => {
                return LockOutcome::TimedOut;
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

    #[test]
    fn lock_is_refused_while_another_command_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE);
        let lock = wait_for_lock(&path, Duration::ZERO, &|| {});
        assert!(matches!(lock, LockOutcome::Locked(_)));
        let refused_lock = wait_for_lock(&path, Duration::from_millis(50), &|| {});
        assert!(matches!(refused_lock, LockOutcome::TimedOut));
        drop(lock);
        let next_lock = wait_for_lock(&path, Duration::ZERO, &|| {});
        assert!(matches!(next_lock, LockOutcome::Locked(_)));
    }

    #[test]
    fn checkout_that_cannot_have_a_lock_is_edited_without_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing").join(LOCK_FILE);
        let lock = wait_for_lock(&path, Duration::ZERO, &|| {});
        assert!(matches!(lock, LockOutcome::Unlockable(_)));
    }
}
