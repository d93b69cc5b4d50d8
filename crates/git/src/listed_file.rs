//! Lists the staged files, and the files on disk, with the help of git's index.
//!
//! Unmodified files on disk are recognized by the metadata that the index records (size, times), so that a working tree
//! of 100,000 files is listed without reading them. The index may be another file than the repository's own: git passes
//! a temporary one to its hooks, for example for `git commit -a`.

use super::directory_walk::list_untracked_paths;
use super::disk_file::{
    LinkedDirectories, MAX_HASHED_SIZE, find_disk_file_kind, hash_disk_file, read_disk_file,
};
use super::index_file::{is_hidden_entry, is_skipped_entry, open_index};
use super::tree_entries::{FileKind, FileState, path_to_text};
use super::{BlobId, GitError, Repository};
use git2::{Index, IndexEntry, IndexEntryExtendedFlag, Oid, Status, StatusOptions, StatusShow};
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use sluicegate_base::file_defect::{LfsPointer, MAX_POINTER_SIZE};
use sluicegate_base::text::to_hex;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Maximum number of conflicting files that an error lists.
const MAX_LISTED_CONFLICTS: usize = 10;

/// A file that is staged or on disk.
pub(super) struct ListedFile {
    /// The path from the root, with `/`.
    pub path: Vec<u8>,
    /// The blob of the file, if git knows it.
    pub known_state: Option<FileState>,
    /// The content must be read from disk.
    pub on_disk: bool,
    /// The index marks the file as not to be checked on disk (`skip-worktree`, `assume-unchanged`).
    pub hidden: bool,
    /// The file outside of the repository that contains its content.
    pub substitute: Option<PathBuf>,
}

impl ListedFile {
    /// Creates the entry of a file at `path` whose content is read from another file, `substitute`. This is how
    /// standard input replaces a file.
    pub(super) fn from_substitute(path: &str, substitute: PathBuf) -> Self {
        Self {
            path: path.as_bytes().to_vec(),
            known_state: None,
            on_disk: true,
            hidden: false,
            substitute: Some(substitute),
        }
    }

    /// Creates the entry of a file on disk that git does not track. A path with a trailing slash is another repository,
    /// which is not entered; its entry is that of a submodule.
    pub(super) fn from_untracked_path(path: Vec<u8>) -> Self {
        if let Some(repository_path) = path.strip_suffix(b"/") {
            return Self::from_nested_repository(repository_path.to_vec());
        }
        Self {
            path,
            known_state: None,
            on_disk: true,
            hidden: false,
            substitute: None,
        }
    }

    /// Creates the entry of another repository at `path`, without a trailing slash: that of a submodule.
    const fn from_nested_repository(path: Vec<u8>) -> Self {
        Self {
            path,
            known_state: Some(FileState {
                id: Oid::ZERO_SHA1,
                kind: FileKind::Submodule,
            }),
            on_disk: false,
            hidden: false,
            substitute: None,
        }
    }

    /// Returns the kind of the file: as git records it, otherwise as the disk shows it. `None` if the file no longer
    /// exists.
    pub(super) fn find_file_kind(&self, root: &Path) -> Option<FileKind> {
        match self.known_state {
            Some(state) => Some(state.kind),
            None => find_disk_file_kind(&self.content_path(root)),
        }
    }

    /// Returns the blob and the kind of the file: as git records them, otherwise as the disk shows them. Content that
    /// cannot be read or hashed gets an id that equals no other, so the file is treated as changed. `None` if the file
    /// no longer exists.
    pub(super) fn find_state(&self, root: &Path) -> Option<FileState> {
        if self.known_state.is_some() {
            return self.known_state;
        }
        let path = self.content_path(root);
        let kind = find_disk_file_kind(&path)?;
        let id = hash_disk_file(&path).unwrap_or(Oid::ZERO_SHA1);
        Some(FileState { id, kind })
    }

    /// Returns the path on disk at which the content is read.
    pub(super) fn content_path(&self, root: &Path) -> PathBuf {
        match &self.substitute {
            Some(path) => path.clone(),
            None => root.join(&*self.display_path()),
        }
    }

