//! Files that Git LFS stores: the commit contains only a pointer with their size and SHA-256.

use super::content_hashes::hash_reader;
use super::content_reader::ContentReader;
use super::{PlannedFile, PublishError};
use sluicegate_base::file_defect::{LfsPointer, MAX_POINTER_SIZE};
use sluicegate_git::FileContent;

/// Returns whether the committed content is a Git LFS pointer to the planned file, so that the commit determines the
/// planned content.
pub(super) fn is_pointer_to_planned_file(
    contents: &ContentReader,
    committed_content: &FileContent,
    planned_file: &PlannedFile,
) -> Result<bool, PublishError> {
    let bytes = contents.read_content(committed_content, MAX_POINTER_SIZE)?;
    let Some(pointer) = bytes.and_then(|bytes| LfsPointer::parse(&bytes)) else {
        return Ok(false);
    };
    has_pointer_content(
        contents,
        &pointer,
        &planned_file.content,
        planned_file.bytes,
        &planned_file.path,
    )
}

/// Returns whether a content of this size has the size and the hash in the pointer.
pub(super) fn has_pointer_content(
    contents: &ContentReader,
    pointer: &LfsPointer,
    content: &FileContent,
    size: u64,
    path: &str,
) -> Result<bool, PublishError> {
    Ok(size == pointer.size && hash_reader(contents.open_content(content, size)?, path)? == pointer.sha256)
}
