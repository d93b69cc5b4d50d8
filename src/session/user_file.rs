//! Reads files that a user named.

use crate::error::Failure;
use crate::session::Session;
use sluicegate_base::input;
use sluicegate_base::text::format_path;
use sluicegate_platform::definitions::Document;
use std::io::{self, ErrorKind};
use std::path::Path;

impl Session {
    /// Reads a file that a user named, up to a size limit. In CI, does not follow a link of the change out of the
    /// repository.
    pub(crate) fn read_user_file(&self, path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
        self.reject_link_out_of_repository(path)?;
        input::read_file(path, limit).map_err(|error| unreadable_failure(path, &error))
    }

    /// Reads a document for the platform that a user named, relative to the current directory, as
    /// [`Self::read_user_file`] does.
    pub(crate) fn load_document(&self, file: &Path) -> Result<Document, Failure> {
        self.reject_link_out_of_repository(file)?;
        Ok(Document::load(&self.env.current_dir().join(file), file)?)
    }
}

/// Reads a file that a user named, up to a size limit, or returns `None` if it does not exist.
pub(crate) fn read_user_file_if_exists(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
    match input::read_file(path, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable_failure(path, &error)),
    }
}

/// Reads a text file that a command will edit, up to a size limit. A missing file is empty.
pub(crate) fn read_text_or_empty(path: &Path, limit: u64) -> Result<String, Failure> {
    match input::read_text_file(path, limit) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(unreadable_failure(path, &error)
            .with_hint("check that the file is UTF-8 text, and that you have permission to read it")),
    }
}

fn unreadable_failure(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("could not read the file {}: {error}", format_path(path)))
}
