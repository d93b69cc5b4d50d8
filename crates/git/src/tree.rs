//! Reads trees as git stores them.
//!
//! The raw objects are walked without copying each entry; with 100,000 files this keeps a comparison as fast as git's
//! own. A tree may come from anyone, so its format, depth and size are checked.

use super::entries::{Entries, EntrySide, FileKind, TreeEntry, bad, find_entry, path_text};
use super::{BlobId, CommitId, GitError, Repository};
use git2::{ErrorCode, Odb, OdbObject, Oid};
use std::cmp::Ordering;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// Maximum nesting of directories. Each level uses a stack frame; a path of 4,096 bytes, the longest that Linux
/// opens, leaves 32 bytes for each directory's name.
const DEPTH_LIMIT: usize = 128;
/// Maximum number of entries that one walk visits. A tree that repeats the same directory on every level can
/// contain more files than any disk.
const ENTRY_LIMIT: usize = 20_000_000;
/// Maximum number of wanted files of one walk.
const WANTED_LIMIT: usize = 1_000_000;

/// A file in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// The path from the root, with `/`.
    pub path: String,
    pub blob: BlobId,
    pub kind: FileKind,
}

/// A path that differs between two trees; a side without it is `None`.
#[derive(Clone)]
pub(super) struct TreeDifference {
    pub path: String,
    pub old: Option<EntrySide>,
    pub new: Option<EntrySide>,
}

impl Repository {
    /// Returns the wanted files of the commit, sorted by path. `wanted` gets the full path.
    pub fn files(&self, commit: &CommitId, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<TreeFile>, GitError> {
        let found = self.differences(None, commit, wanted)?;
        let files = found.into_iter().filter_map(|difference| {
            let side = difference.new?;
            Some(TreeFile {
                path: difference.path,
                blob: BlobId::new(side.id),
                kind: side.kind,
            })
        });
        Ok(files.collect())
    }

    /// Returns the file with this path in the commit, or `None` if the path is missing or a directory.
    pub fn find_file(&self, commit: &CommitId, path: &str) -> Result<Option<TreeFile>, GitError> {
        let odb = self.odb()?;
        let mut folder = self.root_tree(commit)?;
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            let object = self.read_tree(&odb, folder)?;
            let Some(entry) = find_entry(&object, folder, name, names.peek().is_some())? else {
                return Ok(None);
            };
            folder = entry.id()?;
            if let (Some(kind), None) = (entry.file_kind(), names.peek()) {
                return Ok(Some(TreeFile {
                    path: path.to_owned(),
                    blob: BlobId::new(folder),
                    kind,
                }));
            }
        }
        Ok(None)
    }

    /// Returns whether the commit has a file or a directory with this path.
    pub fn has_path(&self, commit: &CommitId, path: &str) -> Result<bool, GitError> {
        let tree = self
            .library
            .find_tree(self.root_tree(commit)?)
            .map_err(GitError::library("read a tree"))?;
        match tree.get_path(Path::new(path)) {
            Ok(_) => Ok(true),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(false),
            Err(error) => Err(GitError::library("read a tree")(error)),
        }
    }

    /// Returns the names of the directories at the root of the commit's tree; names that are not UTF-8 are skipped.
    pub fn root_folders(&self, commit: &CommitId) -> Result<Vec<String>, GitError> {
        self.root_names(commit, |entry| entry.file_kind().is_none())
    }

    /// Returns the names of the symbolic links at the root of the commit's tree; names that are not UTF-8 are
    /// skipped.
    pub(crate) fn root_links(&self, commit: &CommitId) -> Result<Vec<String>, GitError> {
        self.root_names(commit, |entry| entry.file_kind() == Some(FileKind::Symlink))
    }

    fn root_names(
        &self,
        commit: &CommitId,
        is_wanted: impl Fn(&TreeEntry<'_>) -> bool,
    ) -> Result<Vec<String>, GitError> {
        let odb = self.odb()?;
        let root = self.root_tree(commit)?;
        let object = self.read_tree(&odb, root)?;
        let mut names = Vec::new();
        let mut rest = Entries::of(&object, root);
        while let Some(entry) = rest.next_entry()? {
            if is_wanted(&entry) {
                names.extend(std::str::from_utf8(entry.name).ok().map(str::to_owned));
            }
        }
        Ok(names)
    }

    /// Returns the wanted paths that differ, sorted. Without a base, these are all wanted files of head.
    pub(super) fn differences(
        &self,
        base: Option<&CommitId>,
        head: &CommitId,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<TreeDifference>, GitError> {
        let base = base.map(|commit| self.root_tree(commit)).transpose()?;
        let head = self.root_tree(head)?;
        let odb = self.odb()?;
        let mut walk = TreeWalk {
            repository: self,
            odb: &odb,
            wanted,
            path: Vec::new(),
            depth: 0,
            visited: 0,
            found: Vec::new(),
        };
        if base != Some(head) {
            walk.folders(base, Some(head))?;
        }
        let mut found = walk.found;
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    pub(super) fn odb(&self) -> Result<Odb<'_>, GitError> {
        self.library
            .odb()
            .map_err(GitError::library("open the object database"))
    }

    fn root_tree(&self, commit: &CommitId) -> Result<Oid, GitError> {
        Ok(self.commit(commit)?.tree_id())
    }

    fn read_tree<'a>(&self, odb: &'a Odb<'_>, id: Oid) -> Result<TreeBytes<'a>, GitError> {
        if let Some(tree) = self.kept_trees.borrow().get(id) {
            return Ok(TreeBytes::Kept(tree));
        }
        let object = odb.read(id).map_err(|error| match error.code() {
            ErrorCode::NotFound => self.missing("tree", &id),
            _ => GitError::library("read a tree")(error),
        })?;
        if object.kind() != git2::ObjectType::Tree {
            return Err(bad(id, "it is not a tree object"));
        }
        self.kept_trees.borrow_mut().read(id, object.data());
        Ok(TreeBytes::Read(object))
    }
}

/// The bytes of a tree, as read or from the cache.
enum TreeBytes<'a> {
    Read(OdbObject<'a>),
    Kept(Arc<[u8]>),
}

impl Deref for TreeBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Read(object) => object.data(),
            Self::Kept(bytes) => bytes,
        }
    }
}

