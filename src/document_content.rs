//! Reads the content of a document of the repository, with the same limit everywhere.

use sluicegate_git::{BlobId, ContentDoubt, FileContent, GitError, Repository, SnapshotFile, read_disk_file};
use sluicegate_pipelines::findings::format_reason_with_step;
use sluicegate_yaml::{DocumentError, MAX_DOCUMENT_BYTES};
use std::io;
use std::path::{Path, PathBuf};

/// The reason why a file that git knows cannot be rewritten.
pub(crate) const NOT_CHECKED_OUT: &str = "the file is not checked out (sparse checkout)";

/// Returns the file's content, or the reason why it is not a document: it is a link or a submodule, it is too large, or
/// it is on disk and cannot be read or may differ from what a commit would store.
pub(crate) fn read_document(
    repository: &Repository,
    file: &SnapshotFile,
) -> Result<Result<Vec<u8>, DocumentError>, GitError> {
    if let Some(reason) = file.kind.unreadable_reason() {
        return Ok(Err(DocumentError::for_document(format!("the path is {reason}"))));
    }
    match (&file.content, file.doubt) {
        (FileContent::Blob(blob), _) => read_document_blob(repository, blob),
        (FileContent::Disk(_), Some(doubt)) => Ok(Err(DocumentError::for_document(describe_doubt(doubt)))),
        (FileContent::Disk(full_path), None) => Ok(read_usable_document(full_path)),
    }
}

/// Returns the content of a regular file, or the reason why it is not a document or cannot be read.
fn read_usable_document(full_path: &Path) -> Result<Vec<u8>, DocumentError> {
    read_document_on_disk(full_path)
        .unwrap_or_else(|error| Err(DocumentError::for_document(error.to_string())))
}

/// Describes why the content on disk is in doubt, and how to avoid that.
pub(crate) fn describe_doubt(doubt: ContentDoubt) -> String {
    format_reason_with_step(doubt.reason(), doubt.next_step())
}

/// Returns the blob's content, or the reason why it is not a document.
pub(crate) fn read_document_blob(
    repository: &Repository,
    blob: &BlobId,
) -> Result<Result<Vec<u8>, DocumentError>, GitError> {
    let bytes = repository.read_blob(blob, MAX_DOCUMENT_BYTES)?;
    Ok(bytes.ok_or_else(DocumentError::too_large))
}

/// Returns the content of a regular file, or the reason why it is not a document.
pub(crate) fn read_document_on_disk(full_path: &Path) -> io::Result<Result<Vec<u8>, DocumentError>> {
    let bytes = read_disk_file(full_path, MAX_DOCUMENT_BYTES)?;
    Ok(bytes.ok_or_else(DocumentError::too_large))
}

/// Returns the id that git gives to the content; `None` for a file on disk that cannot be read.
pub(crate) fn find_content_id(content: &FileContent) -> Option<BlobId> {
    match content {
        FileContent::Blob(blob) => Some(*blob),
        FileContent::Disk(path) => BlobId::of_content(&read_document_on_disk(path).ok()?.ok()?),
    }
}

/// A document that any thread can read completely: git's part is done, because a repository belongs to one thread.
pub(crate) enum PendingDocument {
    Read(Result<Vec<u8>, DocumentError>),
    /// The thread that uses the document reads it from disk.
    OnDisk(PathBuf),
}

impl PendingDocument {
    /// Reads the content of a file from git, or the reason why it is not a document. A readable file on disk is read
    /// later.
    pub(crate) fn for_file(repository: &Repository, file: &SnapshotFile) -> Result<Self, GitError> {
        match &file.content {
            FileContent::Disk(disk_path)
                if file.kind.unreadable_reason().is_none() && file.doubt.is_none() =>
            {
                Ok(Self::OnDisk(disk_path.clone()))
            }
            _ => Ok(Self::Read(read_document(repository, file)?)),
        }
    }

    /// Returns the size of the content in memory, in bytes: 0 for a file on disk, which is only in memory while a
    /// thread uses it.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Read(Ok(bytes)) => bytes.len(),
            Self::Read(Err(_)) | Self::OnDisk(_) => 0,
        }
    }

    /// Returns the content, which is read from disk now if it was not read before, or the reason why it is not a
    /// document.
    pub(crate) fn into_content(self) -> Result<Vec<u8>, DocumentError> {
        match self {
            Self::Read(content) => content,
            Self::OnDisk(disk_path) => read_usable_document(&disk_path),
        }
    }
}
