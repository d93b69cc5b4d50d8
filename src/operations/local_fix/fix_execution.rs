//! Writes the fixed files, each atomically, and stages them if requested.

use crate::atomic_file;
use crate::error::Failure;
use crate::gate::project_checks::fix_destination::FixDestination;
use crate::gate::project_checks::fixed_file::FixedFile;
use crate::gate::project_checks::project_fixes::FixProof;
use crate::session::signals::Signals;
use sluicegate_base::text::List;
use std::mem;
use std::path::Path;

/// Writes the fixed files, and stages them if the destination is the index. The fixes of a file that cannot be written
/// are rejected, with the reason. If staging fails or a signal arrives, all fixes are undone. The caller holds the
/// signals.
pub(crate) fn write_fixes(
    signals: &Signals,
    destination: &FixDestination<'_>,
    proof: &mut FixProof,
) -> Result<(), Failure> {
    let (repo, index) = (destination.repo, destination.index);
    // A written file differs from the index, so the files to stage are looked up before.
    let mut staged_files = if destination.is_staged {
        let paths = proof.fixed_files.iter().map(|file| file.path.as_str());
        repo.list_files_without_unstaged_changes(paths, index)?
    } else {
        Vec::new()
    };
    for file in mem::take(&mut proof.fixed_files) {
        if let Some(failure) = signals.pending_failure() {
            return Err(undo_fixes(failure, repo.root(), &proof.fixed_files));
        }
        let full_path = repo.root().join(&file.path);
        match atomic_file::replace_file(&full_path, &file.old_bytes, &file.new_bytes) {
            Ok(()) => proof.fixed_files.push(file),
            Err(error) => {
                staged_files.retain(|staged_file| staged_file.path != file.path);
                let reason = format!("could not write the file: {error}");
                proof.reject(&file.path, file.values, &reason);
            }
        }
    }
    // The signal may have arrived while the last file was written.
    if let Some(failure) = signals.pending_failure() {
        return Err(undo_fixes(failure, repo.root(), &proof.fixed_files));
    }
    repo.stage_files(&staged_files, index)
        .map_err(|error| undo_fixes(error.into(), repo.root(), &proof.fixed_files))
}

/// Restores the fixed files, and returns the failure with a hint that says so.
fn undo_fixes(failure: Failure, root: &Path, fixed_files: &[FixedFile]) -> Failure {
    let unrestored_paths = restore_files(root, fixed_files);
    failure.with_hint(if unrestored_paths.is_empty() {
        "the files on disk have their old content again".to_owned()
    } else {
        let paths = List::new(unrestored_paths);
        format!("the fixes of these files could not be undone: {paths}")
    })
}

/// Writes the old content of the fixed files. Returns the paths of the files that could not be written.
fn restore_files<'f>(root: &Path, files: &'f [FixedFile]) -> Vec<&'f str> {
    let mut unrestored_paths = Vec::new();
    for file in files {
        if atomic_file::write_file(&root.join(&file.path), &file.old_bytes).is_err() {
            unrestored_paths.push(file.path.as_str());
        }
    }
    unrestored_paths
}
