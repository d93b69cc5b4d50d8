//! Converts paths typed by the user to paths relative to the repository root.

use crate::error::Failure;
use crate::job::policy::normalize_path;
use crate::session::Run;
use crate::workspace::Workspace;
use sluicegate_base::text::quote_shell_word;
use sluicegate_git::{CommitId, Snapshot};
use std::path::{Path, PathBuf};

impl Workspace<'_> {
    /// Converts typed paths, relative to the current directory, to paths relative to the repository root; each must
    /// exist in the snapshot or in a base. The root restricts nothing, so with it, the result is empty.
    pub(crate) fn resolve_typed_paths(
        &self,
        run: &Run,
        typed_paths: &[PathBuf],
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
    ) -> Result<Vec<String>, Failure> {
        let mut paths = Vec::new();
        for typed_path in typed_paths {
            let path = self.resolve_typed_path(run, typed_path)?;
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
    pub(crate) fn resolve_typed_path(&self, run: &Run, typed_path: &Path) -> Result<String, Failure> {
        let Some(relative_path) = strip_root(self.repo.root(), run.env.current_dir(), typed_path) else {
            let root = self.repo.root().display();
            let root_kind = if self.repo.is_plain_directory() {
                "directory"
            } else {
                "repository"
            };
            let message = format!(
                "the path {} is outside the {root_kind} {root}",
                typed_path.display()
            );
            return Err(Failure::usage(message));
        };
        let parts: Option<Vec<&str>> = relative_path.iter().map(|part| part.to_str()).collect();
        let parts = parts.ok_or_else(|| {
            Failure::usage(format!("the path {} is not UTF-8", typed_path.display()))
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
        if !is_present || self.repo.root().join(path).join(".git").exists() {
            self.reject_path_in_nested_repository(path, typed_path)?;
        }
        if is_present {
            return Ok(());
        }
        let message = format!("the path {} is not in {}", typed_path.display(), snapshot.name());
        Err(Failure::usage(message).with_hint("paths are relative to the current directory"))
    }

    /// Returns an error if the path leads into another repository in the working tree, such as a submodule or a nested
    /// clone, because a run covers the files of one repository.
    fn reject_path_in_nested_repository(&self, path: &str, typed_path: &Path) -> Result<(), Failure> {
        if self.repo.is_plain_directory() {
            return Ok(());
        }
        let mut parent = self.repo.root().to_owned();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            parent.push(name);
            if parent.join(".git").exists() {
                let message = format!("the path {} is in another repository", typed_path.display());
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
