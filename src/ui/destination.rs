//! The file that replaces standard output (`--out`). It is created with the first result and moved to its path when
//! the command ends, so that a reader never sees half of it.

use crate::error::Failure;
use crate::write::{Unfinished, to_the_end};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

#[derive(Debug)]
pub(crate) struct Destination {
    path: PathBuf,
    file: Mutex<Option<Unfinished>>,
}

impl Destination {
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: Mutex::new(None),
        }
    }

    pub(super) fn write(
        &self,
        fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let mut held = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = match held.take() {
            Some(begun) => Ok(begun),
            None => Unfinished::create(&self.path),
        };
        let written = begun.and_then(|mut begun| {
            to_the_end(&mut begun, fill)?;
            *held = Some(begun);
            Ok(())
        });
        written.map_err(|why| self.unwritable(&why))
    }

    pub(super) fn finish(&self) -> Result<(), Failure> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner).take();
        let finished = file.map_or(Ok(()), Unfinished::finish);
        finished.map_err(|why| self.unwritable(&why))
    }

    fn unwritable(&self, why: &io::Error) -> Failure {
        Failure::usage(format!("could not write {}: {why}", self.path.display()))
    }
}
