//! Carries out the plan: git moves the files, then the edited files are written and staged. If a file cannot be
//! written, or a signal arrives, all changes are undone.

use super::file_edit::FileEdit;
use super::move_plan::MovePlan;
use crate::atomic_file;
use crate::error::Failure;
use crate::session::signals::Signals;
use sluicegate_base::text::format_path;
use sluicegate_git::{GitError, Repository};
use sluicegate_pipelines::file_moves::PathMove;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The rewritten files that the next commit does not contain.
#[derive(Debug, Default)]
pub(crate) struct UnstagedFiles {
    pub paths: Vec<String>,
    /// The error of git if nothing could be staged; otherwise the content of the files differed from the index before.
    pub reason: Option<String>,
}

/// Moves the files and rewrites the references as planned. If a file cannot be written or a signal arrives, undoes all
/// changes. Stages the rewritten files of a move, because `git mv` stages the moved files, too. Returns the rewritten
/// files that are not staged: staging failed, or they had unstaged changes before. A repair stages nothing. The caller
/// holds the signals.
pub(crate) fn execute_plan(
    signals: &Signals,
    repo: &Repository,
    plan: &MovePlan,
) -> Result<UnstagedFiles, Failure> {
    let root = repo.root();
    let edited_paths = plan.edits.iter().map(|edit| edit.path.as_str());
    let default_index = None;
    // Listed before the edits are written, because each written file has unstaged changes.
    let mut files_to_stage = repo.list_files_without_unstaged_changes(edited_paths, default_index)?;
    let created_dirs = match &plan.path_move {
        Some(path_move) => move_files(repo, path_move)?,
        None => Vec::new(),
    };
    let mut written_edits: Vec<&FileEdit> = Vec::new();
    if let Err(failure) = write_edits(signals, root, plan, &mut written_edits) {
        let problems = undo_changes(repo, plan, &written_edits, &created_dirs);
        return Err(failure.with_hint(describe_undo(&problems)));
    }
    let Some(path_move) = &plan.path_move else {
        return Ok(UnstagedFiles::default());
    };
    for file in &mut files_to_stage {
        file.path = path_move.path_after_move(&file.path);
    }
    if let Err(error) = repo.stage_files(&files_to_stage, default_index) {
        return Ok(UnstagedFiles {
            paths: list_edited_paths(plan, path_move).collect(),
            reason: Some(error.to_string()),
        });
    }
    let staged_paths: HashSet<&str> = files_to_stage.iter().map(|file| file.path.as_str()).collect();
    Ok(UnstagedFiles {
        paths: list_edited_paths(plan, path_move)
            .filter(|path| !staged_paths.contains(path.as_str()))
            .collect(),
        reason: None,
    })
}

/// Writes the edited files, and adds each to `written_edits`. Fails if a file cannot be written, or if a signal
/// arrives, also while git moves the files or the last file is written.
fn write_edits<'p>(
    signals: &Signals,
    root: &Path,
    plan: &'p MovePlan,
    written_edits: &mut Vec<&'p FileEdit>,
) -> Result<(), Failure> {
    for edit in &plan.edits {
        if let Some(failure) = signals.pending_failure() {
            return Err(failure);
        }
        let full_path = path_after_move(root, plan, edit);
        atomic_file::replace_file(&full_path, &edit.old_bytes, &edit.new_bytes)
            .map_err(|error| Failure::usage(format!("could not write {}: {error}", edit.path)))?;
        written_edits.push(edit);
    }
    signals.pending_failure().map_or(Ok(()), Err)
}

/// Restores the edited files, moves the files back, and removes the new directories. Returns the problems of doing so.
fn undo_changes(
    repo: &Repository,
    plan: &MovePlan,
    written_edits: &[&FileEdit],
    created_dirs: &[PathBuf],
) -> Vec<String> {
    let mut problems = Vec::new();
    for edit in written_edits {
        let full_path = path_after_move(repo.root(), plan, edit);
        if let Err(error) = atomic_file::write_file(&full_path, &edit.old_bytes) {
            problems.push(format!("could not restore {}: {error}", edit.path));
        }
    }
    if let Some(path_move) = &plan.path_move
        && let Err(error) = repo.move_files(&path_move.new_path, &path_move.old_path)
    {
        problems.push(
            if has_moved(repo.root(), &path_move.new_path, &path_move.old_path) {
                format!("the index still contains {}: {error}", path_move.new_path)
            } else {
                format!("could not move {} back: {error}", path_move.new_path)
            },
        );
    }
    remove_empty_dirs(created_dirs);
    problems
}

