//! Checks that the moved files are committed, except for references rewritten by an earlier move.

use super::reference_reader::ReferenceReader;
use crate::document_content::read_document;
use crate::error::Failure;
use sluicegate_git::{Change, ChangeKind, GitError};
use sluicegate_pipelines::pipelines::PipelineFacts;
use sluicegate_yaml::{Position, split_around_scalars};
use std::collections::BTreeSet;

/// Fails if a file in `tracked_paths` has uncommitted changes. A file is accepted if only its references changed,
/// because an earlier move may have rewritten them.
pub(crate) fn reject_uncommitted_changes(
    reader: &ReferenceReader<'_>,
    tracked_paths: &BTreeSet<String>,
) -> Result<(), Failure> {
    let repo = &reader.workspace.repo;
    let bases = match repo.head() {
        Ok(head) => vec![head.commit],
        Err(GitError::NoCommit { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    for change in reader.snapshot.find_changes(&bases, &|_| true)? {
        if tracked_paths.contains(&change.path) && !has_only_reference_changes(reader, &change)? {
            let message = format!("`{}` has uncommitted changes", change.path);
            return Err(Failure::usage(message).with_hint(
                "nothing was changed: commit the changes first, or pass --force to move them, too",
            ));
        }
    }
    Ok(())
}

/// Returns whether the change affects only references to other files and line endings. Returns false if the file was
/// added or deleted, or if a version of it cannot be read or parsed.
fn has_only_reference_changes(reader: &ReferenceReader<'_>, change: &Change) -> Result<bool, Failure> {
    let repo = &reader.workspace.repo;
    let (Some(old), ChangeKind::Modified | ChangeKind::Renamed { .. }) = (change.old_path(), &change.kind)
    else {
        return Ok(false);
    };
    let head = repo.snapshot(repo.head()?.commit);
    let (Some(old_file), Some(new_file)) = (head.find_file(old)?, reader.snapshot.find_file(&change.path)?)
    else {
        return Ok(false);
    };
    let (Ok(old_bytes), Ok(new_bytes)) = (read_document(repo, &old_file)?, read_document(repo, &new_file)?)
    else {
        return Ok(false);
    };
    // Git may have checked the file out with other line endings than it stores.
    let [old_bytes, new_bytes] = [old_bytes, new_bytes].map(normalize_line_ends);
    Ok(old_bytes == new_bytes
        || split_around_references(&old_bytes)
            .is_some_and(|parts| Some(parts) == split_around_references(&new_bytes)))
}

/// Removes each carriage return, so that files with different line endings can be compared.
fn normalize_line_ends(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.retain(|byte| *byte != b'\r');
    bytes
}

/// Returns the text of a pipeline without its references, split where they were; `None` if it cannot be parsed.
fn split_around_references(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let facts = PipelineFacts::parse(bytes).ok()?;
    let positions: Vec<Position> = facts
        .references
        .iter()
        .map(|reference| reference.position)
        .collect();
    split_around_scalars(bytes, &positions)
}
