//! Reads files that a user named.

use crate::error::Failure;
use sluicegate_base::input;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Reads a file that a user named, up to a size limit.
pub(crate) fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    input::read_file(path, limit).map_err(|why| unreadable(path, &why))
}

/// Like [`read_bounded`], but returns `None` if the file does not exist.
pub(crate) fn read_if_there(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
    match input::read_file(path, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(why) if why.kind() == ErrorKind::NotFound => Ok(None),
        Err(why) => Err(unreadable(path, &why)),
    }
}

fn unreadable(path: &Path, why: &io::Error) -> Failure {
    Failure::usage(format!("could not read the file {}: {why}", path.display()))
}
