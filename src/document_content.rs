//! Reads the content of a document of the repository, with the same limit everywhere.

use sluicegate_git::{BlobId, ContentDoubt, FileContent, GitError, Repository, SnapshotFile, read_disk_file};
use sluicegate_pipelines::findings::format_reason_with_step;
use sluicegate_yaml::{DocumentError, MAX_DOCUMENT_BYTES};
use std::io;
use std::path::Path;

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
