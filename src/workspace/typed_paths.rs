//! Converts paths typed by the user to paths relative to the repository root.

use crate::error::Failure;
use crate::job::policy::normalize_path;
use crate::session::Session;
use crate::workspace::Workspace;
use sluicegate_base::text::{self, format_path, quote_shell_word};
use sluicegate_git::{CommitId, Snapshot, is_missing_file_error, is_repository_root};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) const PATHS_HINT: &str = "paths are relative to the current directory";

impl Workspace<'_> {
    /// Converts typed paths, relative to the current directory, to paths relative to the repository root; each must
    /// exist in the snapshot or in a base. The root restricts nothing, so with it, the result is empty.
    pub(crate) fn resolve_typed_paths(
        &self,
        session: &Session,
        typed_paths: &[PathBuf],
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
    ) -> Result<Vec<String>, Failure> {
        let mut paths = Vec::new();
        for typed_path in typed_paths {
            let path = self.resolve_typed_path(session, typed_path)?;
            self.require_existing_path(&path, typed_path, snapshot, bases)?;
            paths.push(path);
        }
        if paths.iter().any(String::is_empty) {
            paths.clear();
        }
        Ok(paths)
    }

    /// Converts a path that the user typed relative to the current directory to one relative to the repository root.
    /// Fails if the path is outside the repository or is not UTF-8.
    pub(crate) fn resolve_typed_path(&self, session: &Session, typed_path: &Path) -> Result<String, Failure> {
        let Some(relative_path) = strip_root(self.repo.root(), session.env.current_dir(), typed_path) else {
            let root = format_path(self.repo.root());
            let root_kind = if self.repo.is_plain_directory() {
                "directory"
            } else {
                "repository"
            };
            let message = format!(
                "the path {} is outside the {root_kind} {root}",
                format_path(typed_path)
            );
            return Err(Failure::usage(message));
        };
        let parts: Option<Vec<&str>> = relative_path.iter().map(|part| part.to_str()).collect();
        let parts = parts.ok_or_else(|| {
            Failure::usage(format!("the path {} is not UTF-8", format_path(typed_path)))
                .with_hint("rename the file or the directory")
        })?;
        Ok(parts.join("/"))
    }

    /// Returns an error if the path exists neither in the snapshot nor in a base. The empty path is the repository
    /// root.
    pub(crate) fn require_existing_path(
        &self,
        path: &str,
        typed_path: &Path,
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
    ) -> Result<(), Failure> {
        let is_in_base = bases
            .iter()
            .any(|base| matches!(self.repo.has_path(base, path), Ok(true)));
        if path.is_empty() || is_in_base {
            return Ok(());
        }
        let is_present = matches!(snapshot.has_path(path), Ok(true));
        if !is_present || is_repository_root(&self.repo.root().join(path)) {
            self.reject_path_in_nested_repository(path, typed_path)?;
        }
        if is_present {
            return Ok(());
        }
        if snapshot.is_on_disk()
            && let Some(error) = find_access_error(&self.repo.root().join(path))
        {
            let message = format!("could not read the path {}: {error}", format_path(typed_path));
            return Err(Failure::usage(message));
        }
        let message = format!(
            "the path {} is not in {}",
            format_path(typed_path),
            snapshot.name()
        );
        let hint = Self::describe_path_mistake(path, typed_path, snapshot);
        Err(Failure::usage(message).with_hint(hint))
    }

    /// Returns the hint for a path that the snapshot does not have: the most similar path, otherwise how paths are
    /// read. `path` is relative to the root. A typed path that is relative to the root, too, is an error in a
    /// subdirectory.
    pub(crate) fn describe_path_mistake(path: &str, typed_path: &Path, snapshot: &Snapshot<'_>) -> String {
        if matches!(snapshot.has_path(path), Ok(true)) {
            return "the path is a directory: pass a file in it".to_owned();
        }
        let typed_text = typed_path.to_string_lossy();
        let (mut step_count, mut path_end) = (0, typed_text.trim_start_matches("./"));
        while let Some(path_above) = path_end.strip_prefix("../") {
            step_count += 1;
            path_end = path_above;
        }
        // The directory that the steps lead to; unknown for other forms of paths.
        let Some(directory) = path.strip_suffix(path_end) else {
            return PATHS_HINT.to_owned();
        };
        let mut known_paths = BTreeSet::new();
        for file in snapshot.list_files(&|_| true).unwrap_or_default() {
            let parents = file.path.match_indices('/').map(|(end, _)| &file.path[..end]);
            known_paths.extend(parents.map(str::to_owned));
            known_paths.insert(file.path);
        }
        let similar_path = if known_paths.contains(&*typed_text) {
            Some(&*typed_text)
        } else {
            text::find_most_similar(path, known_paths.iter().map(String::as_str))
        };
        let Some(similar_path) = similar_path else {
            return PATHS_HINT.to_owned();
        };
        let path_below = similar_path.strip_prefix(directory);
        if path_below.is_none() {
            step_count += directory.matches('/').count();
        }
        let path_to_type = "../".repeat(step_count) + path_below.unwrap_or(similar_path);
        text::did_you_mean(&path_to_type)
    }

    /// Returns an error if the path leads into another repository in the working tree, such as a submodule or a nested
    /// clone, because a run covers the files of one repository.
    pub(crate) fn reject_path_in_nested_repository(
        &self,
        path: &str,
        typed_path: &Path,
    ) -> Result<(), Failure> {
        if self.repo.is_plain_directory() {
            return Ok(());
        }
        let mut parent = self.repo.root().to_owned();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            parent.push(name);
            if is_repository_root(&parent) {
                let message = format!("the path {} is in another repository", format_path(typed_path));
                let hint = format!(
                    "pass `--repo {}`",
                    quote_shell_word(&parent.display().to_string())
                );
                return Err(Failure::usage(message).with_hint(hint));
            }
        }
        Ok(())
    }
}

/// Returns the error with which the system does not show what is at the path; `None` if nothing is there, and for a
/// file or a directory that can be listed.
fn find_access_error(path: &Path) -> Option<io::Error> {
    let error = path.read_dir().err()?;
    (!is_missing_file_error(&error)).then_some(error)
}

/// Returns the part of `typed_path` below `root`, or `None` if it is outside. Compares the names first, then the paths
/// with their symbolic links resolved, because the current directory or the path may lead through a link. The last name
/// of the path is not resolved, because the repository may contain it as a link.
pub(super) fn strip_root(root: &Path, current_dir: &Path, typed_path: &Path) -> Option<PathBuf> {
    let root = normalize_path(root);
    strip_root_by_names(&root, current_dir, typed_path)
        .or_else(|| strip_root_by_names(&root, &current_dir.canonicalize().ok()?, typed_path))
        .or_else(|| {
            let full_path = current_dir.join(typed_path);
            let real_parent = full_path.parent()?.canonicalize().ok()?;
            let relative_parent = real_parent.strip_prefix(&root).ok()?;
            Some(relative_parent.join(full_path.file_name()?))
        })
}

/// Returns the part of `typed_path` below `root`, compared by the names alone.
fn strip_root_by_names(root: &Path, current_dir: &Path, typed_path: &Path) -> Option<PathBuf> {
    normalize_path(&current_dir.join(typed_path))
        .strip_prefix(root)
        .map(Path::to_path_buf)
        .ok()
}
