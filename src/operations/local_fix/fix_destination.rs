//! Finds the reasons why a file with fixes cannot be changed.

use crate::error::Failure;
use crate::job::policy;
use sluicegate_git::Repository;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The reason why files of `git commit PATH` are not fixed with `--staged`.
const DISCARDED_INDEX: &str = "`git commit` with paths discards the index of its hooks: run `sluicegate fix` without \
                               --staged, then commit again";

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
    /// one of them, because staging the fix would also stage these changes. The same applies to a file that git
    /// attributes convert, because its fix could not be staged. During a commit of paths, no file can be changed.
    pub(crate) fn find_obstacles(&self, paths: &[&str]) -> Result<BTreeMap<String, String>, Failure> {
        let mut obstacles = BTreeMap::new();
        for path in paths {
            if let Some(reason) = self.find_disk_obstacle(path) {
                obstacles.insert((*path).to_owned(), reason);
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
            for path in paths.iter().filter(|path| !staged_paths.contains(*path)) {
                let reason = if self.repo.is_converted(path) {
                    "git attributes convert the file: run `sluicegate fix` without --staged, then `git add`"
                } else {
                    "the file has unstaged changes: stage or stash them first"
                };
                obstacles.insert((*path).to_owned(), reason.to_owned());
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

    /// Returns the reason why the file cannot be changed on disk; `None` if it can.
    fn find_disk_obstacle(&self, path: &str) -> Option<String> {
        let root = self.repo.root();
        let full_path = root.join(path);
        if let Some(link) = policy::find_links_in_path(root, &full_path).first() {
            return Some(format!("the file is behind the symbolic link `{link}`"));
        }
        match fs::metadata(&full_path) {
            Err(error) => Some(format!("could not read the file: {error}")),
            Ok(metadata) if metadata.permissions().readonly() => Some("the file is read-only".to_owned()),
            Ok(_) => None,
        }
    }
}
