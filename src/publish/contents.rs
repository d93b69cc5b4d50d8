//! Reads the files' contents, from several threads at once.
//!
//! A repository cannot be shared between threads, so each borrows an opened one and gives it back.

use super::PublishError;
use crate::git::{BlobId, Content, GitError, Repository, read_on_disk, regular_on_disk};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The contents of a repository and of its working tree.
pub(super) struct PublishContents {
    root: PathBuf,
    idle: Mutex<Vec<Repository>>,
}

impl fmt::Debug for PublishContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Contents").field(&self.root).finish()
    }
}

/// Of the same repository the contents are the same.
impl PartialEq for PublishContents {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

impl Eq for PublishContents {}

impl PublishContents {
    pub fn new(root: PathBuf) -> Self {
        Self {
            root,
            idle: Mutex::new(Vec::new()),
        }
    }

    /// The size in bytes.
    pub fn size(&self, content: &Content) -> Result<u64, PublishError> {
        match content {
            Content::Blob(blob) => Ok(self.with(|repository| repository.blob_size(blob))?),
            Content::Disk(path) => Ok(regular_on_disk(path).map_err(cannot_read(path))?.len()),
        }
    }

    /// The whole content; none if it has more than `limit` bytes.
    pub fn read(&self, content: &Content, limit: u64) -> Result<Option<Vec<u8>>, PublishError> {
        match content {
            Content::Blob(blob) => match self.with(|repository| repository.read_blob(blob, limit)) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(GitError::TooLarge { .. }) => Ok(None),
                Err(error) => Err(error.into()),
            },
            Content::Disk(path) => read_on_disk(path, limit).map_err(cannot_read(path)),
        }
    }

    /// A reader of the content, which has `size` bytes, in flat memory.
    pub fn open(&self, content: &Content, size: u64) -> Result<Box<dyn Read + Send>, PublishError> {
        match content {
            Content::Blob(blob) => Ok(self.with(|repository| repository.open_blob(blob, size))?),
            Content::Disk(path) => {
                regular_on_disk(path).map_err(cannot_read(path))?;
                Ok(Box::new(File::open(path).map_err(cannot_read(path))?))
            }
        }
    }

    /// The order in which these contents are read soonest, as places in the list.
    pub fn reading_order<'c>(&self, all: impl Iterator<Item = &'c Content>) -> Vec<usize> {
        let blobs = all.map(|content| match content {
            Content::Blob(blob) => Some(*blob),
            Content::Disk(_) => None,
        });
        let blobs: Vec<Option<BlobId>> = blobs.collect();
        let ordered = blobs.iter().copied().collect::<Option<Vec<BlobId>>>();
        let order = ordered.map(|blobs| self.with(|repository| Ok(repository.reading_order(&blobs))));
        order
            .and_then(Result::ok)
            .unwrap_or_else(|| (0..blobs.len()).collect())
    }

    fn with<T>(&self, work: impl FnOnce(&Repository) -> Result<T, GitError>) -> Result<T, GitError> {
        let borrowed = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let repository = match borrowed {
            Some(repository) => repository,
            None => Repository::open(&self.root)?,
        };
        let result = work(&repository);
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(repository);
        result
    }
}

/// Says which file could not be read.
fn cannot_read(path: &Path) -> impl Fn(io::Error) -> PublishError {
    move |source| PublishError::Io {
        path: path.to_owned(),
        source,
    }
}
