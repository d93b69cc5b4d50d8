//! Lists the staged files, and the files on disk, with the help of git's index.
//!
//! Unmodified files on disk are recognized by the metadata that the index records (size, times), so that a working tree
//! of 100,000 files is listed without reading them. The index may be another file than the repository's own: git passes
//! a temporary one to its hooks, for example for `git commit -a`.

use super::disk::{kind_on_disk, stored_id};
use super::entries::{EntrySide, FileKind, path_text};
use super::index_file::open_index;
use super::{GitError, Repository};
use git2::{
    Index, IndexEntry, IndexEntryExtendedFlag, IndexEntryFlag, Oid, Status, StatusOptions, StatusShow,
};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Maximum number of conflicting files that an error lists.
const NAMED_CONFLICTS: usize = 10;

/// A file that is staged or on disk.
pub(super) struct Listed {
    /// The path from the root, with `/`.
    pub path: Vec<u8>,
    /// Its blob, if git knows it.
    pub known: Option<EntrySide>,
    /// The content must be read from disk.
    pub on_disk: bool,
    /// The index marks the file as not to be checked on disk (`skip-worktree`, `assume-unchanged`).
    pub hidden: bool,
    /// The file outside of the repository that contains its content.
    pub stand_in: Option<PathBuf>,
}

impl Listed {
    /// Creates an entry whose content is in another file.
    pub(super) fn stand_in(path: &str, content: PathBuf) -> Self {
        Self {
            path: path.as_bytes().to_vec(),
            known: None,
            on_disk: true,
            hidden: false,
            stand_in: Some(content),
        }
    }

    /// Creates an entry for a file that git does not know.
    pub(super) const fn unknown_to_git(path: Vec<u8>) -> Self {
        Self {
            path,
            known: None,
            on_disk: true,
            hidden: false,
            stand_in: None,
        }
    }

    /// Returns its kind, by git if it knows the file, otherwise by the disk; `None` if it is gone.
    pub(super) fn kind(&self, root: &Path) -> Option<FileKind> {
        let known = self.known.map(|side| side.kind);
        known.or_else(|| kind_on_disk(&self.place(root)))
    }

    /// Returns its blob and kind, by git if it knows the file, otherwise by the disk. The id of content that cannot be read
    /// or hashed equals no other, so the file counts as changed.
    pub(super) fn side(&self, root: &Path) -> Option<EntrySide> {
        let on_disk = || {
            let full = self.place(root);
            let kind = kind_on_disk(&full)?;
            let id = stored_id(&full).unwrap_or(Oid::ZERO_SHA1);
            Some(EntrySide { id, kind })
        };
        self.known.or_else(on_disk)
    }

    /// Returns the path of its content on disk.
    pub(super) fn place(&self, root: &Path) -> PathBuf {
        let own = || root.join(&*self.shown_path());
        self.stand_in.clone().unwrap_or_else(own)
    }

    /// Returns the path, with `\u{fffd}` in place of bytes that are not UTF-8.
    pub(super) fn shown_path(&self) -> Cow<'_, str> {
        path_text(&self.path)
    }

    pub(super) fn utf8_path(&self) -> Result<String, GitError> {
        match self.shown_path() {
            Cow::Borrowed(path) => Ok(path.to_owned()),
            Cow::Owned(path) => Err(GitError::PathNotUtf8 { path }),
        }
    }
}

/// Returns the staged files, by path. A file that was only announced (`git add -N`) is not staged.
pub(super) fn staged(repository: &Repository, file: Option<&Path>) -> Result<Vec<Listed>, GitError> {
    let index = open_index(repository, file)?;
    refuse_conflicts(&index)?;
    let staged = index.iter().filter(|entry| !is_announced(entry));
    Ok(sorted(staged.map(|entry| Listed {
        known: Some(side(&entry)),
        path: entry.path,
        on_disk: false,
        hidden: false,
        stand_in: None,
    })))
}

/// Returns whether the index has an entry with this path, including conflicts.
pub(super) fn is_in_index(
    repository: &Repository,
    file: Option<&Path>,
    path: &str,
) -> Result<bool, GitError> {
    let index = open_index(repository, file)?;
    Ok((0..=3).any(|stage| index.get_path(Path::new(path), stage).is_some()))
}

/// Returns the paths of the index entries at or below this path.
pub(super) fn in_index(repository: &Repository, path: &str) -> Result<BTreeSet<String>, GitError> {
    let folder = format!("{path}/");
    let index = open_index(repository, None)?;
    let is_there = |entry: &[u8]| entry == path.as_bytes() || entry.starts_with(folder.as_bytes());
    let entries = index.iter().filter(|entry| is_there(&entry.path));
    Ok(entries
        .map(|entry| String::from_utf8_lossy(&entry.path).into_owned())
        .collect())
}

pub(super) struct OnDisk {
    /// By path.
    pub files: Vec<Listed>,
    /// Whether attributes are set, in a file of the repository or the clone, so that git may have checked out other
    /// bytes than it stores.
    pub has_attributes: bool,
}

