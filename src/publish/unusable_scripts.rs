//! Rejects files whose content does not match their name: a version with a Git LFS pointer in place of a script would
//! fail for every consumer, and could never be corrected.

use super::content_reader::ContentReader;
use super::error::SharedPipelineProblem;
use super::lfs_files::has_pointer_content;
use super::{FileSource, PublishError};
use sluicegate_base::file_defect::{FileDefect, LfsPointer, MAX_SCRIPT_SIZE};
use sluicegate_git::{FileContent, SnapshotFile, read_regular_file_metadata};

/// Returns the defect of a script, for example that it is only a Git LFS pointer; `None` if it has no defect or is too
/// large to be examined. If files of the working tree are published and the file on disk has the hash in the pointer,
/// there is no defect: `script` is replaced by the file on disk.
pub(super) fn resolve_script_defect(
    contents: &ContentReader,
    source: FileSource,
    path: &str,
    script: &mut SnapshotFile,
) -> Result<Option<FileDefect>, PublishError> {
    let Some(bytes) = contents.read_content(&script.content, MAX_SCRIPT_SIZE)? else {
        return Ok(None);
    };
    let defect = FileDefect::find_in_script(&bytes);
    // With a doubt, the disk does not have the file: a sparse checkout omits it.
    if source != FileSource::Worktree || script.doubt.is_some() {
        return Ok(defect);
    }
    let Some(pointer) = LfsPointer::parse(&bytes) else {
        return Ok(defect);
    };
    let disk_path = contents.disk_path(path);
    let Ok(metadata) = read_regular_file_metadata(&disk_path) else {
        return Ok(defect);
    };
    let content = FileContent::Disk(disk_path);
    if has_pointer_content(contents, &pointer, &content, metadata.len(), path)? {
        script.content = content;
        return Ok(None);
    }
    Ok(defect)
}

/// Fails if there is a defective file. The error lists all of them, but its hint is only about the defect that is first
/// in [`FileDefect`].
pub(super) fn reject_unusable_files(
    mut defects: Vec<(FileDefect, SharedPipelineProblem)>,
) -> Result<(), PublishError> {
    defects.sort_by_key(|(defect, _)| *defect);
    let Some((defect, _)) = defects.first() else {
        return Ok(());
    };
    Err(PublishError::Unusable {
        defect: *defect,
        problems: defects.into_iter().map(|(_, problem)| problem).collect(),
    })
}
