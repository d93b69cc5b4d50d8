//! The files of a repository in one place: a commit, the index, or the working tree.

use super::listed_file::{self, ListedFile, find_converted_paths, find_listed_file};
use super::listed_place::ListedPlace;
use super::snapshot_file::{ContentDoubt, FileContent, SnapshotFile};
use super::tree_difference::compare_files;
use super::tree_entries::{FileKind, FileState};
use super::wanted_files::{InvalidNames, WantedFiles};
use super::{BlobId, Change, CommitId, Differences, GitError, Repository, plain_directory};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// From this number of paths on, one pass through a list of files is faster than a search for each path.
const MIN_PATHS_FOR_LIST: usize = 32;

pub struct Snapshot<'r> {
    repository: &'r Repository,
    files: SnapshotFiles,
}

enum SnapshotFiles {
    Commit(CommitId),
    /// The files of the index or of a directory, sorted by path.
    Listed {
        place: ListedPlace,
        files: Vec<ListedFile>,
        has_conversion: bool,
    },
}

impl Repository {
    /// Creates the snapshot of a commit. Its files are read when they are requested.
    pub const fn snapshot(&self, commit: CommitId) -> Snapshot<'_> {
        Snapshot {
            repository: self,
            files: SnapshotFiles::Commit(commit),
        }
    }

    /// Returns the changes to wanted files since the `bases`; see [`Snapshot::find_changes`].
    pub fn find_changes(
        &self,
        bases: &[CommitId],
        head: &CommitId,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Change>, GitError> {
        self.snapshot(head.clone()).find_changes(bases, is_wanted)
    }

    /// Returns the staged files. `index` is the value of `GIT_INDEX_FILE`, which git sets for its hooks.
    pub fn read_staged_snapshot(&self, index: Option<&Path>) -> Result<Snapshot<'_>, GitError> {
        let files = listed_file::list_staged_files(self, index)?;
        // git converts only files on disk.
        let has_conversion = false;
        Ok(self.build_listed_snapshot(ListedPlace::Index, files, has_conversion))
    }

    /// Returns whether the checked-out commit or the index has a file with this path. `index` is the index file to read
    /// instead of the repository's own.
    pub fn is_tracked(&self, path: &str, index: Option<&Path>) -> Result<bool, GitError> {
        let at_head = match self.head() {
            Ok(head) => self.find_file(&head.commit, path)?.is_some(),
            Err(GitError::NoCommit { .. }) => false,
            Err(error) => return Err(error),
        };
        let has_index = !self.is_bare() && !self.is_plain_directory();
        Ok(at_head || (has_index && listed_file::is_in_index(self, index, path)?))
    }

    /// Returns the files on disk, except for untracked files that git ignores; all files of a directory without git.
    pub fn read_disk_snapshot(&self, index: Option<&Path>) -> Result<Snapshot<'_>, GitError> {
        let (place, listing) = if self.is_plain_directory() {
            (
                ListedPlace::PlainDirectory,
                plain_directory::list_directory_files(self.root())?,
            )
        } else {
            (
                ListedPlace::WorkingTree,
                listed_file::list_disk_files(self, index)?,
            )
        };
        Ok(self.build_listed_snapshot(place, listing.files, listing.has_conversion))
    }

    /// Creates the snapshot of listed files, of the index or of a directory.
    const fn build_listed_snapshot(
        &self,
        place: ListedPlace,
        files: Vec<ListedFile>,
        has_conversion: bool,
    ) -> Snapshot<'_> {
        Snapshot {
            repository: self,
            files: SnapshotFiles::Listed {
                place,
                files,
                has_conversion,
            },
        }
    }
}

