//! Reads files that a user named.

use crate::error::Failure;
use sluicegate_base::input;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Reads a file that a user named, up to a size limit.
pub(crate) fn read_user_file(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    input::read_file(path, limit).map_err(|error| unreadable_failure(path, &error))
}

/// Reads a file that a user named, up to a size limit, or returns `None` if it does not exist.
pub(crate) fn read_user_file_if_exists(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
    match input::read_file(path, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable_failure(path, &error)),
    }
}

fn unreadable_failure(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("could not read the file {}: {error}", path.display()))
}