/// Returns the hint that the changes were undone, or the changes that are left.
fn describe_undo(problems: &[String]) -> String {
    if problems.is_empty() {
        return "all changes were undone".to_owned();
    }
    format!(
        "not all changes were undone, so check the files with `git status`: {}",
        problems.join("; ")
    )
}

/// Returns the paths of the rewritten files after the move.
fn list_edited_paths<'p>(plan: &'p MovePlan, path_move: &'p PathMove) -> impl Iterator<Item = String> + 'p {
    plan.edits
        .iter()
        .map(|edit| path_move.path_after_move(&edit.path))
}

/// Returns the full path of the edited file after the move. A repair moves no file, so the path stays the same.
fn path_after_move(root: &Path, plan: &MovePlan, edit: &FileEdit) -> PathBuf {
    match &plan.path_move {
        Some(path_move) => root.join(path_move.path_after_move(&edit.path)),
        None => root.join(&edit.path),
    }
}

/// Moves the files with `git mv`, after creating the parent directories. Returns the new directories, so that they can
/// be removed again.
fn move_files(repo: &Repository, path_move: &PathMove) -> Result<Vec<PathBuf>, Failure> {
    let target = repo.root().join(&path_move.new_path);
    let parent = target.parent().unwrap_or(repo.root());
    let created_dirs: Vec<PathBuf> = parent
        .ancestors()
        .take_while(|dir| !dir.exists())
        .map(Path::to_path_buf)
        .collect();
    fs::create_dir_all(parent)
        .map_err(|error| Failure::usage(format!("could not create {}: {error}", format_path(parent))))?;
    let has_earlier_lock = find_index_lock(repo).is_some();
    if let Err(error) = repo.move_files(&path_move.old_path, &path_move.new_path) {
        let failure = match find_path_outside_sparse_checkout(repo, path_move, &error) {
            Some(path) => Failure::usage(format!(
                "could not move the files, so nothing was changed: `{path}` is outside the sparse checkout"
            ))
            .with_hint("add its directory with `git sparse-checkout add`, then run the command again"),
            None => Failure::usage(format!("could not move the files: {error}")).with_hint(undo_failed_move(
                repo,
                path_move,
                has_earlier_lock,
            )),
        };
        remove_empty_dirs(&created_dirs);
        return Err(failure);
    }
    Ok(created_dirs)
}

/// Returns the path of the file that keeps other git commands from writing the index, if it exists.
fn find_index_lock(repo: &Repository) -> Option<PathBuf> {
    let path = repo.git_dir()?.join("index.lock");
    path.exists().then_some(path)
}

/// Returns the path that git did not move because it is outside the sparse checkout; `None` if the move failed for
/// another reason. Git's own message names an option of `git mv` that this program does not have.
fn find_path_outside_sparse_checkout<'m>(
    repo: &Repository,
    path_move: &'m PathMove,
    error: &GitError,
) -> Option<&'m str> {
    if !error.to_string().contains("sparse-checkout definition") {
        return None;
    }
    let is_old_path_checked_out = repo.root().join(&path_move.old_path).symlink_metadata().is_ok();
    Some(if is_old_path_checked_out {
        &path_move.new_path
    } else {
        &path_move.old_path
    })
}

/// Moves the files back that a failed `git mv` has moved, and returns the hint for this failure. Git moves the files
/// before it writes the index, so they have moved if the index cannot be written, for example on a full disk. If the
/// index is locked now, but was not before (`has_earlier_lock`), a signal has ended git.
fn undo_failed_move(repo: &Repository, path_move: &PathMove, has_earlier_lock: bool) -> String {
    let root = repo.root();
    let mut hint = if has_moved(root, &path_move.old_path, &path_move.new_path) {
        let mut problems = Vec::new();
        if let Err(error) = fs::rename(root.join(&path_move.new_path), root.join(&path_move.old_path)) {
            problems.push(format!("could not move {} back: {error}", path_move.new_path));
        }
        describe_undo(&problems)
    } else {
        "nothing was changed: check that the git program is installed and that `git status` works in this repository"
            .to_owned()
    };
    if let Some(path) = find_index_lock(repo).filter(|_| !has_earlier_lock) {
        let _ = write!(
            hint,
            ". git has left its lock file: if no other git command is running, delete {}",
            format_path(&path)
        );
    }
    hint
}

/// Returns whether the file or directory is on disk under its new path only. A link to a missing file is a file, too.
fn has_moved(root: &Path, old_path: &str, new_path: &str) -> bool {
    root.join(old_path).symlink_metadata().is_err() && root.join(new_path).symlink_metadata().is_ok()
}

/// Removes the directories that are empty. They are listed innermost first; one that is not empty stays.
fn remove_empty_dirs(dirs: &[PathBuf]) {
    for dir in dirs {
        let _ = fs::remove_dir(dir);
    }
}
