//! Converts paths typed by the user to paths relative to the repository root.

use crate::error::Failure;
use crate::job::policy::normalize;
use crate::session::Run;
use crate::workspace::Workspace;
use sluicegate_git::{CommitId, Snapshot};
use std::path::{Path, PathBuf};

impl Workspace<'_> {
    /// Converts typed paths, relative to the current directory, to paths relative to the repository root; each must
    /// exist in the snapshot or in a base.
    pub(crate) fn paths(
        &self,
        run: &Run,
        typed: &[PathBuf],
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
    ) -> Result<Vec<String>, Failure> {
        let path = |typed: &PathBuf| {
            let path = self.inside(run, typed)?;
            self.must_exist(&path, typed, snapshot, bases)?;
            Ok(path)
        };
        typed.iter().map(path).collect()
    }

    /// Converts a typed path, relative to the current directory, to a path relative to the repository root.
    pub(crate) fn inside(&self, run: &Run, typed: &Path) -> Result<String, Failure> {
        let Some(inside) = inside(self.repo.root(), run.env.current_dir(), typed) else {
            let root = self.repo.root().display();
            let place = if self.repo.is_plain_directory() {
                "directory"
            } else {
                "repository"
            };
            let message = format!("the path {} is outside the {place} {root}", typed.display());
            return Err(Failure::usage(message));
        };
        let parts: Vec<&str> = inside.iter().filter_map(|part| part.to_str()).collect();
        Ok(parts.join("/"))
    }

    /// Returns an error if the path exists neither in the snapshot nor in a base.
    pub(crate) fn must_exist(
        &self,
        path: &str,
        typed: &Path,
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
    ) -> Result<(), Failure> {
        let in_base = |base: &CommitId| matches!(self.repo.has_path(base, path), Ok(true));
        if path.is_empty() || matches!(snapshot.has_path(path), Ok(true)) || bases.iter().any(in_base) {
            return Ok(());
        }
        let message = format!("the path {} is not in {}", typed.display(), snapshot.name());
        Err(Failure::usage(message).hint("paths are relative to the current directory"))
    }
}

/// Returns the part of `typed` below `root`, if it is below it; the current directory and the directory of `typed` may be
/// reached by a symbolic link.
pub(super) fn inside(root: &Path, from: &Path, typed: &Path) -> Option<PathBuf> {
    let root = normalize(root);
    let below = |from: &Path| {
        normalize(&from.join(typed))
            .strip_prefix(&root)
            .map(Path::to_path_buf)
            .ok()
    };
    let below_real_folder = || {
        let full = from.join(typed);
        let folder = full.parent()?.canonicalize().ok()?;
        let inside = folder.strip_prefix(&root).ok()?;
        Some(inside.join(full.file_name()?))
    };
    below(from)
        .or_else(|| below(&from.canonicalize().ok()?))
        .or_else(below_real_folder)
}
