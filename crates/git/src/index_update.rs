//! Changes the index: stages the content of files on disk, without a filter that the repository's configuration names,
//! and moves files as `git mv` does.

use super::index_file::{is_hidden_entry, open_index};
use super::listed_file::{reject_conflicts, to_file_state};
use super::{FileKind, GitError, Repository};
use git2::{IndexEntry, Oid, Status, StatusOptions, StatusShow};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

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
        // The comparison below must use this index, which may be another one than that of the repository.
        self.library
            .set_index(&mut index)
            .map_err(GitError::library("use the index"))?;
        let mut files = Vec::new();
        for path in paths {
            let Some(entry) = index.get_path(Path::new(path), 0) else {
                continue;
            };
            // If names have no case, the entry may be that of another path.
            if entry.path == path.as_bytes() && !is_hidden_entry(&entry) {
                files.push(StagedFile {
                    path: path.to_owned(),
                    mode: entry.mode,
                });
            }
        }
        let changed_paths = self.find_unstaged_paths(&files)?;
        files.retain(|file| !changed_paths.contains(file.path.as_bytes()) && !self.is_converted(&file.path));
        Ok(files)
    }

    /// Returns the paths of those files that differ between the disk and the index that libgit2 uses. One call compares
    /// all files, because each call reads the complete index.
    fn find_unstaged_paths(&self, files: &[StagedFile]) -> Result<HashSet<Vec<u8>>, GitError> {
        // Without a path, libgit2 would compare all files of the repository.
        if files.is_empty() {
            return Ok(HashSet::new());
        }
        self.check_head()?;
        let mut options = StatusOptions::new();
        options.show(StatusShow::Workdir).disable_pathspec_match(true);
        for file in files {
            options.pathspec(&file.path);
        }
        let statuses = self
            .library
            .statuses(Some(&mut options))
            .map_err(GitError::library("compare the working tree with the index"))?;
        let unstaged_changes = Status::WT_MODIFIED | Status::WT_DELETED | Status::WT_TYPECHANGE;
        Ok(statuses
            .iter()
            .filter(|entry| entry.status().intersects(unstaged_changes))
            .map(|entry| entry.path_bytes().to_vec())
            .collect())
    }

    /// Returns the files among `paths` whose changes on disk the index hides (`skip-worktree`, `assume-unchanged`).
    /// `index_path` is the value of `GIT_INDEX_FILE`.
    pub fn list_hidden_paths(
        &self,
        paths: &[&str],
        index_path: Option<&Path>,
    ) -> Result<BTreeSet<String>, GitError> {
        // A large index takes long to read.
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
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
        if files.is_empty() {
            return Ok(());
        }
        let index_path = index_path.map(|path| self.root().join(path));
        let mut entries = Vec::new();
        for file in files {
            let blob = self.store_file(&self.root().join(&file.path))?;
            entries.extend_from_slice(format!("{:o} {blob}\t{}\0", file.mode, file.path).as_bytes());
        }
        self.program
            .update_index(self.root(), &entries, index_path.as_deref())
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

    /// Returns whether the index has a submodule at this path. Its directory may be missing on disk.
    pub fn has_submodule(&self, path: &str) -> Result<bool, GitError> {
        let index = open_index(self, None)?;
        let mut entries = (0..=3).filter_map(|stage| index.get_path(Path::new(path), stage));
        Ok(entries.any(|entry| to_file_state(&entry).kind == FileKind::Submodule))
    }

    /// Moves a tracked file or directory, on disk and in the index. Both paths are relative to the root.
    pub fn move_files(&self, old_path: &str, new_path: &str) -> Result<(), GitError> {
        let arguments = ["mv", "--", old_path, new_path];
        self.program.run_locally(self.root(), &arguments, None).map(drop)
    }
}
