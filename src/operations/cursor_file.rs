//! The cursor file of `sluicegate events export`.

use super::state_lock::{StateFile, StateLock};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::session::user_file::read_user_file_if_exists;
use sluicegate_platform::export::{Cursor, CursorError};
use std::path::Path;

/// Maximum size of a cursor file, in bytes.
const MAX_CURSOR_BYTES: u64 = 64 * 1024 * 1024;

/// Locks the cursor file; fails if another run has locked it.
pub(crate) fn lock_cursor(path: &Path) -> Result<StateLock, Failure> {
    StateLock::acquire(StateFile {
        path,
        name: "cursor file",
        flag: "--cursor",
    })
}

/// Reads the cursor that the last run wrote to this file; `None` if the file does not exist. Fails for the cursor of
/// another platform.
pub(crate) fn read_cursor(path: &Path, base_url: &str) -> Result<Option<Cursor>, Failure> {
    match read_user_file_if_exists(path, MAX_CURSOR_BYTES)? {
        Some(bytes) => Ok(Some(Cursor::parse(&bytes, path, base_url)?)),
        None => Ok(None),
    }
}

impl From<CursorError> for Failure {
    /// Converts an unusable cursor file to a usage error with a hint.
    fn from(error: CursorError) -> Self {
        let hint = match error {
            CursorError::TooOld { .. } => "remove the cursor file to start over with the remaining events",
            CursorError::InFuture { .. } => {
                "check the clock of this machine; if it is right, edit `through` in the cursor file to the time of the \
                 last exported event"
            }
            CursorError::OtherPlatform { .. } => {
                "pass another cursor file for this platform; if only its address changed, edit `platform` in the cursor file"
            }
            CursorError::Unreadable { .. } => {
                "pass another cursor file, or remove this cursor file to start over"
            }
        };
        Self::new(ExitStatus::Usage, error).with_hint(hint)
    }
}
