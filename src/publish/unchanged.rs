//! A file on disk that is held to what was checked while it is sent: with the same size it could be another.
//!
//! What follows a file in the form, and so its end, is not sent once this fails: the platform has nothing whole to publish.

use crate::base::git::Content;
use sha2::{Digest, Sha256};
use std::io::{self, Read};

/// The SHA-256 of a content that was checked.
pub(super) type Checked = [u8; 32];

/// The hash of what was read of a content to be checked; none where it cannot change.
pub(super) fn checked(content: &Content, bytes: &[u8]) -> Option<Checked> {
    match content {
        Content::Blob(_) => None,
        Content::Disk(_) => Some(Sha256::digest(bytes).into()),
    }
}

/// Reads a content, and fails at its end where it is not the one that was checked.
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
            return Err(io::Error::other("it changed after it was checked"));
        }
        Ok(size)
    }
}
