//! Detects that a file on disk changes between its check and its upload: its size alone would not show that.
//!
//! After a failure, the rest of the form, including its end, is not sent: the platform has nothing complete to publish.

use sha2::{Digest, Sha256};
use sluicegate_git::FileContent;
use std::io::{self, Read};

/// The SHA-256 of a checked content.
pub(super) type Checked = [u8; 32];

/// Returns the hash of a content to be checked, or `None` if it cannot change.
pub(super) fn checked(content: &FileContent, bytes: &[u8]) -> Option<Checked> {
    match content {
        FileContent::Blob(_) => None,
        FileContent::Disk(_) => Some(Sha256::digest(bytes).into()),
    }
}

/// A reader that fails at the end of its content if that is not the checked content.
pub(super) struct Unchanged {
    content: Box<dyn Read + Send>,
    hasher: Sha256,
    checked: Checked,
}

impl Unchanged {
    pub(super) fn new(content: Box<dyn Read + Send>, checked: Checked) -> Self {
        Self {
            content,
            hasher: Sha256::new(),
            checked,
        }
    }
}

impl Read for Unchanged {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let size = self.content.read(space)?;
        self.hasher.update(&space[..size]);
        let is_over = size == 0 && !space.is_empty();
        if is_over && self.hasher.clone().finalize().as_slice() != self.checked {
            return Err(io::Error::other("the file changed after it was checked"));
        }
        Ok(size)
    }
}
