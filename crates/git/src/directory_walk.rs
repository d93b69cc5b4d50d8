//! Lists the files below a directory that git does not list: one without git, or one that libgit2 does not enter.

use super::discovery::is_repository_root;
use super::disk_file::is_missing;
use super::{GitError, Repository};
use std::path::{Component, Path};
use walkdir::WalkDir;

/// Maximum number of files and directories below the directory.
const MAX_ENTRIES: usize = 100_000;

/// Maximum depth of a file below the directory.
const MAX_DEPTH: usize = 64;

/// Returns the untracked paths that this path of libgit2's status stands for. libgit2 reports a directory that contains
/// any entry named `.git` as another repository, with a slash at the end. Like git, returns the files of the directory
/// instead, unless the entry is that of a repository.
pub(super) fn list_untracked_paths(repository: &Repository, path: Vec<u8>) -> Result<Vec<Vec<u8>>, GitError> {
    let Some(directory) = path
        .strip_suffix(b"/")
        .and_then(|directory| std::str::from_utf8(directory).ok())
    else {
        return Ok(vec![path]);
    };
    let folder = repository.root().join(directory);
    if is_missing(&folder.join(".git")) || is_repository_root(&folder) {
        return Ok(vec![path]);
    }
    walk_directory(repository.root(), &folder, |path| {
        // A path that libgit2 cannot compare with the ignore rules is listed, so that it is not hidden.
        repository.library.is_path_ignored(path).unwrap_or(false)
    })
}

/// Returns the paths of the files below a directory of the root, except for ignored ones. The paths, and those for
/// `is_ignored`, are relative to the root. Links are listed and not followed; a `.git` directory or file
/// is skipped. Like git, does not enter another repository, whose files have rules and a history of their own: its path
/// is listed with a slash at the end.
/// More than [`MAX_ENTRIES`] entries or [`MAX_DEPTH`] levels are an error: the directory is probably not a project.
pub(super) fn walk_directory(
    root: &Path,
    folder: &Path,
    is_ignored: impl Fn(&Path) -> bool,
) -> Result<Vec<Vec<u8>>, GitError> {
    let mut entries = WalkDir::new(folder)
        .follow_links(false)
        .max_depth(MAX_DEPTH + 1)
        .into_iter()
        .filter_entry(|entry| {
            entry.depth() == 0
                || (entry.file_name() != ".git" && !is_ignored(relative_path(entry.path(), root)))
        });
    let mut paths = Vec::new();
    let mut entry_count = 0;
    // The first entry is the directory itself. Entries one level below the limit are visited, too, to notice them.
    while let Some(result) = entries.next() {
        let entry = result.map_err(|error| {
            let path = error.path().unwrap_or(folder).to_owned();
            GitError::io("read the directory", path)(error.into())
        })?;
        if entry_count > MAX_ENTRIES {
            return Err(GitError::TooManyFiles {
                root: folder.to_owned(),
                limit: MAX_ENTRIES,
            });
        }
        if entry.depth() > MAX_DEPTH {
            return Err(GitError::TooDeep {
                root: folder.to_owned(),
                limit: MAX_DEPTH,
            });
        }
        entry_count += 1;
        let mut git_path = to_git_path(relative_path(entry.path(), root));
        if !entry.file_type().is_dir() {
            paths.push(git_path);
        } else if entry.depth() > 0 && is_repository_root(entry.path()) {
            git_path.push(b'/');
            paths.push(git_path);
            entries.skip_current_dir();
        }
    }
    Ok(paths)
}

fn relative_path<'p>(path: &'p Path, root: &Path) -> &'p Path {
    path.strip_prefix(root).unwrap_or(path)
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
