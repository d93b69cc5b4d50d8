//! Carries out the plan: git moves the files, then the edited files are written and staged. A failure to write is undone.

use super::edit::FileEdit;
use super::plan::Plan;
use crate::atomic_file;
use crate::error::Failure;
use sluicegate_git::Repository;
use sluicegate_pipelines::file_moves::PathMove;
use std::fs;
use std::path::{Path, PathBuf};

/// The rewritten files that the next commit does not contain.
#[derive(Debug, Default)]
pub(crate) struct UnstagedFiles {
    pub paths: Vec<String>,
    /// The error of git if nothing could be staged; otherwise the files had unstaged changes before.
    pub reason: Option<String>,
}

/// Returns the rewritten files that are not staged, because they had unstaged changes before. `git mv` stages a move, so
/// a commit of the move alone would leave the references behind.
pub(crate) fn carry_out(repo: &Repository, plan: &Plan) -> Result<UnstagedFiles, Failure> {
    let root = repo.root();
    let edited_paths = plan.edits.iter().map(|edit| edit.path.as_str());
    let mut staged_files = repo.files_without_unstaged_changes(edited_paths)?;
    let made = match &plan.moves {
        Some(moves) => move_files(repo, moves)?,
        None => Vec::new(),
    };
    let mut done: Vec<&FileEdit> = Vec::new();
    for edit in &plan.edits {
        if let Err(why) = atomic_file::replace_file(&place(root, plan, edit), &edit.after) {
            for edit in done {
                let _ = atomic_file::replace_file(&place(root, plan, edit), &edit.before);
            }
            if let Some(moves) = &plan.moves {
                let _ = repo.move_files(&moves.new_path, &moves.old_path);
            }
            remove_empty(&made);
            let message = format!("could not write {}: {why}", edit.path);
            return Err(Failure::usage(message).hint("all changes were undone"));
        }
        done.push(edit);
    }
    let Some(moves) = &plan.moves else {
        return Ok(UnstagedFiles::default());
    };
    for file in &mut staged_files {
        file.path = moves.path_after(&file.path);
    }
    if let Err(error) = repo.stage_files(&staged_files) {
        return Ok(UnstagedFiles {
            paths: edited_files(plan, moves).collect(),
            reason: Some(error.to_string()),
        });
    }
    let is_unstaged = |path: &String| !staged_files.iter().any(|file| file.path == *path);
    Ok(UnstagedFiles {
        paths: edited_files(plan, moves).filter(is_unstaged).collect(),
        reason: None,
    })
}

/// Returns the paths of the rewritten files after the move.
fn edited_files<'p>(plan: &'p Plan, moves: &'p PathMove) -> impl Iterator<Item = String> + 'p {
    plan.edits.iter().map(|edit| moves.path_after(&edit.path))
}

/// Returns the path of the file after the move.
fn place(root: &Path, plan: &Plan, edit: &FileEdit) -> PathBuf {
    match &plan.moves {
        Some(moves) => root.join(moves.path_after(&edit.path)),
        None => root.join(&edit.path),
    }
}

/// Moves the files with git, and returns the directories that were created for them.
fn move_files(repo: &Repository, moves: &PathMove) -> Result<Vec<PathBuf>, Failure> {
    let to = repo.root().join(&moves.new_path);
    let folder = to.parent().unwrap_or(repo.root());
    let missing = folder.ancestors().take_while(|folder| !folder.exists());
    let made: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
    fs::create_dir_all(folder)
        .map_err(|why| Failure::usage(format!("could not create {}: {why}", folder.display())))?;
    repo.move_files(&moves.old_path, &moves.new_path).map_err(|why| {
        remove_empty(&made);
        Failure::usage(why.to_string()).hint("nothing was changed")
    })?;
    Ok(made)
}

/// Removes the empty directories, innermost first; others stay.
fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        let _ = fs::remove_dir(folder);
    }
}
