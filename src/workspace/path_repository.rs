//! Finds the repository of the paths that a user typed: the one of the current directory, the one that contains the
//! paths, or, for a local check, a directory without git.

use crate::env;
use crate::error::Failure;
use crate::job::settings::{self, FILE_NAME};
use crate::session::{Run, is_ci};
use crate::workspace::typed_paths::inside;
use sluicegate_git::{GitError, Repository};
use sluicegate_pipelines::pipelines::{RULES_FILE, SHARED_PIPELINES_FILE, is_pipeline};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of entries of a directory that are searched for the platform's hidden directory.
const MAX_ENTRIES: usize = 10_000;

impl Run {
    /// Opens the repository of the current directory, or in a local run the one that contains `paths`, if they are
    /// elsewhere.
    pub(crate) fn open_repository_of(&self, paths: &[PathBuf]) -> Result<Repository, GitError> {
        let here = self.open_repository();
        let is_typo = here.is_ok() && !self.has_paths(paths);
        if is_typo
            || !self.may_leave_repository(paths)
            || is_repository_of(&here, self.env.current_dir(), paths)
        {
            return here;
        }
        match paths.first().and_then(|path| self.existing_folder(path)) {
            Some(folder) => Repository::discover(&folder)
                .map(|repository| repository.with_renames_by_name(is_pipeline))
                .or(here),
            None => here,
        }
    }

    /// Like [`Self::open_repository_of`], but also opens a directory that is in no repository.
    pub(crate) fn open_files_of(&self, paths: &[PathBuf]) -> Result<Repository, Failure> {
        let opened = self.open_repository_of(paths);
        let is_typo = opened.is_ok() && !self.has_paths(paths);
        if is_typo || is_repository_of(&opened, self.env.current_dir(), paths) {
            return Ok(opened?);
        }
        let is_without_git = matches!(&opened, Ok(_) | Err(GitError::NotARepository { .. }));
        if !is_without_git || !self.may_leave_repository(paths) {
            let hint = "run the command inside a clone, or pass the directory or file to check: `sluicegate check .`";
            let is_plain_possible = is_without_git && paths.is_empty() && !is_ci(&self.env);
            return opened.map_err(|error| {
                let failure = Failure::from(error);
                if is_plain_possible {
                    failure.hint(hint)
                } else {
                    failure
                }
            });
        }
        match self.plain_root(paths) {
            Some(root) => Ok(Repository::open_plain_directory(&root)?),
            None => Ok(opened?),
        }
    }

    /// Returns whether the paths may select another repository: in CI and in a git hook, and with `--repo`, they may not.
    fn may_leave_repository(&self, paths: &[PathBuf]) -> bool {
        let is_named = settings::requested_repository(&self.global, &self.env).is_some();
        let is_hook = self.env.get(env::GIT_INDEX_FILE).is_some();
        !paths.is_empty() && !is_named && !is_hook && !is_ci(&self.env)
    }

    /// Returns whether all paths exist on disk. A path outside the repository that does not exist is a typing error.
    fn has_paths(&self, paths: &[PathBuf]) -> bool {
        paths
            .iter()
            .all(|path| self.env.current_dir().join(path).exists())
    }

    /// Returns the directory of a path: the path itself or its nearest existing parent, without links.
    fn existing_folder(&self, path: &Path) -> Option<PathBuf> {
        let full = self.env.current_dir().join(path);
        full.ancestors()
            .find(|folder| folder.is_dir())?
            .canonicalize()
            .ok()
    }

    /// Returns the root of a project without git. This is the nearest directory with a file of the platform or of this
    /// program. Without such a directory, it is the only directory that was typed, otherwise the current directory if
    /// it contains the paths.
    fn plain_root(&self, paths: &[PathBuf]) -> Option<PathBuf> {
        let here = self.env.current_dir().canonicalize().ok()?;
        let folders: Option<Vec<PathBuf>> = paths.iter().map(|path| self.existing_folder(path)).collect();
        let folders = folders?;
        let first = folders.first()?;
        let is_below_here = folders.iter().all(|folder| folder.starts_with(&here));
        let is_root =
            |folder: &&Path| is_project(folder) && folders.iter().all(|other| other.starts_with(folder));
        let mut above = first.ancestors().take_while(|folder| !is_shared(folder));
        if let Some(root) = above.find(is_root) {
            return Some(root.to_owned());
        }
        let is_folder = matches!(paths, [path] if here.join(path).is_dir());
        Some(if is_below_here && !is_folder {
            here
        } else {
            first.clone()
        })
    }
}

/// Returns whether the opened repository contains all paths.
fn is_repository_of(opened: &Result<Repository, GitError>, current: &Path, paths: &[PathBuf]) -> bool {
    let is_inside = |repo: &Repository| {
        paths
            .iter()
            .all(|path| path == Path::new("-") || inside(repo.root(), current, path).is_some())
    };
    opened.as_ref().is_ok_and(is_inside)
}

/// Returns whether every user can write to the directory, such as `/tmp`: its files are not part of a project.
#[cfg(unix)]
fn is_shared(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(folder).is_ok_and(|found| found.mode() & 0o002 != 0)
}

/// Returns whether every user can write to the directory, which is unknown here.
#[cfg(not(unix))]
const fn is_shared(_: &Path) -> bool {
    false
}

/// Returns whether the directory contains a file of the platform in a hidden directory, or the configuration file.
fn is_project(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut hidden = entries.take(MAX_ENTRIES).flatten().filter(|entry| {
        let name = entry.file_name();
        name.as_encoded_bytes().starts_with(b".")
    });
    let has_file = |entry: &fs::DirEntry| {
        let files = [RULES_FILE, SHARED_PIPELINES_FILE];
        files.iter().any(|file| entry.path().join(file).is_file())
    };
    folder.join(FILE_NAME).is_file() || hidden.any(|entry| has_file(&entry))
}
