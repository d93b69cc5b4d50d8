//! Checks whether the working tree matches the head commit: as git checked it out, or with the same content.

use super::content_reader::ContentReader;
use super::lfs_files::is_pointer_to_planned_file;
use super::plan::PlannedFile;
use super::{FileSelection, PublishError, PublishRequest};
use sluicegate_base::text::List;
use sluicegate_git::{BlobId, CommitId, FileContent, FileKind, IndexState, Repository};
use std::collections::BTreeMap;
use std::io::Read;

/// Maximum number of files that the warning lists.
const MAX_LISTED_FILES: usize = 5;
/// Number of bytes that are compared at once.
const CHUNK_BYTES: u64 = 64 * 1024;

/// Returns a warning if planned files of the working tree differ from the commit `head`, because they would be
/// published under its hash. A selected file that was deleted or is not committed differs, too. Deleted files are not
/// examined with `--select closure`: the plan has already failed if a needed file was deleted, and other files are not
/// published.
pub(super) fn find_worktree_drift(
    repository: &Repository,
    head: &CommitId,
    request: &PublishRequest<'_>,
    contents: &ContentReader,
    files: &[PlannedFile],
) -> Result<Option<String>, PublishError> {
    let planned_files: BTreeMap<&str, &PlannedFile> =
        files.iter().map(|file| (file.path.as_str(), file)).collect();
    let committed_files = repository.list_files(head, &|path| {
        let is_selected = request.selection == FileSelection::All && request.globs.selects_file(path);
        is_selected || planned_files.contains_key(path)
    })?;
    let index_state = repository.load_index_state();
    // The loop removes the committed files, so that only uncommitted ones remain.
    let mut uncommitted_files = planned_files.clone();
    let mut differing_paths = Vec::new();
    // A submodule is not published.
    for file in committed_files
        .into_iter()
        .filter(|file| file.kind != FileKind::Submodule)
    {
        let is_equal = match uncommitted_files.remove(file.path.as_str()) {
            Some(planned_file) => has_content_of_blob(contents, &index_state, planned_file, file.blob)?,
            // The file is committed and selected, but is missing in the working tree.
            None => false,
        };
        if !is_equal {
            differing_paths.push(file.path);
        }
    }
    differing_paths.extend(uncommitted_files.into_keys().map(str::to_owned));
    Ok((!differing_paths.is_empty()).then(|| describe_worktree_drift(head, &differing_paths)))
}

/// Describes which files of the working tree differ from the commit, for a warning.
fn describe_worktree_drift(head: &CommitId, differing_paths: &[String]) -> String {
    format!(
        "the working tree differs from commit {}, whose hash is published: {}",
        head.short(),
        List::with_limit(differing_paths, MAX_LISTED_FILES)
    )
}

/// Returns whether a planned file has the content of this blob. For most files, git's index already tells, so that they
/// need not be read. A content that cannot be read to its end is treated as different.
fn has_content_of_blob(
    contents: &ContentReader,
    index_state: &IndexState,
    planned_file: &PlannedFile,
    blob: BlobId,
) -> Result<bool, PublishError> {
    if let FileContent::Disk(path) = &planned_file.content
        && let Ok(metadata) = path.symlink_metadata()
        && index_state.is_unmodified_blob(&planned_file.path, &blob, &metadata)
    {
        return Ok(true);
    }
    let committed_content = FileContent::Blob(blob);
    if contents.read_content_size(&committed_content)? != planned_file.bytes {
        return is_pointer_to_planned_file(contents, &committed_content, planned_file);
    }
    let mut planned_bytes = contents.open_content(&planned_file.content, planned_file.bytes)?;
    let mut committed_bytes = contents.open_content(&committed_content, planned_file.bytes)?;
    Ok(have_equal_bytes(&mut *planned_bytes, &mut *committed_bytes).unwrap_or(false))
}

/// Reads both contents to the first difference, and returns whether they have the same bytes.
fn have_equal_bytes(left: &mut dyn Read, right: &mut dyn Read) -> std::io::Result<bool> {
    loop {
        let (left_chunk, right_chunk) = (read_chunk(left)?, read_chunk(right)?);
        if left_chunk != right_chunk {
            return Ok(false);
        }
        if left_chunk.is_empty() {
            return Ok(true);
        }
    }
}

/// Reads up to [`CHUNK_BYTES`] bytes, fewer only at the end of the content.
fn read_chunk(content: &mut dyn Read) -> std::io::Result<Vec<u8>> {
    let mut chunk = Vec::new();
    content.take(CHUNK_BYTES).read_to_end(&mut chunk)?;
    Ok(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn have_equal_content(left: &[u8], right: &[u8]) -> bool {
        have_equal_bytes(&mut { left }, &mut { right }).unwrap()
    }

    #[test]
    fn contents_of_several_chunks_are_compared_to_their_end() {
        let long_content = vec![b'a'; 2 * 64 * 1024 + 1];
        let mut changed_end = long_content.clone();
        *changed_end.last_mut().unwrap() = b'b';
        assert!(have_equal_content(&long_content, &long_content));
        assert!(!have_equal_content(&long_content, &changed_end));
        assert!(!have_equal_content(&long_content, &long_content[..64 * 1024]));
        assert!(have_equal_content(b"", b""));
        assert!(!have_equal_content(b"a", b""));
    }
}
