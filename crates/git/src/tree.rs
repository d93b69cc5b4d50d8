//! Reads trees as git stores them.
//!
//! The raw objects are walked without copying each entry; with 100,000 files this keeps a comparison as fast as git's
//! own. A tree may come from anyone, so its format, depth and size are checked.

use super::tree_difference::TreeDifference;
use super::tree_entries::{FileKind, TreeEntries, TreeEntry, find_entry, invalid_tree, path_to_text};
use super::wanted_files::{InvalidNames, WantedFiles};
use super::{BlobId, CommitId, GitError, Repository};
use git2::{ErrorCode, ObjectType, Odb, OdbObject, Oid};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

/// Maximum nesting of directories. Each level uses a stack frame; a path of 4,096 bytes, the longest that Linux
/// opens, leaves 32 bytes for each directory's name.
const MAX_DEPTH: usize = 128;
/// Maximum number of entries that one walk visits. A tree that repeats the same directory on every level can
/// contain more files than any disk.
const MAX_ENTRIES: usize = 20_000_000;
/// Maximum number of wanted files of one walk.
const MAX_WANTED_FILES: usize = 1_000_000;

/// A file in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// The path from the root, with `/`.
    pub path: String,
    pub blob: BlobId,
    pub kind: FileKind,
}

impl Repository {
    /// Returns the wanted files of the commit, sorted by path. `is_wanted` gets the full path. In a partial clone, also
    /// records the documents among the files, to fetch them together later. Fails if the path of a wanted file is not
    /// UTF-8.
    pub fn list_files(
        &self,
        commit: &CommitId,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<TreeFile>, GitError> {
        self.list_wanted_files(commit, WantedFiles::Matching(is_wanted), InvalidNames::Reject)
    }

    /// Returns the wanted files of a commit that others are compared with, as [`Self::list_files`] does, but without
    /// files whose path is not UTF-8: a change must be able to delete or rename such a file.
    pub fn list_base_files(
        &self,
        base: &CommitId,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<TreeFile>, GitError> {
        self.list_wanted_files(base, WantedFiles::Matching(is_wanted), InvalidNames::Skip)
    }

    /// Returns the existing files among these paths, sorted by path. Reads only the directories that lead to one of the
    /// paths. In a partial clone, also records the documents among the files, to fetch them together later.
    pub fn find_files(&self, commit: &CommitId, paths: &BTreeSet<&str>) -> Result<Vec<TreeFile>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let wanted_files = WantedFiles::Listed(paths.iter().peekable());
        self.list_wanted_files(commit, wanted_files, InvalidNames::Skip)
    }

    /// Returns the submodules of the commit, sorted by path, without those whose path is not UTF-8.
    pub(crate) fn list_submodules(&self, commit: &CommitId) -> Result<Vec<TreeFile>, GitError> {
        self.list_wanted_files(commit, WantedFiles::Submodules, InvalidNames::Skip)
    }

    fn list_wanted_files(
        &self,
        commit: &CommitId,
        wanted_files: WantedFiles<'_>,
        invalid_names: InvalidNames,
    ) -> Result<Vec<TreeFile>, GitError> {
        let differences = self.list_tree_differences(None, commit, wanted_files, invalid_names)?;
        let files = differences
            .iter()
            .filter_map(|difference| Some((difference.path.as_str(), difference.new?)));
        self.record_expected_documents(files);
        Ok(differences
            .into_iter()
            .filter_map(|difference| {
                let state = difference.new?;
                Some(TreeFile {
                    path: difference.path,
                    blob: BlobId::new(state.id),
                    kind: state.kind,
                })
            })
            .collect())
    }

    /// Returns the file with this path in the commit, or `None` if the path is missing or a directory.
    pub fn find_file(&self, commit: &CommitId, path: &str) -> Result<Option<TreeFile>, GitError> {
        let odb = self.open_odb()?;
        let mut id = self.root_tree_id(commit)?;
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            // All names but the last must be directories.
            let is_folder = names.peek().is_some();
            let object = self.read_tree(&odb, id)?;
            let Some(entry) = find_entry(&object, id, name, is_folder)? else {
                return Ok(None);
            };
            id = entry.id()?;
            if !is_folder && let Some(kind) = entry.file_kind() {
                return Ok(Some(TreeFile {
                    path: path.to_owned(),
                    blob: BlobId::new(id),
                    kind,
                }));
            }
        }
        Ok(None)
    }

