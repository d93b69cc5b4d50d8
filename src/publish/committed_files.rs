//! Hashes files of a commit, and compares them with those that a receipt or a statement lists.

use super::{PublishError, content_hashes};
use sluicegate_git::{BlobId, CommitId, Repository};

/// A file that a document lists.
pub struct ListedFile<'a> {
    pub path: &'a str,
    /// Size in bytes, if the document contains it.
    pub bytes: Option<u64>,
    /// SHA-256 of the content, in hex.
    pub sha256: &'a str,
}

/// Returns the differences between the listed files and those of the commit. `document` names the document in the
/// messages, for example `the receipt`.
pub fn compare_with_committed_files<'a>(
    repository: &Repository,
    commit: &CommitId,
    files: impl Iterator<Item = ListedFile<'a>>,
    document: &str,
) -> Result<Vec<String>, PublishError> {
    let mut differences = Vec::new();
    for ListedFile { path, bytes, sha256 } in files {
        let Some(committed_file) = repository.find_file(commit, path)? else {
            differences.push(format!("`{path}` is not in commit {}", commit.short()));
            continue;
        };
        let (committed_bytes, committed_sha256) = hash_blob(repository, &committed_file.blob, path)?;
        if committed_sha256 != sha256 || bytes.is_some_and(|bytes| bytes != committed_bytes) {
            differences.push(format!(
                "`{path}` has different content in commit {} and in {document}",
                commit.short()
            ));
        }
    }
    Ok(differences)
}

/// Returns the size in bytes and the SHA-256 in hex of a blob. `path` names the file in errors.
pub fn hash_blob(repository: &Repository, blob: &BlobId, path: &str) -> Result<(u64, String), PublishError> {
    let bytes = repository.read_blob_size(blob)?;
    let sha256 = content_hashes::hash_reader(repository.open_blob(blob, bytes)?, path)?;
    Ok((bytes, sha256))
}
