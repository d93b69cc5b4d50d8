//! Which files there are, in the head commit or on disk.

use super::contents::cannot_read;
use super::plan::Content;
use super::{PublishError, Source, Wish};
use crate::git::{CommitId, FileKind, Repository, TreeFile};
use crate::pipelines::Kind;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::FileType;
use std::path::{Component, Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// From this many files on, one walk through the commit is quicker than looking for each.
const MANY: usize = 32;

/// A file that could be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub kind: FileKind,
    pub content: Content,
}

/// The files of a commit or of the working tree.
pub(super) struct Listing<'a> {
    repository: &'a Repository,
    head: &'a CommitId,
    source: Source,
    /// The files that are known without being asked for: the selected ones and all pipelines.
    known: BTreeMap<String, Found>,
    /// Submodules, whose files are not part of the repository.
    pub submodules: Vec<String>,
}

impl<'a> Listing<'a> {
    /// Lists what the wish selects, and all pipelines.
    pub fn new(
        repository: &'a Repository,
        head: &'a CommitId,
        wish: &Wish<'_>,
    ) -> Result<Self, PublishError> {
        let wanted = |path: &str| wish.selects(path) || Kind::from_path(path).is_some();
        let mut listing = Self {
            repository,
            head,
            source: wish.source,
            known: BTreeMap::new(),
            submodules: Vec::new(),
        };
        match wish.source {
            Source::Commit => listing.read_commit(&wanted)?,
            Source::Worktree => listing.walk(&wanted)?,
        }
        Ok(listing)
    }

    /// The selected files and all pipelines, by path.
    pub const fn known(&self) -> &BTreeMap<String, Found> {
        &self.known
    }

    /// Where the files are, in words.
    pub fn place(&self) -> String {
        match self.source {
            Source::Commit => format!("the commit {}", self.head.short()),
            Source::Worktree => "the working tree".to_owned(),
        }
    }

    /// The file with this path, whether selected or not.
    pub fn find(&self, path: &str) -> Result<Option<Found>, PublishError> {
        if let Some(found) = self.known.get(path) {
            return Ok(Some(found.clone()));
        }
        match self.source {
            Source::Commit => Ok(self
                .repository
                .find_file(self.head, path)?
                .map(|file| in_commit(file).1)),
            Source::Worktree => {
                let is_tracked = || Ok(self.repository.find_file(self.head, path)?.is_some());
                self.find_on_disk(path, &is_tracked)
            }
        }
    }

    /// The same for many paths, with one walk through the commit.
    pub fn find_all(&self, paths: &BTreeSet<&str>) -> Result<Vec<Option<Found>>, PublishError> {
        if paths.len() < MANY {
            return paths.iter().map(|path| self.find(path)).collect();
        }
        let asked = |path: &str| paths.contains(path);
        let committed = self.repository.files(self.head, &asked)?;
        let mut committed: BTreeMap<String, Found> = committed.into_iter().map(in_commit).collect();
        let found = paths
            .iter()
            .map(|path| match (self.known.get(*path), self.source) {
                (Some(found), _) => Ok(Some(found.clone())),
                (None, Source::Commit) => Ok(committed.remove(*path)),
                (None, Source::Worktree) => self.find_on_disk(path, &|| Ok(committed.contains_key(*path))),
            });
        found.collect()
    }

    /// The names of the folders at the root.
    pub fn root_folders(&self) -> Result<Vec<String>, PublishError> {
        if self.source == Source::Commit {
            return Ok(self.repository.root_folders(self.head)?);
        }
        let root = self.repository.root();
        let entries = std::fs::read_dir(root).map_err(cannot_read(root))?;
        let folders = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        Ok(folders
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect())
    }

    /// A submodule does not look like one by its path, so where there are any, everything is listed.
    fn read_commit(&mut self, wanted: &dyn Fn(&str) -> bool) -> Result<(), PublishError> {
        let everything = self.repository.find_file(self.head, ".gitmodules")?.is_some();
        let files = self
            .repository
            .files(self.head, &|path| everything || wanted(path))?;
        for file in files {
            if file.kind == FileKind::Submodule {
                self.submodules.push(file.path);
            } else if !everything || wanted(&file.path) {
                let (path, found) = in_commit(file);
                self.known.insert(path, found);
            }
        }
        Ok(())
    }