    /// Returns whether the commit has a file or a directory with this path.
    pub fn has_path(&self, commit: &CommitId, path: &str) -> Result<bool, GitError> {
        let mut id = self.root_tree_id(commit)?;
        let mut names = path.strip_suffix('/').unwrap_or(path).split('/').peekable();
        while let Some(name) = names.next() {
            self.check_object(id)?;
            let tree = self
                .library
                .find_tree(id)
                .map_err(GitError::library("read a tree"))?;
            let Some(entry) = tree.get_name(name) else {
                return Ok(false);
            };
            // All names but the last must be directories.
            let must_be_folder = names.peek().is_some() || path.ends_with('/');
            if must_be_folder && entry.kind() != Some(ObjectType::Tree) {
                return Ok(false);
            }
            id = entry.id();
        }
        Ok(true)
    }

    /// Returns the names of the directories at the root of the commit's tree; names that are not UTF-8 are skipped.
    pub fn list_root_folders(&self, commit: &CommitId) -> Result<Vec<String>, GitError> {
        self.list_root_names(commit, |entry| entry.file_kind().is_none())
    }

    /// Returns the names of the symbolic links at the root of the commit's tree; names that are not UTF-8 are
    /// skipped.
    pub(crate) fn list_root_links(&self, commit: &CommitId) -> Result<Vec<String>, GitError> {
        self.list_root_names(commit, |entry| entry.file_kind() == Some(FileKind::Symlink))
    }

    /// Returns the names of the wanted entries in the root directory of the commit; names that are not UTF-8 are
    /// skipped.
    fn list_root_names(
        &self,
        commit: &CommitId,
        is_wanted: impl Fn(&TreeEntry<'_>) -> bool,
    ) -> Result<Vec<String>, GitError> {
        let odb = self.open_odb()?;
        let root = self.root_tree_id(commit)?;
        let object = self.read_tree(&odb, root)?;
        let mut names = Vec::new();
        let mut entries = TreeEntries::new(&object, root);
        while let Some(entry) = entries.next_entry()? {
            if is_wanted(&entry) {
                names.extend(std::str::from_utf8(entry.name).ok().map(str::to_owned));
            }
        }
        Ok(names)
    }

    /// Returns the wanted files that differ between the trees of base and head, sorted by path. Without a base, these
    /// are all wanted files of head. A file whose path is not UTF-8 is skipped if only base has it, because a change
    /// must be able to delete or rename it. `invalid_names` applies to such a file of head.
    pub(super) fn list_tree_differences(
        &self,
        base: Option<&CommitId>,
        head: &CommitId,
        wanted_files: WantedFiles<'_>,
        invalid_names: InvalidNames,
    ) -> Result<Vec<TreeDifference>, GitError> {
        let base_tree = base.map(|commit| self.root_tree_id(commit)).transpose()?;
        let head_tree = self.root_tree_id(head)?;
        let odb = self.open_odb()?;
        let mut walk = TreeWalk {
            repository: self,
            odb: &odb,
            wanted_files,
            invalid_names,
            path: Vec::new(),
            depth: 0,
            visited_count: 0,
            differences: Vec::new(),
        };
        if base_tree != Some(head_tree) {
            walk.compare_folders(base_tree, Some(head_tree))?;
        }
        // Another mode of a file is no difference, because the index and the working tree are compared without modes.
        walk.differences
            .retain(|difference| difference.old != difference.new);
        walk.differences.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(walk.differences)
    }

    pub(super) fn open_odb(&self) -> Result<Odb<'_>, GitError> {
        self.library
            .odb()
            .map_err(GitError::library("open the object database"))
    }

    fn root_tree_id(&self, commit: &CommitId) -> Result<Oid, GitError> {
        Ok(self.find_commit(commit)?.tree_id())
    }

    /// Reads a tree object, from the cache if it was read before.
    fn read_tree<'a>(&self, odb: &'a Odb<'_>, id: Oid) -> Result<TreeContent<'a>, GitError> {
        if let Some(tree) = self.tree_cache.borrow().get(id) {
            return Ok(TreeContent::Cached(tree));
        }
        self.check_object(id)?;
        let object = odb.read(id).map_err(|error| match error.code() {
            ErrorCode::NotFound => self.missing_object_error("tree", &id),
            _ => GitError::library("read a tree")(error),
        })?;
        if object.kind() != ObjectType::Tree {
            return Err(invalid_tree(id, "the object is not a tree object"));
        }
        self.tree_cache.borrow_mut().record_tree_read(id, object.data());
        Ok(TreeContent::Read(object))
    }
}

/// The bytes of a tree, as read or from the cache.
enum TreeContent<'a> {
    Read(OdbObject<'a>),
    Cached(Arc<[u8]>),
}

impl Deref for TreeContent<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Read(object) => object.data(),
            Self::Cached(bytes) => bytes,
        }
    }
}

/// Walks two trees at once and enters only the directories that differ.
struct TreeWalk<'a, 'w> {
    repository: &'a Repository,
    odb: &'a Odb<'a>,
    wanted_files: WantedFiles<'w>,
    invalid_names: InvalidNames,
    path: Vec<u8>,
    depth: usize,
    visited_count: usize,
    differences: Vec<TreeDifference>,
}

