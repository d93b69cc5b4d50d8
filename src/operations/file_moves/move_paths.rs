//! Resolves the two paths of a move as `git mv` does, and rejects invalid moves.

use super::linked_files::reject_linked_path;
use super::reference_reader::ReferenceReader;
use super::uncommitted_changes;
use crate::error::Failure;
use crate::job::policy;
use crate::session::Session;
use sluicegate_base::text::{format_path, to_single_line};
use sluicegate_pipelines::file_moves::PathMove;
use sluicegate_pipelines::pipelines::{PipelineKind, file_name, to_lowercase_nfc};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Resolves the old and the new path that the user typed, relative to the current directory. If the new path is an
/// existing directory, the file or directory moves into it under its old name. Rejects invalid moves and, without
/// `--force`, a move of files with uncommitted changes.
pub(crate) fn resolve_move(
    session: &Session,
    reader: &ReferenceReader<'_>,
    old: &Path,
    new: &Path,
    is_forced: bool,
) -> Result<PathMove, Failure> {
    let root = reader.workspace.repo.root();
    let old_path = resolve_repository_path(session, root, old)?;
    let mut new_path = resolve_repository_path(session, root, new)?;
    let is_move_into_directory = root.join(&new_path).is_dir() && new_path != old_path;
    if is_move_into_directory {
        let name = old_path
            .rsplit_once('/')
            .map_or(old_path.as_str(), |(_, name)| name);
        new_path = if new_path.is_empty() {
            name.to_owned()
        } else {
            format!("{new_path}/{name}")
        };
    } else if new.as_os_str().to_string_lossy().ends_with('/') && !root.join(&old_path).is_dir() {
        // A trailing `/` means a directory. It must exist, unless a directory is moved to this new path.
        return Err(Failure::usage(format!(
            "directory `{}` does not exist",
            to_single_line(&new_path)
        ))
        .with_hint("nothing was changed: create the directory first, or pass the new file name"));
    }
    let path_move = PathMove { old_path, new_path };
    let tracked_paths = reader.workspace.repo.list_tracked_paths(&path_move.old_path)?;
    reject_invalid_source(reader, &path_move, &tracked_paths)?;
    reject_invalid_target(reader, &path_move)?;
    if !is_forced {
        uncommitted_changes::reject_uncommitted_changes(reader, &tracked_paths)?;
    }
    Ok(path_move)
}

/// The hint for a move to a path that cannot be used.
const OTHER_PATH_HINT: &str = "pass another new path";

/// Returns the path relative to the repository root, with `/` as separator; empty for the root itself. Fails for a path
/// outside the repository.
fn resolve_repository_path(session: &Session, root: &Path, path: &Path) -> Result<String, Failure> {
    let full = session.env.current_dir().join(path);
    policy::find_path_in_repository(root, &full).ok_or_else(|| {
        Failure::usage(format!("`{}` is outside the repository", format_path(path)))
            .with_hint("pass paths in the repository")
    })
}

/// Fails if the old path cannot be moved: it is the repository root, git does not track it, or the new path is the same
/// or inside it.
fn reject_invalid_source(
    reader: &ReferenceReader<'_>,
    path_move: &PathMove,
    tracked_paths: &BTreeSet<String>,
) -> Result<(), Failure> {
    let (repo, from) = (&reader.workspace.repo, path_move.old_path.as_str());
    if from.is_empty() {
        return Err(Failure::usage("cannot move the repository root")
            .with_hint("pass a file or directory in the repository"));
    }
    if tracked_paths.is_empty() {
        if repo.root().join(from).symlink_metadata().is_err() {
            return Err(
                Failure::usage(format!("`{}` does not exist", to_single_line(from)))
                    .with_hint("correct the path, which is relative to the current directory"),
            );
        }
        return Err(
            Failure::usage(format!("git does not track `{}`", to_single_line(from))).with_hint(
                "nothing was changed: run `git add` for the file first, or move the file with `mv`",
            ),
        );
    }
    let is_same_or_inside = path_move.new_path == from
        || path_move
            .new_path
            .strip_prefix(from)
            .is_some_and(|remainder| remainder.starts_with('/'));
    if is_same_or_inside {
        return Err(Failure::usage(format!(
            "cannot move `{}` to `{}`: the new path is the same as the old path or inside it",
            to_single_line(from),
            to_single_line(&path_move.new_path)
        ))
        .with_hint(OTHER_PATH_HINT));
    }
    Ok(())
}

