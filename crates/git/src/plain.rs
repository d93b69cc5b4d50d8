//! A directory that is in no git repository: its files without a history.

use super::listing::{Listed, OnDisk, sorted};
use super::{GitError, Repository, opened::Opened};
use git2::{Repository as Library, RepositoryInitOptions};
use std::collections::HashSet;
use std::path::{Component, Path};
use walkdir::{DirEntry, WalkDir};

/// Maximum number of files and directories below a plain directory.
const MAX_ENTRIES: usize = 100_000;

/// Maximum depth of a file below a plain directory.
const MAX_DEPTH: usize = 64;

impl Repository {
    /// Opens a directory that is in no repository: it has files, but no commit, index, branch or remote. An empty git
    /// directory stands in for the missing one.
    pub fn open_plain(folder: &Path) -> Result<Self, GitError> {
        let root = folder
            .canonicalize()
            .map_err(GitError::io("open the directory", folder))?;
        let stand_in = tempfile::Builder::new()
            .prefix("sluicegate-git-")
            .tempdir()
            .map_err(GitError::io("create", "a temporary directory"))?;
        let mut options = RepositoryInitOptions::new();
        options.bare(true).external_template(false);
        let library = Library::init_opts(stand_in.path(), &options)
            .map_err(GitError::library("prepare a directory without git"))?;
        let opened = Opened {
            library,
            root,
            bare: false,
            foreign: false,
            git_dir: stand_in.path().to_owned(),
            common_dir: stand_in.path().to_owned(),
            stand_in: Some(stand_in),
            plain: true,
        };
        Ok(Self::from_parts(opened, HashSet::new(), false))
    }
}

/// Returns all files below the directory. Links are listed and not followed; git directories of repositories below are
/// skipped.
pub(super) fn files_below(root: &Path) -> Result<OnDisk, GitError> {
    let is_wanted = |entry: &DirEntry| entry.depth() == 0 || entry.file_name() != ".git";
    let entries = WalkDir::new(root)
        .follow_links(false)
        .max_depth(MAX_DEPTH + 1)
        .into_iter()
        .filter_entry(is_wanted);
    let mut files = Vec::new();
    for (number, entry) in entries.enumerate() {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(root).to_owned();
            GitError::io("read the directory", path)(error.into())
        })?;
        if number > MAX_ENTRIES {
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
        if !entry.file_type().is_dir() {
            let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
            files.push(Listed::unknown_to_git(with_slashes(path)));
        }
    }
    Ok(OnDisk {
        files: sorted(files.into_iter()),
        has_attributes: false,
    })
}

fn with_slashes(path: &Path) -> Vec<u8> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.as_encoded_bytes()),
        _ => None,
    });
    names.collect::<Vec<_>>().join(&b'/')
}