impl TreeWalk<'_, '_> {
    /// Compares two directories; one may be missing. Fails if they are nested too deeply.
    fn compare_folders(&mut self, old: Option<Oid>, new: Option<Oid>) -> Result<(), GitError> {
        let Some(tree) = new.or(old) else { return Ok(()) };
        if self.depth == MAX_DEPTH {
            return Err(invalid_tree(tree, "the directories are nested too deeply"));
        }
        let read_tree = |id| self.repository.read_tree(self.odb, id);
        let old_object = old.map(read_tree).transpose()?;
        let new_object = new.map(read_tree).transpose()?;
        self.depth += 1;
        self.compare_entries(
            create_entry_reader(old_object.as_ref(), tree),
            create_entry_reader(new_object.as_ref(), tree),
        )?;
        self.depth -= 1;
        Ok(())
    }

    /// Compares the entries of two directories in one pass, because both are sorted. Sequences of equal entries are
    /// skipped. Fails if there are too many entries or differences.
    fn compare_entries<'t>(
        &mut self,
        mut old: TreeEntries<'t>,
        mut new: TreeEntries<'t>,
    ) -> Result<(), GitError> {
        let tree = new.tree;
        self.visited_count += old.skip_equal_entries(&mut new)?;
        let (mut old_entry, mut new_entry) = (old.next_entry()?, new.next_entry()?);
        loop {
            self.visited_count += 1;
            if self.visited_count > MAX_ENTRIES || self.differences.len() > MAX_WANTED_FILES {
                return Err(invalid_tree(tree, "the tree contains too many files"));
            }
            // The entry that is first in the order is compared: `Less` means that only the old directory has it,
            // `Greater` that only the new one has it, and `Equal` that both have an entry with this name.
            let order = match (&old_entry, &new_entry) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old_entry), Some(new_entry)) => old_entry.cmp_in_tree(new_entry),
            };
            if old_entry != new_entry {
                self.add_difference(
                    old_entry.filter(|_| order.is_le()),
                    new_entry.filter(|_| order.is_ge()),
                )?;
            }
            if order.is_eq() {
                self.visited_count += old.skip_equal_entries(&mut new)?;
            }
            if order.is_le() {
                old_entry = old.next_entry()?;
            }
            if order.is_ge() {
                new_entry = new.next_entry()?;
            }
        }
    }

    /// Adds one differing file, or enters one differing directory. Both sides have the same kind, file or
    /// directory, because the order of the entries keeps a file and a directory of the same name apart.
    fn add_difference(
        &mut self,
        old: Option<TreeEntry<'_>>,
        new: Option<TreeEntry<'_>>,
    ) -> Result<(), GitError> {
        let Some(entry) = new.or(old) else { return Ok(()) };
        let parent_length = self.path.len();
        self.path.extend_from_slice(entry.name);
        if entry.is_folder() {
            self.path.push(b'/');
            if self.wanted_files.may_be_in_folder(&self.path) {
                let old_id = old.map(|entry| entry.id()).transpose()?;
                let new_id = new.map(|entry| entry.id()).transpose()?;
                self.compare_folders(old_id, new_id)?;
            }
        } else {
            self.add_file_difference(old, new)?;
        }
        self.path.truncate(parent_length);
        Ok(())
    }

    /// Adds the difference of a file at the current path, if the file is wanted. If the path is not UTF-8, fails or
    /// skips the file, and always skips a file that only the old tree has.
    fn add_file_difference(
        &mut self,
        old: Option<TreeEntry<'_>>,
        new: Option<TreeEntry<'_>>,
    ) -> Result<(), GitError> {
        let kind = new.or(old).and_then(|entry| entry.file_kind());
        if !self.wanted_files.has_file(&self.path, kind) {
            return Ok(());
        }
        let path = path_to_text(&self.path);
        // The text is owned only if bytes that are not UTF-8 were replaced in it.
        if matches!(path, std::borrow::Cow::Owned(_)) {
            if new.is_none() || self.invalid_names == InvalidNames::Skip {
                return Ok(());
            }
            return Err(GitError::PathNotUtf8 {
                path: path.into_owned(),
            });
        }
        self.differences.push(TreeDifference {
            path: path.into_owned(),
            old: old.map_or(Ok(None), |entry| entry.file_state())?,
            new: new.map_or(Ok(None), |entry| entry.file_state())?,
        });
        Ok(())
    }
}

/// Returns a reader of the directory's entries; a missing directory has none. `tree` is the id for errors.
fn create_entry_reader<'t>(object: Option<&'t TreeContent<'_>>, tree: Oid) -> TreeEntries<'t> {
    object.map_or(TreeEntries::empty(tree), |object| TreeEntries::new(object, tree))
}
