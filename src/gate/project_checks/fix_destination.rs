//! Finds the reasons why a file with fixes cannot be changed.

use crate::document_content::{NOT_CHECKED_OUT, read_document_on_disk};
use crate::error::Failure;
use crate::job::policy;
use sluicegate_base::input::is_utf_16;
use sluicegate_git::Repository;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The reason why a file on disk that is not UTF-8, because of git attributes, is not fixed.
const OTHER_ENCODING: &str = "git attributes convert the file to an encoding other than UTF-8 \
                              (working-tree-encoding in .gitattributes): correct the value in an editor";

/// The reason why files of `git commit PATH` are not fixed with `--staged`.
const DISCARDED_INDEX: &str = "`git commit` with paths discards the index of its hooks: run `sluicegate fix` without \
                               --staged, then commit again";

/// The reason why a file is not fixed with `--staged` if the index hides its changes, which would be staged, too.
const HIDDEN_CHANGES: &str = "git's index tells git to ignore the file on disk (skip-worktree or assume-unchanged): \
                              run `git update-index --no-skip-worktree --no-assume-unchanged` for the file first";

/// The reason why a file cannot be changed on disk.
enum DiskObstacle {
    /// The file is missing on disk.
    NotCheckedOut,
    Other(String),
}

impl fmt::Display for DiskObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCheckedOut => write!(f, "{NOT_CHECKED_OUT}: check out the file first"),
            Self::Other(reason) => f.write_str(reason),
        }
    }
}

/// The working tree and the index, whose files are changed.
pub(crate) struct FixDestination<'r> {
    pub(crate) repo: &'r Repository,
    /// The index that git passes to its hooks.
    pub(crate) index: Option<&'r Path>,
    /// True if the staged files are changed, too.
    pub(crate) is_staged: bool,
}

impl FixDestination<'_> {
    /// Returns the files that cannot be changed, each with the reason. With `--staged`, a file with unstaged changes is
    /// one of them, because staging the fix would also stage these changes. The same applies to a file whose changes
    /// the index hides, and to a file that git attributes convert, because its fix could not be staged. During a commit
    /// of paths, no file can be changed.
    pub(crate) fn find_obstacles(&self, paths: &[&str]) -> Result<BTreeMap<String, String>, Failure> {
        let mut obstacles = BTreeMap::new();
        let mut missing_paths = BTreeSet::new();
        for path in paths {
            if let Some(obstacle) = find_disk_obstacle(self.repo, path) {
                if matches!(obstacle, DiskObstacle::NotCheckedOut) {
                    missing_paths.insert(*path);
                }
                obstacles.insert((*path).to_owned(), obstacle.to_string());
            }
        }
        if self.is_staged && self.has_discarded_index() {
            let reasons = paths
                .iter()
                .map(|path| ((*path).to_owned(), DISCARDED_INDEX.to_owned()));
            obstacles.extend(reasons);
        } else if self.is_staged {
            let staged_files = self
                .repo
                .list_files_without_unstaged_changes(paths.iter().copied(), self.index)?;
            let staged_paths: BTreeSet<&str> = staged_files.iter().map(|file| file.path.as_str()).collect();
            let hidden_paths = self.repo.list_hidden_paths(paths, self.index)?;
            for path in paths.iter().filter(|path| !staged_paths.contains(*path)) {
                let reason = if hidden_paths.contains(*path) {
                    HIDDEN_CHANGES
                } else if self.repo.is_converted(path) {
                    "git attributes convert the file: run `sluicegate fix` without --staged, then `git add`"
                } else {
                    // A file that was deleted on disk is not a sparse one.
                    if missing_paths.contains(path) {
                        obstacles.remove(*path);
                    }
                    "the file has unstaged changes: stage or stash them first"
                };
                // The reason for not changing the file on disk comes first.
                let first_reason = obstacles.entry((*path).to_owned());
                first_reason.or_insert_with(|| reason.to_owned());
            }
        }
        Ok(obstacles)
    }

    /// Returns whether git runs this hook for `git commit PATH`. Git then creates two indexes: the hook gets
    /// `next-index-*.lock`, and the other index remains after the commit. A fix that is staged only in the first one
    /// would be undone by the next commit.
    fn has_discarded_index(&self) -> bool {
        self.index
            .and_then(Path::file_name)
            .is_some_and(|name| name.to_string_lossy().starts_with("next-index-"))
    }
}

/// Returns the reason why the file cannot be changed on disk; `None` if it can.
fn find_disk_obstacle(repo: &Repository, path: &str) -> Option<DiskObstacle> {
    let root = repo.root();
    let full_path = root.join(path);
    if let Some(link) = policy::find_links_in_path(root, &full_path).first() {
        return Some(DiskObstacle::Other(format!(
            "the file is behind the symbolic link `{link}`"
        )));
    }
    match fs::metadata(&full_path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Some(DiskObstacle::NotCheckedOut),
        Err(error) => Some(DiskObstacle::Other(format!("could not read the file: {error}"))),
        Ok(metadata) if metadata.permissions().readonly() => {
            Some(DiskObstacle::Other("the file is read-only".to_owned()))
        }
        // The attributes are read last, because libgit2 reads the whole index for them.
        Ok(_) if has_other_encoding(&full_path) && repo.is_converted(path) => {
            Some(DiskObstacle::Other(OTHER_ENCODING.to_owned()))
        }
        Ok(_) => None,
    }
}

/// Returns whether the file on disk can be read, but is not UTF-8.
fn has_other_encoding(full_path: &Path) -> bool {
    match read_document_on_disk(full_path) {
        Ok(Ok(bytes)) => is_utf_16(&bytes) || std::str::from_utf8(&bytes).is_err(),
        _ => false,
    }
}