    /// Returns the path, with `\u{fffd}` in place of bytes that are not UTF-8.
    pub(super) fn display_path(&self) -> Cow<'_, str> {
        path_to_text(&self.path)
    }

    /// Returns the path as text, or an error if it is not UTF-8.
    pub(super) fn utf8_path(&self) -> Result<String, GitError> {
        // The text is owned only if bytes that are not UTF-8 were replaced.
        match self.display_path() {
            Cow::Borrowed(path) => Ok(path.to_owned()),
            Cow::Owned(path) => Err(GitError::PathNotUtf8 { path }),
        }
    }
}

/// Returns the staged files, by path. A file that was only announced (`git add -N`) is not staged.
pub(super) fn list_staged_files(
    repository: &Repository,
    index_path: Option<&Path>,
) -> Result<Vec<ListedFile>, GitError> {
    let index = open_index(repository, index_path)?;
    reject_conflicts(&index, |_| true)?;
    let files = index
        .iter()
        .filter(|entry| !is_intent_to_add(entry))
        .map(|entry| ListedFile {
            known_state: Some(to_file_state(&entry)),
            path: entry.path,
            on_disk: false,
            hidden: false,
            substitute: None,
        });
    Ok(sort_unique_files(files))
}

/// Returns whether the index has an entry with this path, including conflicts.
pub(super) fn is_in_index(
    repository: &Repository,
    index_path: Option<&Path>,
    path: &str,
) -> Result<bool, GitError> {
    let index = open_index(repository, index_path)?;
    Ok((0..=3).any(|stage| index.get_path(Path::new(path), stage).is_some()))
}

pub(super) struct DiskListing {
    /// The files, sorted by path.
    pub files: Vec<ListedFile>,
    /// True if git may have checked out other bytes than it stores: attributes are set, in a file of the repository or
    /// the clone, or git converts line endings.
    pub has_conversion: bool,
}

/// Returns the tracked files, the untracked files that git does not ignore, and whether git may convert them. A
/// deleted file is omitted. A file that a sparse checkout omits is listed in its staged version.
pub(super) fn list_disk_files(
    repository: &Repository,
    index_path: Option<&Path>,
) -> Result<DiskListing, GitError> {
    let mut index = open_index(repository, index_path)?;
    let mut status_by_path = compare_disk_with_index(repository, &mut index)?;
    let has_conversion = repository.has_line_ending_conversion()
        || repository
            .list_attributes_files_outside_tree()
            .iter()
            .any(|path| path.exists())
        || status_by_path.keys().any(|path| is_attributes_file(path))
        || index.iter().any(|entry| is_attributes_file(&entry.path));
    let mut linked_directories = LinkedDirectories::new(repository.root());
    let mut files: Vec<ListedFile> = Vec::new();
    for entry in index.iter() {
        // Each tracked file removes its status from the map. Only the untracked files remain there after the loop.
        let status = status_by_path.remove(&entry.path).filter(|status| {
            status.is_wt_deleted() || !has_conversion || !is_false_change(repository, &entry)
        });
        files.extend(build_tracked_file(&mut linked_directories, entry, status));
    }
    for (path, status) in status_by_path {
        if status.is_wt_new() {
            let paths = list_untracked_paths(repository, path)?;
            files.extend(paths.into_iter().map(ListedFile::from_untracked_path));
        }
    }
    Ok(DiskListing {
        files: sort_unique_files(files.into_iter()),
        has_conversion,
    })
}

/// Returns the status of each file on disk that differs from the index, by path: modified, deleted or untracked.
fn compare_disk_with_index(
    repository: &Repository,
    index: &mut Index,
) -> Result<HashMap<Vec<u8>, Status>, GitError> {
    repository
        .library
        .set_index(index)
        .map_err(GitError::library("use the index"))?;
    repository.check_head()?;
    let mut options = StatusOptions::new();
    options
        .show(StatusShow::Workdir)
        .include_untracked(true)
        // A file that the directory lists but `lstat` does not show, for example because the directory has no search
        // permission. libgit2 then does not know what it is, so its path has no trailing slash: it is listed as a file,
        // and reading it fails with the reason.
        .include_unreadable_as_untracked(true)
        .recurse_untracked_dirs(true)
        .exclude_submodules(true);
    let statuses = repository
        .library
        .statuses(Some(&mut options))
        .map_err(GitError::library("compare the working tree with the index"))?;
    Ok(statuses
        .iter()
        .map(|entry| (entry.path_bytes().to_vec(), entry.status()))
        .collect())
}

