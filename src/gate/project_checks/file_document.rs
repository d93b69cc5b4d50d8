//! The content of a file that the project checks parse.

use crate::document_content::{read_document, read_document_on_disk};
use sluicegate_git::{FileContent, GitError, Repository, SnapshotFile};

/// The content of a file to parse.
pub(super) enum FileDocument {
    /// `None` if the file cannot be read.
    Read(Option<Vec<u8>>),
    /// The thread that parses the file reads it from disk.
    OnDisk,
}

impl FileDocument {
    /// Returns the size of the content in memory, in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Read(bytes) => bytes.as_ref().map_or(0, Vec::len),
            Self::OnDisk => 0,
        }
    }

    /// Reads the content of a file from git. A readable file on disk is read later.
    pub(super) fn for_file(repo: &Repository, file: &SnapshotFile) -> Result<Self, GitError> {
        let is_on_disk = matches!(file.content, FileContent::Disk(_));
        if is_on_disk && file.kind.unreadable_reason().is_none() && file.doubt.is_none() {
            return Ok(Self::OnDisk);
        }
        Ok(Self::Read(read_document(repo, file)?.ok()))
    }

    /// Returns the content, which is read from disk now if it was not read before. Returns `None` if the file cannot be
    /// read.
    pub(super) fn into_bytes(self, file: &SnapshotFile) -> Option<Vec<u8>> {
        match self {
            Self::Read(bytes) => bytes,
            Self::OnDisk => read_from_disk(file),
        }
    }
}

/// Reads a file from disk. Returns `None` if it cannot be read, which is reported elsewhere, and for a blob, which is
/// not on disk.
fn read_from_disk(file: &SnapshotFile) -> Option<Vec<u8>> {
    match &file.content {
        FileContent::Disk(disk_path) => read_document_on_disk(disk_path).ok()?.ok(),
        FileContent::Blob(_) => None,
    }
}
