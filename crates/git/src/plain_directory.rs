//! A directory that is not in a git repository: its files without a history.

use super::discovery::find_git_dir;
use super::listed_file::{DiskListing, ListedFile, sort_unique_files};
use super::stand_in::create_temporary_directory;
use super::{GitError, Repository, opened_repository::OpenedRepository};
use git2::{Repository as Library, RepositoryInitOptions};
use std::collections::HashSet;
use std::path::{Component, Path};
use walkdir::WalkDir;

/// Maximum number of files and directories below a plain directory.
const MAX_ENTRIES: usize = 100_000;

/// Maximum depth of a file below a plain directory.
const MAX_DEPTH: usize = 64;

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

/// Returns all files below the directory. Links are listed and not followed; a `.git` directory or file is skipped.
/// Like git, does not enter another repository, whose files have rules and a history of their own.
/// More than [`MAX_ENTRIES`] entries or [`MAX_DEPTH`] levels are an error: the directory is probably not a project.
pub(super) fn list_directory_files(root: &Path) -> Result<DiskListing, GitError> {
    let mut entries = WalkDir::new(root)
        .follow_links(false)
        .max_depth(MAX_DEPTH + 1)
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
    let mut files = Vec::new();
    let mut entry_count = 0;
    // The first entry is the root itself. Entries one level below the limit are visited, too, to notice them.
    while let Some(result) = entries.next() {
        let entry = result.map_err(|error| {
            let path = error.path().unwrap_or(root).to_owned();
            GitError::io("read the directory", path)(error.into())
        })?;
        if entry_count > MAX_ENTRIES {
            return Err(GitError::TooManyFiles {
                root: root.to_owned(),
                limit: MAX_ENTRIES,
            });
        }
        if entry.depth() > MAX_DEPTH {
            return Err(GitError::TooDeep {
                root: root.to_owned(),
                limit: MAX_DEPTH,
            });
        }
        entry_count += 1;
        let relative_path = entry.path().strip_prefix(root).unwrap_or(entry.path());
        if !entry.file_type().is_dir() {
            files.push(ListedFile::from_untracked_path(to_git_path(relative_path)));
        } else if entry.depth() > 0 && find_git_dir(entry.path()).is_some() {
            files.push(ListedFile::from_nested_repository(to_git_path(relative_path)));
            entries.skip_current_dir();
        }
    }
    Ok(DiskListing {
        files: sort_unique_files(files.into_iter()),
        has_conversion: false,
    })
}

/// Converts a path of the file system to one with slashes, as git stores it.
fn to_git_path(path: &Path) -> Vec<u8> {
    let names: Vec<&[u8]> = path
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.as_encoded_bytes()),
            _ => None,
        })
        .collect();
    names.join(&b'/')
}
