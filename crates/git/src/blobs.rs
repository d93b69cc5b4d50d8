//! The content of files.
//!
//! libgit2 reads small blobs. It can load a packed blob only as one piece, so the git program streams a large one, with
//! constant memory. The git program also fetches blobs that a partial clone omitted.

use super::object_header::read_object_header;
use super::{BlobId, GitError, Repository};
use git2::ObjectType;
use std::io::{Cursor, Read};

/// Maximum size of a blob that is loaded into memory, in bytes.
const MAX_LOADED_SIZE: u64 = 4 * 1024 * 1024;

impl Repository {
    /// Returns the blob's size in bytes, without reading its content. A blob that a partial clone lacks is fetched. An
    /// object that is not a blob is reported as missing.
    pub fn read_blob_size(&self, blob: &BlobId) -> Result<u64, GitError> {
        let odb = self.open_odb()?;
        let mut header = read_object_header(&odb, blob.oid())?;
        if header.is_none() {
            self.fetch_missing_blob(blob)?;
            self.refresh_objects(&odb)?;
            header = read_object_header(&odb, blob.oid())?;
        }
        match header {
            Some((size, ObjectType::Blob)) => Ok(size as u64),
            _ => Err(self.missing_object_error("blob", blob)),
        }
    }

    /// Returns the blob's content, or `None` if it has more than `limit` bytes. Blobs are cached until the cache is
    /// full.
    pub fn read_blob(&self, blob: &BlobId, limit: u64) -> Result<Option<Vec<u8>>, GitError> {
        let cached_size = self
            .blob_cache
            .borrow()
            .get(blob.oid())
            .map(|content| content.len());
        let size = cached_size.map_or_else(|| self.read_blob_size(blob), |size| Ok(size as u64))?;
        if size > limit {
            return Ok(None);
        }
        self.read_whole_blob(blob).map(Some)
    }

    /// Returns a reader of the blob's content; `size` is the result of [`Self::read_blob_size`]. The git program
    /// streams a large blob, so that the reader needs constant memory; reading fails at the end if the content has
    /// another size, or does not match the id. A small blob is loaded into memory, and so is every blob if git is not
    /// installed.
    pub fn open_blob(&self, blob: &BlobId, size: u64) -> Result<Box<dyn Read + Send>, GitError> {
        if size <= MAX_LOADED_SIZE || !self.program.is_installed() {
            return Ok(Box::new(Cursor::new(self.read_whole_blob(blob)?)));
        }
        Ok(Box::new(self.program.stream_blob(blob, size)?))
    }

    /// Returns the blob's size if the clone has the blob.
    pub(super) fn find_local_blob_size(&self, blob: &BlobId) -> Option<u64> {
        let odb = self.library.odb().ok()?;
        let (size, _) = read_object_header(&odb, blob.oid()).ok()??;
        Some(size as u64)
    }

    /// Returns the blob's content if the clone has the blob.
    pub(super) fn read_local_blob(&self, blob: &BlobId) -> Option<Vec<u8>> {
        self.check_object(blob.oid()).ok()?;
        let odb = self.library.odb().ok()?;
        Some(odb.read(blob.oid()).ok()?.data().to_vec())
    }

    /// Returns a blob from the cache, or reads it from the local objects and caches it if there is room.
    fn read_whole_blob(&self, blob: &BlobId) -> Result<Vec<u8>, GitError> {
        if let Some(content) = self.blob_cache.borrow().get(blob.oid()) {
            return Ok(content.to_vec());
        }
        self.check_object(blob.oid())?;
        let odb = self.open_odb()?;
        let object = odb.read(blob.oid()).map_err(GitError::library("read a blob"))?;
        self.blob_cache.borrow_mut().add(blob.oid(), object.data());
        Ok(object.data().to_vec())
    }
}
