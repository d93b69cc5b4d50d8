//! A directory that is not in a git repository: its files without a history.

use super::directory_walk::walk_directory;
use super::listed_file::{DiskListing, ListedFile, sort_unique_files};
use super::stand_in::create_temporary_directory;
use super::{GitError, Repository, opened_repository::OpenedRepository};
use git2::{Repository as Library, RepositoryInitOptions};
use std::collections::HashSet;
use std::path::Path;

impl Repository {
    /// Opens a directory that is in no repository: it has files, but no commit, index, branch or remote. An empty
    /// temporary git directory replaces the missing one.
    pub fn open_plain_directory(folder: &Path) -> Result<Self, GitError> {
        let root = folder
            .canonicalize()
            .map_err(GitError::io("open the directory", folder))?;
        let stand_in = create_temporary_directory("sluicegate-git-")?;
        let mut options = RepositoryInitOptions::new();
        options.bare(true).external_template(false);
        let library = Library::init_opts(stand_in.path(), &options)
            .map_err(GitError::library("prepare a directory without git"))?;
        let repository = OpenedRepository {
            library,
            root,
            bare: false,
            foreign: false,
            git_dir: stand_in.path().to_owned(),
            common_dir: stand_in.path().to_owned(),
            stand_in: Some(stand_in),
            plain: true,
        };
        let (shallow_commits, is_partial) = (HashSet::new(), false);
        let mut repository = Self::from_opened(repository, shallow_commits, is_partial);
        repository.apply_environment_settings()?;
        Ok(repository)
    }
}

/// Returns all files below the directory, which is in no repository.
pub(super) fn list_directory_files(root: &Path) -> Result<DiskListing, GitError> {
    let paths = walk_directory(root, root, |_| false)?;
    Ok(DiskListing {
        files: sort_unique_files(paths.into_iter().map(ListedFile::from_untracked_path)),
        has_conversion: false,
    })
}