fn is_attributes_file(path: &[u8]) -> bool {
    path.strip_suffix(b".gitattributes")
        .is_some_and(|folder| folder.is_empty() || folder.ends_with(b"/"))
}

/// Returns whether libgit2's report of a change is wrong: an attribute converts the file, and the file on disk has the
/// size and the time that the index records, or is the one to which a staged Git LFS pointer refers. libgit2 applies
/// neither encodings nor external filters, so it compares the converted content with the stored one. Without such an
/// attribute, the report is right.
fn is_false_change(repository: &Repository, entry: &IndexEntry) -> bool {
    let Ok(path) = std::str::from_utf8(&entry.path) else {
        return false;
    };
    let Ok(metadata) = repository.root().join(path).symlink_metadata() else {
        return false;
    };
    metadata.is_file()
        && repository.is_converted(path)
        && (has_recorded_size_and_time(entry, &metadata) || is_file_of_pointer(repository, entry, path))
}

/// Returns whether the staged blob is a Git LFS pointer with the size and the hash of the file on disk.
fn is_file_of_pointer(repository: &Repository, entry: &IndexEntry, path: &str) -> bool {
    let blob = BlobId::new(entry.id);
    let is_short = |size: &u64| *size <= MAX_POINTER_SIZE;
    let Some(pointer) = repository
        .find_local_blob_size(&blob)
        .filter(is_short)
        .and_then(|_| repository.read_local_blob(&blob))
        .and_then(|bytes| LfsPointer::parse(&bytes))
    else {
        return false;
    };
    // A file that is larger than the size in the pointer is not read completely.
    match read_disk_file(&repository.root().join(path), pointer.size.min(MAX_HASHED_SIZE)) {
        Ok(Some(bytes)) => {
            bytes.len() as u64 == pointer.size && to_hex(&Sha256::digest(&bytes)) == pointer.sha256
        }
        Ok(None) | Err(_) => false,
    }
}

/// Returns whether the file on disk has the size and the time that the index records. The other records of the index
/// are not compared, because they differ in a copy of the clone.
fn has_recorded_size_and_time(entry: &IndexEntry, on_disk: &std::fs::Metadata) -> bool {
    let modification_time = on_disk.modified().ok();
    let unix_time = modification_time.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    u64::from(entry.file_size) == on_disk.len()
        && unix_time.is_some_and(|time| {
            i128::from(entry.mtime.seconds()) == i128::from(time.as_secs())
                && entry.mtime.nanoseconds() == time.subsec_nanos()
        })
}

/// Returns the entry of a tracked file, or `None` if it is deleted. A hidden file, which the index marks as not to be
/// checked, is read from disk, because git does not report its changes. A file that a sparse checkout omits is missing
/// but not deleted: it keeps its staged version. libgit2 reports a file as deleted if a pipe or a device has replaced
/// it, so the disk is checked again.
fn build_tracked_file(
    linked_directories: &mut LinkedDirectories<'_>,
    entry: IndexEntry,
    status: Option<Status>,
) -> Option<ListedFile> {
    let is_skipped = is_skipped_entry(&entry);
    let is_hidden = is_hidden_entry(&entry);
    let seems_deleted = status.is_some_and(|status| status.is_wt_deleted());
    let is_missing = (seems_deleted || is_hidden) && !is_file_on_disk(linked_directories, &entry.path);
    if is_missing && !is_skipped {
        return None;
    }
    // In a conflict the index has the path several times, and the file on disk differs from all of them.
    let has_staged_version = conflict_stage(&entry) == 0 && !is_intent_to_add(&entry);
    let is_unmodified = has_staged_version && (is_missing || (status.is_none() && !is_hidden));
    let staged_state = to_file_state(&entry);
    Some(ListedFile {
        path: entry.path,
        known_state: is_unmodified.then_some(staged_state),
        on_disk: !is_missing && staged_state.kind != FileKind::Submodule,
        hidden: is_hidden,
        substitute: None,
    })
}

