//! Resolves the two paths of a move as `git mv` does, and rejects invalid moves.

use super::committed;
use super::links::refuse_linked_path;
use super::read::Reading;
use crate::error::Failure;
use crate::job::policy;
use crate::session::Run;
use sluicegate_pipelines::file_moves::PathMove;
use sluicegate_pipelines::pipelines::PipelineKind;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Resolves the paths that the user typed, relative to the current directory.
pub(crate) fn settle(
    run: &Run,
    reading: &Reading<'_>,
    old: &Path,
    new: &Path,
    force: bool,
) -> Result<PathMove, Failure> {
    let root = reading.workspace.repo.root();
    let from = within(run, root, old)?;
    let mut to = within(run, root, new)?;
    let full = root.join(&to);
    if full.is_dir() && to != from {
        let name = from.rsplit_once('/').map_or(from.as_str(), |(_, name)| name);
        to = if to.is_empty() {
            name.to_owned()
        } else {
            format!("{to}/{name}")
        };
    } else if new.as_os_str().to_string_lossy().ends_with('/') && !root.join(&from).is_dir() {
        return Err(refused(format!("directory `{to}` does not exist"))
            .hint("nothing was changed: create the directory first, or pass the new file name"));
    }
    let moves = PathMove {
        old_path: from,
        new_path: to,
    };
    let tracked = reading.workspace.repo.tracked_below(&moves.old_path)?;
    refuse_old(reading, &moves, &tracked)?;
    refuse_new(reading, &moves)?;
    if !force {
        committed::refuse_uncommitted(reading, &tracked)?;
    }
    Ok(moves)
}

fn refused(message: String) -> Failure {
    Failure::usage(message).hint("nothing was changed")
}

/// Returns the path relative to the root, with `/`; empty for the root itself.
fn within(run: &Run, root: &Path, path: &Path) -> Result<String, Failure> {
    let full = run.env.current_dir().join(path);
    policy::path_in_repository(root, &full)
        .ok_or_else(|| refused(format!("`{}` is outside the repository", path.display())))
}

fn refuse_old(reading: &Reading<'_>, moves: &PathMove, tracked: &BTreeSet<String>) -> Result<(), Failure> {
    let (repo, from) = (&reading.workspace.repo, moves.old_path.as_str());
    if from.is_empty() {
        return Err(refused("cannot move the repository root".to_owned()));
    }
    if tracked.is_empty() {
        let hint = if repo.root().join(from).symlink_metadata().is_ok() {
            "nothing was changed: run `git add` first, or move it with `mv`"
        } else {
            "nothing was changed: paths are relative to the current directory"
        };
        return Err(Failure::usage(format!("git does not track `{from}`")).hint(hint));
    }
    if moves.new_path == from
        || moves
            .new_path
            .strip_prefix(from)
            .is_some_and(|rest| rest.starts_with('/'))
    {
        return Err(refused(format!(
            "cannot move `{from}` to `{}`, which is the same path or inside it",
            moves.new_path
        )));
    }
    Ok(())
}

fn refuse_new(reading: &Reading<'_>, moves: &PathMove) -> Result<(), Failure> {
    let root = reading.workspace.repo.root();
    let (from, to) = (&moves.old_path, &moves.new_path);
    let full = root.join(to);
    refuse_linked_path(root, Path::new(to))?;
    if policy::is_in_git_dir(Path::new(to)) {
        return Err(refused(format!("`{to}` is inside the git directory")));
    }
    if full.symlink_metadata().is_ok() && !is_same_file(&root.join(from), &full) {
        return Err(refused(format!("`{to}` already exists")));
    }
    let kind = PipelineKind::from_path(from).filter(|_| root.join(from).is_file());
    if let Some(kind) = kind.filter(|kind| PipelineKind::from_path(to) != Some(*kind)) {
        let (name, extension) = (kind.name(), kind.extension());
        return Err(refused(format!(
            "`{to}` is not a valid name for an {name} pipeline: it must end in `{extension}`"
        ))
        .hint(format!("nothing was changed: use `{to}{extension}`")));
    }
    refuse_twins(reading, moves)
}

/// Returns whether both paths are one file: on a case-insensitive file system, a file with another case already exists.
fn is_same_file(old: &Path, new: &Path) -> bool {
    let same = |a: &Path, b: &Path| Some(a.canonicalize().ok()? == b.canonicalize().ok()?);
    let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    !is_link(old) && !is_link(new) && same(old, new) == Some(true)
}

fn refuse_twins(reading: &Reading<'_>, moves: &PathMove) -> Result<(), Failure> {
    let files = reading.snapshot.files(&|_| true)?;
    let (mut stay, mut arrive) = (HashMap::new(), Vec::new());
    for file in &files {
        match moves.moved_path(&file.path) {
            Some(new) => arrive.push(new),
            None => {
                stay.insert(file.path.to_lowercase(), file.path.as_str());
            }
        }
    }
    for new in arrive {
        if let Some(twin) = stay.get(&new.to_lowercase()) {
            return Err(refused(format!(
                "`{new}` and `{twin}` differ only in case, so some file systems treat them as one file"
            )));
        }
    }
    Ok(())
}
