//! Refuses files whose content is not what their name says: a version with a Git LFS pointer in place of a script would
//! fail for every consumer, and could never be corrected.

use super::contents::PublishContents;
use super::error::Problem;
use super::{PublishError, Source, hash};
use sluicegate_base::file_defect::{FileDefect, LfsPointer};
use sluicegate_git::{FileContent, SnapshotFile, read_regular_metadata};

/// Maximum size of a script whose content is examined.
const MAX_SCRIPT_SIZE: u64 = 8 << 20;

/// Returns the defect of a script. If the files of the working tree are published, and the file on disk is the one that a
/// Git LFS pointer identifies by its hash, the script becomes the file on disk.
pub(super) fn resolve_defect(
    contents: &PublishContents,
    source: Source,
    path: &str,
    script: &mut SnapshotFile,
) -> Result<Option<FileDefect>, PublishError> {
    let Some(bytes) = contents.read(&script.content, MAX_SCRIPT_SIZE)? else {
        return Ok(None);
    };
    let defect = FileDefect::find_in_script(&bytes);
    if source != Source::Worktree {
        return Ok(defect);
    }
    let Some(pointer) = LfsPointer::parse(&bytes) else {
        return Ok(defect);
    };
    let on_disk = contents.disk_path(path);
    let is_regular = read_regular_metadata(&on_disk).is_ok_and(|metadata| metadata.len() == pointer.size);
    let content = FileContent::Disk(on_disk);
    if is_regular && hash::of(contents.open(&content, pointer.size)?, path)? == pointer.sha256 {
        script.content = content;
        return Ok(None);
    }
    Ok(defect)
}

/// Returns an error if there is any such file, with the instruction for the first kind of defect.
pub(super) fn refuse_unusable(mut unusable: Vec<(FileDefect, Problem)>) -> Result<(), PublishError> {
    unusable.sort_by_key(|(defect, _)| *defect);
    let Some((defect, _)) = unusable.first() else {
        return Ok(());
    };
    Err(PublishError::Unusable {
        defect: *defect,
        problems: unusable.into_iter().map(|(_, problem)| problem).collect(),
    })
}
