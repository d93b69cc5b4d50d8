//! Reads the contents of files, from any thread.

use super::PublishError;
use sha2::{Digest as _, Sha256};
use sluicegate_base::mutex_lock::lock_mutex;
use sluicegate_git::{FileContent, GitError, Repository, read_disk_file, read_regular_file_metadata};
use sluicegate_pipelines::pipelines::is_pipeline;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The SHA-256 of a checked content.
pub(super) type ContentHash = [u8; 32];

/// Returns the hash of a checked file on disk, which shows later whether the file changed before it was sent. Returns
/// `None` for content in git, because it cannot change.
pub(super) fn hash_changeable_content(content: &FileContent, bytes: &[u8]) -> Option<ContentHash> {
    match content {
        FileContent::Blob(_) => None,
        FileContent::Disk(_) => Some(Sha256::digest(bytes).into()),
    }
}

/// The contents of a repository and of its working tree.
pub(super) struct ContentReader {
    root: PathBuf,
    /// A repository cannot be shared between threads, so this reader opens its own.
    repository: Mutex<Option<Repository>>,
    /// True if blobs are cached, because they will be read again.
    caches_blobs: bool,
}

impl fmt::Debug for ContentReader {
    /// Writes only the root, because the open repository is not useful in messages of tests.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ContentReader").field(&self.root).finish()
    }
}

impl PartialEq for ContentReader {
    /// Compares only the roots, because readers of the same repository return the same contents.
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

impl Eq for ContentReader {}

impl ContentReader {
    /// Creates a reader for the files of the repository at `root`. It opens the repository when it first needs it.
    pub(super) fn new(root: PathBuf) -> Self {
        Self {
            root,
            repository: Mutex::new(None),
            caches_blobs: true,
        }
    }

    /// Creates a reader for contents that are each read only once. It does not cache them in memory, because that would
    /// not help.
    pub(super) fn reading_once(root: PathBuf) -> Self {
        Self {
            caches_blobs: false,
            ..Self::new(root)
        }
    }

    /// Returns the path of a file in the working tree.
    pub(super) fn disk_path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Returns the size of the content in bytes.
    pub(super) fn read_content_size(&self, content: &FileContent) -> Result<u64, PublishError> {
        match content {
            FileContent::Blob(blob) => {
                Ok(self.with_repository(|repository| repository.read_blob_size(blob))?)
            }
            FileContent::Disk(path) => Ok(read_regular_file_metadata(path).map_err(io_error_at(path))?.len()),
        }
    }

    /// Returns the complete content, or `None` if it has more than `limit` bytes.
    pub(super) fn read_content(
        &self,
        content: &FileContent,
        limit: u64,
    ) -> Result<Option<Vec<u8>>, PublishError> {
        match content {
            FileContent::Blob(blob) => {
                Ok(self.with_repository(|repository| repository.read_blob(blob, limit))?)
            }
            FileContent::Disk(path) => read_disk_file(path, limit).map_err(io_error_at(path)),
        }
    }

    /// Opens the content as a stream, so that a large file need not be in memory completely. `size` must be the size of
    /// a blob; for a file on disk, it is not used.
    pub(super) fn open_content(
        &self,
        content: &FileContent,
        size: u64,
    ) -> Result<Box<dyn Read + Send>, PublishError> {
        match content {
            FileContent::Blob(blob) => {
                Ok(self.with_repository(|repository| repository.open_blob(blob, size))?)
            }
            FileContent::Disk(path) => {
                read_regular_file_metadata(path).map_err(io_error_at(path))?;
                Ok(Box::new(File::open(path).map_err(io_error_at(path))?))
            }
        }
    }

    /// Calls `read` with the repository, which is opened at the first call. Other threads wait meanwhile, because they
    /// use the same repository.
    fn with_repository<T>(
        &self,
        read: impl FnOnce(&Repository) -> Result<T, GitError>,
    ) -> Result<T, GitError> {
        let mut open_repository = lock_mutex(&self.repository);
        if let Some(repository) = open_repository.as_ref() {
            return read(repository);
        }
        // A partial clone then fetches all pipelines that it lacks at once.
        let repository = Repository::open(&self.root)?.with_document_predicate(is_pipeline);
        read(open_repository.insert(if self.caches_blobs {
            repository
        } else {
            repository.without_cache()
        }))
    }
}

/// Returns a function that adds the path of the file to a read error.
fn io_error_at(path: &Path) -> impl Fn(io::Error) -> PublishError {
    move |error| to_publish_error(error, path)
}

/// Returns the error of git that stopped a stream, otherwise the read error with the path of the file.
pub(super) fn to_publish_error(error: io::Error, path: &Path) -> PublishError {
    error.downcast().map_or_else(
        |source| PublishError::Io {
            path: path.to_owned(),
            source,
        },
        PublishError::Git,
    )
}
