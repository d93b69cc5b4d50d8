//! Hashes files of a commit, and compares them with those that a receipt or a statement lists.

use super::{PublishError, content_hashes};
use sluicegate_base::file_defect::{LfsPointer, MAX_POINTER_SIZE};
use sluicegate_git::{BlobId, CommitId, Repository};

/// A file that a document lists.
pub struct DocumentFile<'a> {
    pub path: &'a str,
    /// Size in bytes, if the document contains it.
    pub bytes: Option<u64>,
    /// SHA-256 of the content, in hex.
    pub sha256: &'a str,
}

impl DocumentFile<'_> {
    /// Returns whether the file has this size and this hash.
    fn has_content(&self, bytes: u64, sha256: &str) -> bool {
        self.sha256 == sha256 && self.bytes.is_none_or(|listed_bytes| listed_bytes == bytes)
    }

    /// Returns whether the blob has the content of the file, or is a Git LFS pointer to it.
    pub(super) fn is_committed_as(
        &self,
        repository: &Repository,
        blob: &BlobId,
    ) -> Result<bool, PublishError> {
        let (blob_bytes, blob_sha256) = hash_blob(repository, blob, self.path)?;
        Ok(self.has_content(blob_bytes, &blob_sha256)
            || read_lfs_pointer(repository, blob)?
                .is_some_and(|pointer| self.has_content(pointer.size, &pointer.sha256)))
    }
}

/// Returns the differences between the listed files and those of the commit, which may contain a Git LFS pointer to a
/// listed file. `document` names the document in the messages, for example `the receipt`.
pub fn compare_with_committed_files<'a>(
    repository: &Repository,
    commit: &CommitId,
    files: impl Iterator<Item = DocumentFile<'a>>,
    document: &str,
) -> Result<Vec<String>, PublishError> {
    let mut differences = Vec::new();
    for file in files {
        let path = file.path;
        let Some(committed_file) = repository.find_file(commit, path)? else {
            differences.push(format!("`{path}` is not in commit {}", commit.short()));
            continue;
        };
        if !file.is_committed_as(repository, &committed_file.blob)? {
            differences.push(format!(
                "`{path}` has different content in commit {} and in {document}",
                commit.short()
            ));
        }
    }
    Ok(differences)
}

/// Returns the Git LFS pointer in a blob, or `None` if the blob has another content.
fn read_lfs_pointer(repository: &Repository, blob: &BlobId) -> Result<Option<LfsPointer>, PublishError> {
    let bytes = repository.read_blob(blob, MAX_POINTER_SIZE)?;
    Ok(bytes.as_deref().and_then(LfsPointer::parse))
}

/// Returns the size in bytes and the SHA-256 in hex of a blob. `path` names the file in errors.
pub fn hash_blob(repository: &Repository, blob: &BlobId, path: &str) -> Result<(u64, String), PublishError> {
    let bytes = repository.read_blob_size(blob)?;
    let sha256 = content_hashes::hash_reader(repository.open_blob(blob, bytes)?, path)?;
    Ok((bytes, sha256))
}