impl Snapshot<'_> {
    /// Uses the file at `content_path` as the content of `path`, for text that is not saved yet. The path may be new.
    /// Has no effect on the files of a commit.
    pub fn substitute_file(&mut self, path: &str, content_path: PathBuf) {
        if let SnapshotFiles::Listed { files, .. } = &mut self.files {
            let file = ListedFile::from_substitute(path, content_path);
            match files.binary_search_by(|file| file.path.as_slice().cmp(path.as_bytes())) {
                Ok(index) => files[index] = file,
                Err(index) => files.insert(index, file),
            }
        }
    }

    /// Returns the commit, if the files are those of a commit.
    pub const fn commit(&self) -> Option<&CommitId> {
        match &self.files {
            SnapshotFiles::Commit(commit) => Some(commit),
            SnapshotFiles::Listed { .. } => None,
        }
    }

    /// Returns whether the files are those on disk, and not those of a commit or of the index.
    pub fn is_on_disk(&self) -> bool {
        matches!(self.files, SnapshotFiles::Listed { place, .. } if place != ListedPlace::Index)
    }

    /// Returns the name of the snapshot for messages, for example `commit 1234567`.
    pub fn name(&self) -> String {
        match &self.files {
            SnapshotFiles::Commit(commit) => format!("commit {}", commit.short()),
            SnapshotFiles::Listed { place, .. } => place.name().to_owned(),
        }
    }

    /// Returns the wanted files that differ from any of the `bases`, sorted by path. Without a base, every wanted file
    /// is an added one. See [`Differences::find_changes`].
    pub fn find_changes(
        &self,
        bases: &[CommitId],
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Change>, GitError> {
        Ok(self.compare_with_bases(bases, is_wanted)?.find_changes())
    }

    /// Compares the wanted files of this snapshot with those of each base, for several results from one comparison.
    /// Without a base, every wanted file differs.
    pub fn compare_with_bases(
        &self,
        bases: &[CommitId],
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Differences<'_>, GitError> {
        let repository = self.repository;
        let bases: Vec<Option<&CommitId>> = match bases {
            [] => vec![None],
            bases => bases.iter().map(Some).collect(),
        };
        match &self.files {
            SnapshotFiles::Commit(commit) => {
                let differences_by_base = bases
                    .into_iter()
                    .map(|base| {
                        let wanted_files = WantedFiles::Matching(is_wanted);
                        repository.list_tree_differences(base, commit, wanted_files, InvalidNames::Reject)
                    })
                    .collect::<Result<_, _>>()?;
                // The files of a commit are in git, so none of them is read from disk.
                Differences::new(repository, differences_by_base, Box::new(|_| None))
            }
            SnapshotFiles::Listed { files, .. } => {
                let new_files = self.list_current_states(files, is_wanted)?;
                let mut differences_by_base = Vec::new();
                for base in bases {
                    let old_files = repository.list_committed_states(base, is_wanted)?;
                    differences_by_base.push(compare_files(old_files, &new_files));
                }
                Differences::new(
                    repository,
                    differences_by_base,
                    Box::new(|path| {
                        find_listed_file(files, path)
                            .filter(|file| file.on_disk)
                            .map(|file| file.content_path(repository.root()))
                    }),
                )
            }
        }
    }

    /// Returns the files for which `is_wanted` returns true, sorted by path.
    pub fn list_files(&self, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<SnapshotFile>, GitError> {
        match &self.files {
            SnapshotFiles::Commit(commit) => {
                let files = self.repository.list_files(commit, is_wanted)?;
                Ok(files.into_iter().map(SnapshotFile::from).collect())
            }
            SnapshotFiles::Listed {
                files,
                has_conversion,
                ..
            } => {
                let wanted_files: Vec<&ListedFile> = files
                    .iter()
                    .filter(|file| is_wanted(&file.display_path()))
                    .collect();
                // git may have checked out other bytes than it stores.
                let converted_paths = if *has_conversion {
                    find_converted_paths(self.repository.root(), &wanted_files)
                } else {
                    HashSet::new()
                };
                wanted_files
                    .into_iter()
                    .filter_map(|file| {
                        let is_converted = converted_paths.contains(file.path.as_slice());
                        self.build_file(file, is_converted).transpose()
                    })
                    .collect()
            }
        }
    }

    /// Returns the wanted files of a snapshot that others are compared with, sorted by path. Skips files of a commit
    /// whose path is not UTF-8: a change must be able to delete or rename such a file.
    pub fn list_base_files(&self, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<SnapshotFile>, GitError> {
        match &self.files {
            SnapshotFiles::Commit(commit) => {
                let files = self.repository.list_base_files(commit, is_wanted)?;
                Ok(files.into_iter().map(SnapshotFile::from).collect())
            }
            SnapshotFiles::Listed { .. } => self.list_files(is_wanted),
        }
    }

    /// Returns the file with this path, or `None` if there is no such file.
    pub fn find_file(&self, path: &str) -> Result<Option<SnapshotFile>, GitError> {
        match &self.files {
            SnapshotFiles::Commit(commit) => {
                Ok(self.repository.find_file(commit, path)?.map(SnapshotFile::from))
            }
            SnapshotFiles::Listed { files, .. } => {
                let Some(file) = find_listed_file(files, path) else {
                    return Ok(None);
                };
                // git may have checked out other bytes than it stores.
                let is_converted = self.has_conversion()
                    && !find_converted_paths(self.repository.root(), &[file]).is_empty();
                self.build_file(file, is_converted)
            }
        }
    }

    /// Returns the existing files among these paths, sorted by path.
    pub fn find_files(&self, paths: &BTreeSet<&str>) -> Result<Vec<SnapshotFile>, GitError> {
        match &self.files {
            SnapshotFiles::Commit(commit) => {
                let files = self.repository.find_files(commit, paths)?.into_iter();
                Ok(files.map(SnapshotFile::from).collect())
            }
            SnapshotFiles::Listed { .. } if paths.len() < MIN_PATHS_FOR_LIST => paths
                .iter()
                .filter_map(|path| self.find_file(path).transpose())
                .collect(),
            SnapshotFiles::Listed { .. } => self.list_files(&|path| paths.contains(path)),
        }
    }

    /// Returns the existing files among these paths, by path.
    pub fn find_files_by_path(
        &self,
        paths: &BTreeSet<&str>,
    ) -> Result<BTreeMap<String, SnapshotFile>, GitError> {
        let files = self.find_files(paths)?.into_iter();
        Ok(files.map(|file| (file.path.clone(), file)).collect())
    }

    /// Returns whether there is a file or a directory with this path.
    pub fn has_path(&self, path: &str) -> Result<bool, GitError> {
        match &self.files {
            SnapshotFiles::Commit(commit) => self.repository.has_path(commit, path),
            SnapshotFiles::Listed { files, .. } => {
                let start = files.partition_point(|file| file.path.as_slice() < path.as_bytes());
                let folder = format!("{path}/");
                Ok(files[start..]
                    .iter()
                    .take_while(|file| file.path.starts_with(path.as_bytes()))
                    .any(|file| file.path == path.as_bytes() || file.path.starts_with(folder.as_bytes())))
            }
        }
    }

    /// Returns the paths of other repositories within this one: submodules, and on disk also repositories that were not
    /// added. A commit can have a submodule without the file `.gitmodules`: `git add` of a repository does not write the
    /// file.
    pub fn list_nested_repositories(&self) -> Result<Vec<String>, GitError> {
        let paths: Vec<String> = match &self.files {
            SnapshotFiles::Commit(commit) => {
                let submodules = self.repository.list_submodules(commit)?;
                submodules.into_iter().map(|file| file.path).collect()
            }
            SnapshotFiles::Listed { files, .. } => files
                .iter()
                .filter(|file| file.known_state.map(|state| state.kind) == Some(FileKind::Submodule))
                .map(|file| file.display_path().into_owned())
                .collect(),
        };
        Ok(paths)
    }

    /// Returns the names of the directories at the root; names that are not UTF-8 are skipped.
    pub fn list_root_folders(&self) -> Result<Vec<String>, GitError> {
        match &self.files {
            SnapshotFiles::Commit(commit) => self.repository.list_root_folders(commit),
            SnapshotFiles::Listed { files, .. } => {
                let folders: BTreeSet<String> = files
                    .iter()
                    .filter_map(|file| {
                        // A path without a slash is a file at the root.
                        let end = file.path.iter().position(|byte| *byte == b'/')?;
                        String::from_utf8(file.path.get(..end)?.to_vec()).ok()
                    })
                    .collect();
                Ok(folders.into_iter().collect())
            }
        }
    }

    /// Returns the names of the symbolic links at the root.
    pub fn list_root_links(&self) -> Result<Vec<String>, GitError> {
        match &self.files {
            SnapshotFiles::Commit(commit) => self.repository.list_root_links(commit),
            SnapshotFiles::Listed { files, .. } => Ok(files
                .iter()
                .filter(|file| !file.path.contains(&b'/'))
                .filter(|file| file.find_file_kind(self.repository.root()) == Some(FileKind::Symlink))
                .map(|file| file.display_path().into_owned())
                .collect()),
        }
    }

    /// Returns the file, or `None` if it is missing on disk and its blob is not known. The blob is known unless the
    /// file is new or modified. A file with a known blob is read from git if git checked out other bytes
    /// (`is_converted`), because attributes in the reviewed change must not decide which content is reviewed. `doubt`
    /// is set if the bytes on disk may differ from those that a commit would store.
    fn build_file(&self, file: &ListedFile, is_converted: bool) -> Result<Option<SnapshotFile>, GitError> {
        let path = file.utf8_path()?;
        if let Some(state) = file.known_state
            && (!file.on_disk || is_converted)
        {
            return Ok(Some(SnapshotFile {
                path,
                kind: state.kind,
                content: FileContent::Blob(BlobId::new(state.id)),
                doubt: file.hidden.then_some(ContentDoubt::Hidden),
            }));
        }
        if !file.on_disk {
            return Ok(None);
        }
        let doubt = if file.hidden {
            Some(ContentDoubt::Hidden)
        } else if file.known_state.is_none() && self.has_conversion() && self.repository.is_converted(&path) {
            Some(ContentDoubt::Converted)
        } else {
            None
        };
        let root = self.repository.root();
        Ok(file.find_file_kind(root).map(|kind| SnapshotFile {
            path,
            kind,
            content: FileContent::Disk(file.content_path(root)),
            doubt,
        }))
    }

    /// Returns whether git may have checked out other bytes than it stores.
    const fn has_conversion(&self) -> bool {
        match self.files {
            SnapshotFiles::Commit(_) => false,
            SnapshotFiles::Listed { has_conversion, .. } => has_conversion,
        }
    }

    /// Returns the current blob and kind of each wanted file. A modified file is hashed, and a missing file is omitted.
    fn list_current_states(
        &self,
        files: &[ListedFile],
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<(String, FileState)>, GitError> {
        let mut states = Vec::new();
        for file in files.iter().filter(|file| is_wanted(&file.display_path())) {
            let path = file.utf8_path()?;
            states.extend(file.find_state(self.repository.root()).map(|state| (path, state)));
        }
        Ok(states)
    }
}