    fn walk(&mut self, wanted: &dyn Fn(&str) -> bool) -> Result<(), PublishError> {
        if self.repository.is_bare() {
            return Err(PublishError::Bare {
                root: self.repository.root().to_owned(),
            });
        }
        let tracked: HashSet<String> = self
            .repository
            .files(self.head, wanted)?
            .into_iter()
            .map(|file| file.path)
            .collect();
        let root = self.repository.root().to_owned();
        let mut entries = WalkDir::new(&root).follow_links(false).into_iter();
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(|error| walk_error(&root, error))?;
            if entry.file_type().is_dir() {
                if self.is_closed(&root, &entry) {
                    entries.skip_current_dir();
                }
                continue;
            }
            let path = relative(&root, entry.path());
            if entry.file_name() == ".git" || !wanted(&path) {
                continue;
            }
            if tracked.contains(&path) || !self.repository.is_ignored(&path)? {
                refuse_odd_name(&entry, &path)?;
                self.known
                    .extend(file_on_disk(entry.file_type(), entry.path()).map(|found| (path, found)));
            }
        }
        Ok(())
    }

    /// Git's own folder, and other repositories within this one.
    fn is_closed(&mut self, root: &Path, entry: &DirEntry) -> bool {
        let is_other = entry.depth() > 0 && entry.path().join(".git").symlink_metadata().is_ok();
        if is_other {
            self.submodules.push(relative(root, entry.path()));
        }
        is_other || entry.file_name() == ".git"
    }

    fn find_on_disk(
        &self,
        path: &str,
        is_tracked: &dyn Fn() -> Result<bool, PublishError>,
    ) -> Result<Option<Found>, PublishError> {
        let plain = |part: Component<'_>| matches!(part, Component::Normal(name) if name != ".git");
        if path.is_empty()
            || !Path::new(path).components().all(plain)
            || relative(Path::new(""), Path::new(path)) != path
        {
            return Ok(None);
        }
        let mut full = self.repository.root().to_owned();
        let parts: Vec<&str> = path.split('/').collect();
        let Some((name, folders)) = parts.split_last() else {
            return Ok(None);
        };
        for folder in folders {
            full.push(folder);
            if !full.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
                return Ok(None);
            }
        }
        full.push(name);
        let Some(found) = on_disk(&full) else {
            return Ok(None);
        };
        Ok((is_tracked()? || !self.repository.is_ignored(path)?).then_some(found))
    }
}

fn in_commit(file: TreeFile) -> (String, Found) {
    (
        file.path,
        Found {
            kind: file.kind,
            content: Content::Blob(file.blob),
        },
    )
}

fn on_disk(path: &Path) -> Option<Found> {
    file_on_disk(path.symlink_metadata().ok()?.file_type(), path)
}

/// A file or symbolic link; folders, sockets and the like are nothing.
fn file_on_disk(file_type: FileType, path: &Path) -> Option<Found> {
    let kind = match (file_type.is_file(), file_type.is_symlink()) {
        (true, _) => FileKind::Regular,
        (_, true) => FileKind::Symlink,
        _ => return None,
    };
    Some(Found {
        kind,
        content: Content::File(path.to_owned()),
    })
}

/// The path from the root with `/`; what is not UTF-8 becomes U+FFFD.
fn relative(root: &Path, path: &Path) -> String {
    let inner = path.strip_prefix(root).unwrap_or(path);
    let parts = inner.components().map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

fn refuse_odd_name(entry: &DirEntry, path: &str) -> Result<(), PublishError> {
    if path.contains('\u{fffd}') && entry.path().to_str().is_none() {
        return Err(PublishError::NameNotUtf8 {
            path: path.to_owned(),
        });
    }
    Ok(())
}

fn walk_error(root: &Path, error: walkdir::Error) -> PublishError {
    let path = error.path().map_or_else(|| root.to_owned(), PathBuf::from);
    PublishError::Io {
        path,
        source: error.into(),
    }
}
