//! Finds the repository of the paths that a user typed: the one of the current directory, the one that contains the
//! paths, or, for a local check, a directory without git.

use crate::env;
use crate::error::Failure;
use crate::job::settings::FILE_NAME;
use crate::session::Session;
use crate::workspace::typed_paths::strip_root;
use sluicegate_base::text::format_path;
use sluicegate_git::{GitError, Repository};
use sluicegate_pipelines::pipelines::{CONFIG_DIR_FILES, is_pipeline};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of entries of a directory that are searched for the hidden directory.
const MAX_ENTRIES: usize = 10_000;

impl Session {
    /// Opens the repository of the current directory, or in a local run the repository that contains `paths`, if they
    /// are elsewhere. For a misspelled path, opens the current repository, so that the error names the path.
    pub(crate) fn open_repository_for_paths(&self, paths: &[PathBuf]) -> Result<Repository, GitError> {
        let current_repository = self.open_repository();
        let is_typo = current_repository.is_ok() && !self.all_paths_exist(paths);
        if is_typo
            || !self.may_leave_repository(paths)
            || contains_paths(&current_repository, self.env.current_dir(), paths)
        {
            return current_repository;
        }
        match paths.first().and_then(|path| self.find_existing_dir(path)) {
            Some(dir) => Repository::discover(&dir)
                .map(|repository| repository.with_document_predicate(is_pipeline))
                .or(current_repository),
            None => current_repository,
        }
    }

    /// Opens the repository that contains the paths. If no repository contains them, a local run opens the directory
    /// that does. For a misspelled path, opens the current repository, so that the error names the path.
    /// The hint shows a call of `command`.
    pub(crate) fn open_repository_or_directory(
        &self,
        paths: &[PathBuf],
        command: &str,
    ) -> Result<Repository, Failure> {
        let repository = self.open_repository_for_paths(paths);
        let is_typo = repository.is_ok() && !self.all_paths_exist(paths);
        if is_typo || contains_paths(&repository, self.env.current_dir(), paths) {
            return Ok(repository?);
        }
        // A directory replaces neither a repository that cannot be read nor one that the job determines.
        let is_directory_possible = matches!(&repository, Ok(_) | Err(GitError::NotARepository { .. }));
        if !is_directory_possible || !self.may_leave_repository(paths) {
            let hint = format!(
                "run the command inside a clone, or pass the directory or file to {command}: `sluicegate {command} .`"
            );
            // In a local run without git, a directory is checked only if the user names a path.
            let is_named = self.has_named_repository();
            let needs_path_hint = is_directory_possible && paths.is_empty() && !is_named && !self.is_ci();
            return match repository {
                Err(error) if needs_path_hint => Err(Failure::from(error).with_hint(hint)),
                _ => Ok(repository?),
            };
        }
        if self.all_paths_exist(paths) {
            self.reject_paths_in_repositories(paths)?;
        }
        match self.find_root_without_git(paths) {
            Some(root) => Ok(Repository::open_plain_directory(&root)?),
            None => Ok(repository?),
        }
    }

    /// Returns an error if one of the paths, which no repository contains together, is in a repository: its rules and
    /// its history would be ignored if the files were checked without git.
    fn reject_paths_in_repositories(&self, paths: &[PathBuf]) -> Result<(), Failure> {
        for path in paths {
            let Some(dir) = self.find_existing_dir(path) else {
                continue;
            };
            match Repository::discover(&dir) {
                Ok(repository) => {
                    let message = format!(
                        "the paths are not in the same repository: {} is in {}",
                        format_path(path),
                        format_path(repository.root())
                    );
                    return Err(Failure::usage(message).with_hint("run the command once for each repository"));
                }
                Err(GitError::NotARepository { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Returns whether the paths may select another repository. They may not in CI, in a git hook and with `--repo`,
    /// where the repository is already determined.
    fn may_leave_repository(&self, paths: &[PathBuf]) -> bool {
        let is_named = self.has_named_repository();
        let is_hook = self.env.get(env::GIT_INDEX_FILE).is_some();
        !paths.is_empty() && !is_named && !is_hook && !self.is_ci()
    }

    /// Returns whether all paths exist on disk. A path that does not exist is probably misspelled.
    fn all_paths_exist(&self, paths: &[PathBuf]) -> bool {
        paths
            .iter()
            .all(|path| self.env.current_dir().join(path).exists())
    }

    /// Returns the directory of a path, with links resolved: the path itself if it is a directory, or its nearest
    /// existing parent.
    fn find_existing_dir(&self, path: &Path) -> Option<PathBuf> {
        let full_path = self.env.current_dir().join(path);
        full_path
            .ancestors()
            .find(|dir| dir.is_dir())?
            .canonicalize()
            .ok()
    }

    /// Returns the root of a project without git: the nearest directory that contains all paths and a file of the
    /// platform or of this program. The search stops at a directory that every user can write to. Without such a root,
    /// it is the only directory that was typed, otherwise the current directory if it contains the paths, otherwise the
    /// directory of the first path.
    fn find_root_without_git(&self, paths: &[PathBuf]) -> Option<PathBuf> {
        let current_dir = self.env.current_dir().canonicalize().ok()?;
        let mut dirs = Vec::new();
        for path in paths {
            dirs.push(self.find_existing_dir(path)?);
        }
        let first_dir = dirs.first()?;
        let are_in_current_dir = dirs.iter().all(|dir| dir.starts_with(&current_dir));
        let root = first_dir
            .ancestors()
            .take_while(|ancestor| !is_world_writable(ancestor))
            .find(|ancestor| is_project_root(ancestor) && dirs.iter().all(|dir| dir.starts_with(ancestor)));
        if let Some(root) = root {
            return Some(root.to_owned());
        }
        let is_single_dir = matches!(paths, [path] if current_dir.join(path).is_dir());
        Some(if are_in_current_dir && !is_single_dir {
            current_dir
        } else {
            first_dir.clone()
        })
    }
}

/// Returns whether the repository was opened and contains all paths. The path `-`, which means standard input, is in
/// every repository.
fn contains_paths(repository: &Result<Repository, GitError>, current_dir: &Path, paths: &[PathBuf]) -> bool {
    repository.as_ref().is_ok_and(|repo| {
        paths
            .iter()
            .all(|path| path == Path::new("-") || strip_root(repo.root(), current_dir, path).is_some())
    })
}

/// Returns whether every user can write to the directory, such as `/tmp`: its files are not part of a project.
#[cfg(unix)]
fn is_world_writable(dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(dir).is_ok_and(|metadata| metadata.mode() & 0o002 != 0)
}

/// Returns whether every user can write to the directory, which is unknown here.
#[cfg(not(unix))]
const fn is_world_writable(_: &Path) -> bool {
    false
}

/// Returns whether the directory is the root of a project: it contains the configuration file, or a file of the
/// platform in a hidden directory, which is looked for among the first [`MAX_ENTRIES`] entries.
fn is_project_root(dir: &Path) -> bool {
    dir.join(FILE_NAME).is_file()
        || fs::read_dir(dir)
            .into_iter()
            .flatten()
            .take(MAX_ENTRIES)
            .flatten()
            .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"."))
            .any(|entry| {
                CONFIG_DIR_FILES
                    .iter()
                    .any(|file| entry.path().join(file).is_file())
            })
}