/// Walks two trees at once and enters only the directories that differ.
struct TreeWalk<'a> {
    repository: &'a Repository,
    odb: &'a Odb<'a>,
    wanted: &'a dyn Fn(&str) -> bool,
    path: Vec<u8>,
    depth: usize,
    visited: usize,
    found: Vec<TreeDifference>,
}

impl TreeWalk<'_> {
    fn folders(&mut self, old: Option<Oid>, new: Option<Oid>) -> Result<(), GitError> {
        let Some(tree) = new.or(old) else { return Ok(()) };
        if self.depth == DEPTH_LIMIT {
            return Err(bad(tree, "its directories are nested too deeply"));
        }
        let read = |id: Option<Oid>| id.map(|id| self.repository.read_tree(self.odb, id)).transpose();
        let (old_object, new_object) = (read(old)?, read(new)?);
        self.depth += 1;
        self.merge(
            entries(old_object.as_ref(), tree),
            entries(new_object.as_ref(), tree),
        )?;
        self.depth -= 1;
        Ok(())
    }

    fn merge<'t>(&mut self, mut old: Entries<'t>, mut new: Entries<'t>) -> Result<(), GitError> {
        let tree = new.tree;
        self.visited += old.skip_equal(&mut new)?;
        let (mut left, mut right) = (old.next_entry()?, new.next_entry()?);
        loop {
            self.visited += 1;
            if self.visited > ENTRY_LIMIT || self.found.len() > WANTED_LIMIT {
                return Err(bad(tree, "it contains too many files"));
            }
            let order = match (&left, &right) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(left), Some(right)) => left.order(right),
            };
            if left != right {
                self.pair(left.filter(|_| order.is_le()), right.filter(|_| order.is_ge()))?;
            }
            if order.is_eq() {
                self.visited += old.skip_equal(&mut new)?;
            }
            if order.is_le() {
                left = old.next_entry()?;
            }
            if order.is_ge() {
                right = new.next_entry()?;
            }
        }
    }

    /// Adds one differing file, or enters one differing directory. Both sides have the same kind, file or
    /// directory, because the order of the entries keeps a file and a directory of the same name apart.
    fn pair(&mut self, old: Option<TreeEntry<'_>>, new: Option<TreeEntry<'_>>) -> Result<(), GitError> {
        let Some(either) = new.or(old) else { return Ok(()) };
        let length = self.path.len();
        self.path.extend_from_slice(either.name);
        if either.is_folder() {
            self.path.push(b'/');
            let id = |entry: Option<TreeEntry<'_>>| entry.map(|entry| entry.id()).transpose();
            self.folders(id(old)?, id(new)?)?;
        } else {
            self.file(old, new)?;
        }
        self.path.truncate(length);
        Ok(())
    }

    fn file(&mut self, old: Option<TreeEntry<'_>>, new: Option<TreeEntry<'_>>) -> Result<(), GitError> {
        let path = path_text(&self.path);
        if !(self.wanted)(&path) {
            return Ok(());
        }
        if matches!(path, std::borrow::Cow::Owned(_)) {
            return Err(GitError::PathNotUtf8 {
                path: path.into_owned(),
            });
        }
        let side = |entry: Option<TreeEntry<'_>>| entry.map_or(Ok(None), |entry| entry.side());
        let difference = TreeDifference {
            path: path.into_owned(),
            old: side(old)?,
            new: side(new)?,
        };
        self.found.push(difference);
        Ok(())
    }
}

fn entries<'t>(object: Option<&'t TreeBytes<'_>>, tree: Oid) -> Entries<'t> {
    object.map_or(Entries::none(tree), |object| Entries::of(object, tree))
}

/// Compares two lists of files; both must be sorted by path.
pub(super) fn differences(old: Vec<(String, EntrySide)>, new: &[(String, EntrySide)]) -> Vec<TreeDifference> {
    let (mut old, mut new) = (old.into_iter().peekable(), new.iter().cloned().peekable());
    let mut found = Vec::new();
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return found,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((old, _)), Some((new, _))) => old.cmp(new),
        };
        let left = if order.is_le() { old.next() } else { None };
        let right = if order.is_ge() { new.next() } else { None };
        let sides = (
            left.as_ref().map(|(_, side)| *side),
            right.as_ref().map(|(_, side)| *side),
        );
        if let Some((path, _)) = right.or(left)
            && sides.0 != sides.1
        {
            found.push(TreeDifference {
                path,
                old: sides.0,
                new: sides.1,
            });
        }
    }
}