/// Returns the files on disk that are tracked, or neither tracked nor ignored. A file that a sparse checkout omits
/// is listed in its staged version.
pub(super) fn on_disk(repository: &Repository, file: Option<&Path>) -> Result<OnDisk, GitError> {
    let mut index = open_index(repository, file)?;
    repository
        .library
        .set_index(&mut index)
        .map_err(GitError::library("use the index"))?;
    let mut options = StatusOptions::new();
    options
        .show(StatusShow::Workdir)
        .include_untracked(true)
        .recurse_untracked_dirs(true)
        .exclude_submodules(true);
    let statuses = repository
        .library
        .statuses(Some(&mut options))
        .map_err(GitError::library("compare the working tree with the index"))?;
    let mut touched: HashMap<Vec<u8>, Status> = statuses
        .iter()
        .map(|entry| (entry.path_bytes().to_vec(), entry.status()))
        .collect();
    let has_attributes = repository.library.path().join("info/attributes").exists()
        || touched.keys().any(|path| is_attributes(path))
        || index.iter().any(|entry| is_attributes(&entry.path));
    let tracked: Vec<Listed> = index
        .iter()
        .filter_map(|entry| {
            let status = touched.remove(&entry.path);
            let status = status.filter(|_| !is_unmodified(repository.root(), &entry, has_attributes));
            tracked(repository.root(), entry, status)
        })
        .collect();
    let untracked = touched.into_iter().filter(|(_, status)| status.is_wt_new());
    let untracked = untracked.map(|(path, _)| untracked_file(path));
    Ok(OnDisk {
        files: sorted(tracked.into_iter().chain(untracked)),
        has_attributes,
    })
}

fn is_attributes(path: &[u8]) -> bool {
    path.strip_suffix(b".gitattributes")
        .is_some_and(|folder| folder.is_empty() || folder.ends_with(b"/"))
}

/// Returns an untracked file. Another repository is reported as a directory with a trailing slash and is not
/// entered.
fn untracked_file(mut path: Vec<u8>) -> Listed {
    let is_repository = path.ends_with(b"/");
    path.truncate(path.len() - usize::from(is_repository));
    let repository = EntrySide {
        id: Oid::ZERO_SHA1,
        kind: FileKind::Submodule,
    };
    Listed {
        path,
        known: is_repository.then_some(repository),
        on_disk: !is_repository,
        hidden: false,
        stand_in: None,
    }
}

/// Returns whether git considers the file unmodified although libgit2 reports a change. libgit2 applies neither
/// encodings nor filters, so it can report a difference in content where there is none; git compares size and time
/// first.
fn is_unmodified(root: &Path, entry: &IndexEntry, has_attributes: bool) -> bool {
    let Some(path) = std::str::from_utf8(&entry.path).ok().filter(|_| has_attributes) else {
        return false;
    };
    let found = root.join(path).symlink_metadata();
    found.is_ok_and(|found| {
        let since = found
            .modified()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        found.is_file()
            && u64::from(entry.file_size) == found.len()
            && since.is_some_and(|since| {
                i128::from(entry.mtime.seconds()) == i128::from(since.as_secs())
                    && entry.mtime.nanoseconds() == since.subsec_nanos()
            })
    })
}

/// Returns the entry of a tracked file, or `None` if it is deleted. A hidden file is still read from disk, so that
/// its changes are found. A file that a sparse checkout omits keeps its staged version. libgit2 reports a file as
/// deleted if a pipe or a device has replaced it, so the disk is checked again.
fn tracked(root: &Path, entry: IndexEntry, status: Option<Status>) -> Option<Listed> {
    let is_skipped = IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended).is_skip_worktree();
    let hidden = is_skipped || IndexEntryFlag::from_bits_truncate(entry.flags).is_valid();
    let seems_gone = status.is_some_and(|status| status.is_wt_deleted());
    let is_gone = (seems_gone || hidden) && !stands_on_disk(root, &entry.path);
    if is_gone && !is_skipped {
        return None;
    }
    // In a conflict the index has the path several times, and the file on disk differs from all of them.
    let is_plain = stage(&entry) == 0 && !is_announced(&entry);
    let is_untouched = is_plain && (is_gone || (status.is_none() && !hidden));
    let side = side(&entry);
    Some(Listed {
        path: entry.path,
        known: is_untouched.then_some(side),
        on_disk: !is_gone && side.kind != FileKind::Submodule,
        hidden,
        stand_in: None,
    })
}

fn stands_on_disk(root: &Path, path: &[u8]) -> bool {
    let path = std::str::from_utf8(path).ok();
    let found = path.and_then(|path| root.join(path).symlink_metadata().ok());
    found.is_some_and(|found| !found.is_dir())
}

fn refuse_conflicts(index: &Index) -> Result<(), GitError> {
    if !index.has_conflicts() {
        return Ok(());
    }
    let mut paths: Vec<String> = index
        .iter()
        .filter(|entry| stage(entry) != 0)
        .map(|entry| String::from_utf8_lossy(&entry.path).into_owned())
        .collect();
    paths.dedup();
    paths.truncate(NAMED_CONFLICTS);
    Err(GitError::Conflicts { paths })
}

/// Returns the side of a conflict that an entry is; 0 without a conflict. See
/// <https://git-scm.com/docs/index-format>.
const fn stage(entry: &IndexEntry) -> u16 {
    (entry.flags >> 12) & 3
}

fn is_announced(entry: &IndexEntry) -> bool {
    IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended).is_intent_to_add()
}

fn side(entry: &IndexEntry) -> EntrySide {
    let kind = match entry.mode & 0o170_000 {
        0o120_000 => FileKind::Symlink,
        0o160_000 => FileKind::Submodule,
        _ => FileKind::Regular,
    };
    EntrySide { id: entry.id, kind }
}

pub(super) fn sorted(files: impl Iterator<Item = Listed>) -> Vec<Listed> {
    let mut files: Vec<Listed> = files.collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|later, first| later.path == first.path);
    files
}
