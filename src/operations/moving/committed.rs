//! Checks that the moved files are committed, except for references rewritten by an earlier move.

use super::read::Reading;
use crate::document_content::read_document;
use crate::error::Failure;
use sluicegate_git::{Change, ChangeKind, GitError};
use sluicegate_pipelines::pipelines::PipelineFacts;
use sluicegate_pipelines::yaml::{Position, split_around_scalars};
use std::collections::BTreeSet;

/// Returns an error if one of the `tracked` files, which are moved and in the index, has uncommitted changes.
pub(crate) fn refuse_uncommitted(reading: &Reading<'_>, tracked: &BTreeSet<String>) -> Result<(), Failure> {
    let repo = &reading.workspace.repo;
    let bases = match repo.head() {
        Ok(head) => vec![head.commit],
        Err(GitError::NoCommit { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    for change in reading.snapshot.changes(&bases, &|_| true)? {
        if tracked.contains(&change.path) && !is_only_rewritten(reading, &change)? {
            let message = format!("`{}` has uncommitted changes", change.path);
            return Err(Failure::usage(message)
                .hint("nothing was changed: commit them first, or pass --force to move them along"));
        }
    }
    Ok(())
}

/// Returns whether only the references to other files differ.
fn is_only_rewritten(reading: &Reading<'_>, change: &Change) -> Result<bool, Failure> {
    let repo = &reading.workspace.repo;
    let (Some(old), ChangeKind::Modified | ChangeKind::Renamed { .. }) = (change.path_before(), &change.kind)
    else {
        return Ok(false);
    };
    let head = repo.snapshot(repo.head()?.commit);
    let (Some(before), Some(after)) = (head.find(old)?, reading.snapshot.find(&change.path)?) else {
        return Ok(false);
    };
    let (Ok(before), Ok(after)) = (read_document(repo, &before)?, read_document(repo, &after)?) else {
        return Ok(false);
    };
    // Git may have checked the file out with other line endings than it stores.
    let [before, after] = [before, after].map(with_plain_line_ends);
    Ok(before == after || outside(&before).is_some_and(|parts| Some(parts) == outside(&after)))
}

fn with_plain_line_ends(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.retain(|byte| *byte != b'\r');
    bytes
}

/// Returns the parts of a pipeline around its references.
fn outside(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let facts = PipelineFacts::parse(bytes).ok()?;
    let places: Vec<Position> = facts
        .references
        .iter()
        .map(|reference| reference.position)
        .collect();
    split_around_scalars(bytes, &places)
}