/// Fails if the new path exists, is behind a link, in a submodule or in the git directory, lacks the pipeline's
/// extension, or differs from another path only in its spelling.
fn reject_invalid_target(reader: &ReferenceReader<'_>, path_move: &PathMove) -> Result<(), Failure> {
    let root = reader.workspace.repo.root();
    let (old_path, new_path) = (&path_move.old_path, &path_move.new_path);
    let full_path = root.join(new_path);
    reject_linked_path(root, Path::new(new_path))?;
    if policy::is_in_git_dir(Path::new(new_path)) {
        let message = format!("`{}` is inside the git directory", to_single_line(new_path));
        return Err(Failure::usage(message).with_hint(OTHER_PATH_HINT));
    }
    reject_target_in_submodule(reader, new_path)?;
    if full_path.symlink_metadata().is_ok() && !is_same_file(&root.join(old_path), &full_path) {
        return Err(
            Failure::usage(format!("`{}` already exists", to_single_line(new_path)))
                .with_hint(OTHER_PATH_HINT),
        );
    }
    let kind = PipelineKind::from_path(old_path).filter(|_| root.join(old_path).is_file());
    if let Some(kind) = kind.filter(|kind| PipelineKind::from_path(new_path) != Some(*kind)) {
        let (name, extension) = (kind.name(), kind.extension());
        let valid_path = format!("{}{extension}", trim_other_extension(new_path));
        let hint = if valid_path == *old_path {
            format!("nothing was changed: a move keeps the kind of the pipeline ({name})")
        } else {
            format!("nothing was changed: use `{valid_path}`")
        };
        return Err(Failure::usage(format!(
            "`{}` is not a valid name for the {name} pipeline `{}`: it must end in `{extension}`",
            to_single_line(new_path),
            to_single_line(old_path)
        ))
        .with_hint(hint));
    }
    if kind.is_some_and(|kind| file_name(new_path) == kind.extension()) {
        return Err(Failure::usage(format!(
            "`{}` is not a valid name for the pipeline `{}`: the name before the extension is missing",
            to_single_line(new_path),
            to_single_line(old_path)
        ))
        .with_hint("pass a new path with a name before the extension"));
    }
    reject_spelling_conflicts(reader, path_move)
}

/// Fails if the new path is that of a submodule or inside it, because git would replace the submodule by the file, even
/// if the submodule's directory was deleted.
fn reject_target_in_submodule(reader: &ReferenceReader<'_>, new_path: &str) -> Result<(), Failure> {
    for path in Path::new(new_path).ancestors().filter_map(Path::to_str) {
        if !path.is_empty() && reader.workspace.repo.has_submodule(path)? {
            let message = if path == new_path {
                format!("`{}` is a submodule", to_single_line(new_path))
            } else {
                format!(
                    "`{}` is in the submodule `{}`",
                    to_single_line(new_path),
                    to_single_line(path)
                )
            };
            return Err(Failure::usage(message).with_hint(OTHER_PATH_HINT));
        }
    }
    Ok(())
}

/// Returns the path without the extension of a pipeline or of a YAML file, for a suggested name.
fn trim_other_extension(path: &str) -> &str {
    let extension = PipelineKind::from_path(path).map_or(".yaml", PipelineKind::extension);
    path.strip_suffix(extension).unwrap_or(path)
}

/// Returns whether both paths name one file, which happens on a case-insensitive file system if only the case of a name
/// changes. Links are different files, because a move would replace them.
fn is_same_file(old: &Path, new: &Path) -> bool {
    !old.is_symlink()
        && !new.is_symlink()
        && matches!((old.canonicalize(), new.canonicalize()),(Ok(old), Ok(new)) if old == new)
}

/// Fails if a new path differs from another file's path only in letter case or Unicode normal form, because some file
/// systems treat both as one file.
fn reject_spelling_conflicts(reader: &ReferenceReader<'_>, path_move: &PathMove) -> Result<(), Failure> {
    let files = reader.snapshot.list_files(&|_| true)?;
    let (mut other_paths, mut new_paths) = (HashMap::new(), Vec::new());
    for file in &files {
        match path_move.moved_path(&file.path) {
            Some(new_path) => new_paths.push(new_path),
            None => {
                other_paths.insert(to_lowercase_nfc(&file.path), file.path.as_str());
            }
        }
    }
    for new_path in new_paths {
        if let Some(other_path) = other_paths.get(&to_lowercase_nfc(&new_path)) {
            return Err(Failure::usage(format!(
                "`{new_path}` and `{other_path}` differ only in letter case or Unicode normal form, so some file \
                 systems treat them as one file"
            ))
            .with_hint(OTHER_PATH_HINT));
        }
    }
    Ok(())
}