/// Returns whether the disk has, or may have, something other than a directory at this path. A path that is not UTF-8
/// is treated as missing. As in git, a file behind a linked directory is missing, too: the link may lead out of the
/// repository.
fn is_file_on_disk(linked_directories: &mut LinkedDirectories<'_>, path: &[u8]) -> bool {
    let Ok(path) = std::str::from_utf8(path) else {
        return false;
    };
    find_disk_file_kind(&linked_directories.root.join(path)).is_some()
        && !linked_directories.contain_file(Path::new(path))
}

/// Fails if the index contains a merge conflict, because the index then has several versions of a file. The error lists
/// up to [`MAX_LISTED_CONFLICTS`] paths.
pub(super) fn reject_conflicts(
    index: &Index,
    is_relevant: impl Fn(&IndexEntry) -> bool,
) -> Result<(), GitError> {
    if !index.has_conflicts() {
        return Ok(());
    }
    let mut paths: Vec<String> = index
        .iter()
        .filter(|entry| conflict_stage(entry) != 0 && is_relevant(entry))
        .map(|entry| String::from_utf8_lossy(&entry.path).into_owned())
        .collect();
    if paths.is_empty() {
        return Ok(());
    }
    paths.dedup();
    paths.truncate(MAX_LISTED_CONFLICTS);
    Err(GitError::Conflicts { paths })
}

/// Returns the version of a conflicting file that the entry is: 1 for the base, 2 for ours, 3 for theirs, and 0 without
/// a conflict. See <https://git-scm.com/docs/index-format>.
const fn conflict_stage(entry: &IndexEntry) -> u16 {
    (entry.flags >> 12) & 3
}

/// Returns whether the entry has no content yet, because its path was added with `git add --intent-to-add`.
fn is_intent_to_add(entry: &IndexEntry) -> bool {
    IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended).is_intent_to_add()
}

/// Returns the blob and the kind of a staged file. The highest bits of its mode are its type, as git defines it
/// (<https://git-scm.com/docs/index-format>).
pub(super) fn to_file_state(entry: &IndexEntry) -> FileState {
    let kind = match entry.mode & 0o170_000 {
        0o120_000 => FileKind::Symlink,
        0o160_000 => FileKind::Submodule,
        _ => FileKind::Regular,
    };
    FileState { id: entry.id, kind }
}

/// Sorts the files by path. Of several files with the same path, which a conflict in the index causes, keeps the first.
pub(super) fn sort_unique_files(files: impl Iterator<Item = ListedFile>) -> Vec<ListedFile> {
    let mut sorted_files: Vec<ListedFile> = files.collect();
    sorted_files.sort_by(|a, b| a.path.cmp(&b.path));
    sorted_files.dedup_by(|later, first| later.path == first.path);
    sorted_files
}

/// Returns the paths of the unmodified files whose bytes on disk differ from those that git stores, or cannot be read.
pub(super) fn find_converted_paths<'f>(root: &Path, files: &[&'f ListedFile]) -> HashSet<&'f [u8]> {
    files
        .par_iter()
        .filter(|file| file.on_disk)
        .filter_map(|file| {
            let known_state = file.known_state?;
            let path = root.join(std::str::from_utf8(&file.path).ok()?);
            (hash_disk_file(&path) != Some(known_state.id)).then_some(file.path.as_slice())
        })
        .collect()
}

/// Returns the file with this path from a sorted list.
pub(super) fn find_listed_file<'f>(files: &'f [ListedFile], path: &str) -> Option<&'f ListedFile> {
    let index = files
        .binary_search_by(|file| file.path.as_slice().cmp(path.as_bytes()))
        .ok()?;
    files.get(index)
}
