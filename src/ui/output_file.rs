//! The file that replaces standard output (`--out`). It is created with the first result and moved to its path when
//! the command ends, so that a reader never sees half of it.

use crate::atomic_file::{AtomicFile, write_buffered};
use crate::error::Failure;
use sluicegate_base::mutex_lock::lock_mutex;
use sluicegate_base::text::format_path;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;

#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    file: Mutex<Option<AtomicFile>>,
}

impl OutputFile {
    /// Creates the output to this path, whose file is opened when something is first written.
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: Mutex::new(None),
        }
    }

    /// Writes to a new file, which replaces the file at the path only in [`Self::finish`]. After an error, the new file
    /// is removed.
    pub(super) fn write(
        &self,
        write_content: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let mut slot = lock_mutex(&self.file);
        let mut file = match slot.take() {
            Some(file) => file,
            None => AtomicFile::create(&self.path).map_err(|error| self.unwritable_failure(&error))?,
        };
        write_buffered(&mut file, write_content).map_err(|error| self.unwritable_failure(&error))?;
        *slot = Some(file);
        Ok(())
    }

    /// Moves the new file to its path, if something was written.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let file = lock_mutex(&self.file).take();
        file.map_or(Ok(()), AtomicFile::finish)
            .map_err(|error| self.unwritable_failure(&error))
    }

    fn unwritable_failure(&self, error: &io::Error) -> Failure {
        Failure::usage(format!("could not write {}: {error}", format_path(&self.path)))
    }
}
