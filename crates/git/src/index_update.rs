//! Changes the index: stages the content of files on disk, without a filter that the repository's configuration names,
//! and moves files as `git mv` does.

use super::index_file::{is_hidden_entry, open_index};
use super::listed_file::reject_conflicts;
use super::{GitError, Repository};
use git2::{IndexEntry, Oid, Status};
use std::collections::BTreeSet;
use std::path::Path;

/// Maximum number of files in one call of the git program. On Windows, a command line has at most 32,767 characters.
const FILES_PER_CALL: usize = 50;

/// A file of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedFile {
    /// The path from the root, with `/`.
    pub path: String,
    mode: u32,
}

impl Repository {
    /// Returns the files among `paths` whose content on disk is the staged content. Omits files that are not in the
    /// index, and files that an attribute converts, because libgit2 does not run external filters. Also omits files
    /// whose changes on disk the index hides, because these changes are unknown. `index_path` is the value of
    /// `GIT_INDEX_FILE`, which git sets for its hooks.
    pub fn list_files_without_unstaged_changes<'p>(
        &self,
        paths: impl Iterator<Item = &'p str>,
        index_path: Option<&Path>,
    ) -> Result<Vec<StagedFile>, GitError> {
        let mut index = open_index(self, index_path)?;
        // `status_file` below must compare with this index, which may be another one than that of the repository.
        self.library
            .set_index(&mut index)
            .map_err(GitError::library("use the index"))?;
        self.check_head_files()?;
        let mut files = Vec::new();
        for path in paths {
            let Some(entry) = index.get_path(Path::new(path), 0) else {
                continue;
            };
            let status = self
                .library
                .status_file(Path::new(path))
                .map_err(GitError::library("compare the working tree with the index"))?;
            let is_unmodified =
                !status.intersects(Status::WT_MODIFIED | Status::WT_DELETED | Status::WT_TYPECHANGE);
            if is_unmodified && !is_hidden_entry(&entry) && !self.is_converted(path) {
                files.push(StagedFile {
                    path: path.to_owned(),
                    mode: entry.mode,
                });
            }
        }
        Ok(files)
    }

    /// Returns the files among `paths` whose changes on disk the index hides (`skip-worktree`, `assume-unchanged`).
    /// `index_path` is the value of `GIT_INDEX_FILE`.
    pub fn list_hidden_paths(
        &self,
        paths: &[&str],
        index_path: Option<&Path>,
    ) -> Result<BTreeSet<String>, GitError> {
        let index = open_index(self, index_path)?;
        let mut hidden_paths = BTreeSet::new();
        for path in paths {
            let entry = index.get_path(Path::new(path), 0);
            if entry.is_some_and(|entry| is_hidden_entry(&entry)) {
                hidden_paths.insert((*path).to_owned());
            }
        }
        Ok(hidden_paths)
    }

    /// Stages the content that these files have on disk; the files must be in the index already and keep their mode.
    /// libgit2 stores the content, because `git add` would run the filters that the configuration names. `index_path`
    /// is the value of `GIT_INDEX_FILE`, which git sets for its hooks.
    pub fn stage_files(&self, files: &[StagedFile], index_path: Option<&Path>) -> Result<(), GitError> {
        let index_path = index_path.map(|path| self.root().join(path));
        for batch in files.chunks(FILES_PER_CALL) {
            let mut arguments = vec!["update-index".to_owned()];
            for file in batch {
                let blob = self.store_file(&self.root().join(&file.path))?;
                arguments.push("--cacheinfo".to_owned());
                arguments.push(format!("{:o},{blob},{}", file.mode, file.path));
            }
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            self.program
                .run_locally(self.root(), &arguments, index_path.as_deref())?;
        }
        Ok(())
    }

    /// Stores the content of a file, with its line endings converted as git does, and returns its blob. If libgit2
    /// reads a stand-in of the repository, it stores the blob there, and the stand-in is deleted at the end of the run:
    /// the git program therefore stores the same content in the clone itself.
    fn store_file(&self, disk_path: &Path) -> Result<Oid, GitError> {
        let blob = self
            .library
            .blob_path(disk_path)
            .map_err(GitError::library("store a file"))?;
        if self.has_stand_in() {
            let content = self
                .library
                .find_blob(blob)
                .map_err(GitError::library("read a stored file"))?;
            self.program.store_blob(content.content())?;
        }
        Ok(blob)
    }

    /// Returns the paths in the index that are equal to `path` or below it. Fails if one of these files has a conflict,
    /// because git does not move it.
    pub fn list_tracked_paths(&self, path: &str) -> Result<BTreeSet<String>, GitError> {
        let folder = format!("{path}/");
        let is_inside =
            |entry: &IndexEntry| entry.path == path.as_bytes() || entry.path.starts_with(folder.as_bytes());
        let index = open_index(self, None)?;
        reject_conflicts(&index, is_inside)?;
        Ok(index
            .iter()
            .filter(is_inside)
            .map(|entry| String::from_utf8_lossy(&entry.path).into_owned())
            .collect())
    }

    /// Moves a tracked file or directory, on disk and in the index. Both paths are relative to the root.
    pub fn move_files(&self, old_path: &str, new_path: &str) -> Result<(), GitError> {
        let arguments = ["mv", "--", old_path, new_path];
        self.program.run_locally(self.root(), &arguments, None).map(drop)
    }
}
