//! The entries of a raw tree, and what git accepts of them (<https://git-scm.com/docs/git-fsck#_fsck_messages>).

use super::GitError;
use git2::{OdbObject, Oid};

const ID_BYTES: usize = 20;
const LEAVES: &str = "a name in it would leave its folder";

/// What a tree entry is, apart from a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A file, executable or not.
    Regular,
    /// A symbolic link; its blob holds the target.
    Symlink,
    /// Another repository's commit; its id is no blob of this one.
    Submodule,
}

impl FileKind {
    /// Why such an entry is not read as a file; `None` for a file.
    pub const fn why_not_read(self) -> Option<&'static str> {
        match self {
            Self::Regular => None,
            Self::Symlink => Some("a symbolic link, not a file"),
            Self::Submodule => Some("a submodule, not a file"),
        }
    }
}

/// One side of a changed path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntrySide {
    pub id: Oid,
    pub kind: FileKind,
}

pub(super) fn bad(id: Oid, why: &'static str) -> GitError {
    GitError::BadTree {
        id: id.to_string(),
        why,
    }
}

/// What the entries that were read say of those to come. A name that stands twice, also once for a file and once for a
/// folder, or out of order where a search might miss it: programs disagree about which entry counts, so what is judged
/// may not be what is run.
#[derive(Default)]
struct EntriesBefore<'a> {
    last: Option<TreeEntry<'a>>,
    /// The files whose names begin the last one: a folder of the same name may stand a few entries later.
    files: Vec<&'a [u8]>,
}

impl<'a> EntriesBefore<'a> {
    fn follow(&mut self, entry: TreeEntry<'a>) -> Result<(), &'static str> {
        if let Some(last) = self.last.replace(entry) {
            if last.order(&entry).is_ge() {
                return Err("a name in it stands twice, or they are out of order");
            }
            // Two files whose names are as long cannot begin each other: they differ.
            let may_begin = entry.name.len() > last.name.len() || entry.is_folder();
            if may_begin && !last.is_folder() && entry.name.starts_with(last.name) {
                self.files.push(last.name);
            }
        }
        if !self.files.is_empty() {
            self.files.retain(|file| entry.name.starts_with(file));
            if entry.is_folder() && self.files.contains(&entry.name) {
                return Err("a name in it is both a file and a folder");
            }
        }
        Ok(())
    }
}

pub(super) fn find_entry<'a>(
    object: &'a OdbObject<'_>,
    id: Oid,
    name: &str,
    folder: bool,
) -> Result<Option<TreeEntry<'a>>, GitError> {
    let mut entries = Entries::of(object, id);
    let mut found = None;
    while let Some(entry) = entries.next_entry()? {
        if entry.name == name.as_bytes() && entry.is_folder() == folder {
            found = Some(entry);
        }
    }
    Ok(found)
}

/// One entry of a raw tree: octal mode, blank, name, zero, id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeEntry<'a> {
    mode: &'a [u8],
    pub name: &'a [u8],
    id: &'a [u8],
}

impl TreeEntry<'_> {
    pub(super) fn is_folder(&self) -> bool {
        matches!(self.mode, b"40000" | b"040000")
    }

    /// None for a folder.
    pub(super) fn file_kind(&self) -> Option<FileKind> {
        match self.mode {
            b"40000" | b"040000" => None,
            b"120000" => Some(FileKind::Symlink),
            b"160000" => Some(FileKind::Submodule),
            _ => Some(FileKind::Regular),
        }
    }

    pub(super) fn id(&self) -> Result<Oid, GitError> {
        Oid::from_bytes(self.id).map_err(GitError::library("read an object id"))
    }

    pub(super) fn side(&self) -> Result<Option<EntrySide>, GitError> {
        let Some(kind) = self.file_kind() else {
            return Ok(None);
        };
        Ok(Some(EntrySide { id: self.id()?, kind }))
    }

    /// The order of git's trees: by bytes, a folder as if its name ended in `/`.
    pub(super) fn order(&self, other: &Self) -> std::cmp::Ordering {
        let common = self.name.len().min(other.name.len());
        let (start, rest) = self.name.split_at(common);
        let (other_start, other_rest) = other.name.split_at(common);
        let next = |rest: &[u8], folder: bool| rest.first().copied().unwrap_or(if folder { b'/' } else { 0 });
        start
            .cmp(other_start)
            .then_with(|| next(rest, self.is_folder()).cmp(&next(other_rest, other.is_folder())))
            .then_with(|| self.name.len().cmp(&other.name.len()))
    }
}

/// What is left of a raw tree. Whoever reads it to its end has seen that git would accept it.
pub(super) struct Entries<'a> {
    rest: &'a [u8],
    before: EntriesBefore<'a>,
    pub tree: Oid,
}

impl<'a> Entries<'a> {
    pub(super) fn of(object: &'a OdbObject<'_>, tree: Oid) -> Self {
        Self {
            rest: object.data(),
            ..Self::none(tree)
        }
    }

    pub(super) fn none(tree: Oid) -> Self {
        Self {
            rest: &[],
            before: EntriesBefore::default(),
            tree,
        }
    }

    pub(super) fn next_entry(&mut self) -> Result<Option<TreeEntry<'a>>, GitError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (entry, rest) = split_entry(self.rest).map_err(|why| bad(self.tree, why))?;
        self.accept(entry)?;
        self.rest = rest;
        Ok(Some(entry))
    }

    fn accept(&mut self, entry: TreeEntry<'a>) -> Result<(), GitError> {
        if matches!(entry.name, b"" | b"." | b"..") {
            return Err(bad(self.tree, LEAVES));
        }
        self.before.follow(entry).map_err(|why| bad(self.tree, why))
    }

    /// Leaves out the entries that both go on with, and says how many; each is looked at once for both.
    pub(super) fn skip_equal(&mut self, other: &mut Self) -> Result<usize, GitError> {
        let mut skipped = 0;
        while let Ok((entry, rest)) = split_entry(self.rest) {
            let length = self.rest.len() - rest.len();
            if self.rest.get(..length) != other.rest.get(..length) {
                break;
            }
            self.accept(entry)?;
            let is_same_for_both =
                skipped > 0 && self.before.files.is_empty() && other.before.files.is_empty();
            if is_same_for_both {
                other.before.last = Some(entry);
            } else {
                other.accept(entry)?;
            }
            self.rest = rest;
            other.rest = &other.rest[length..];
            skipped += 1;
        }
        Ok(skipped)
    }
}

fn split_entry(raw: &[u8]) -> Result<(TreeEntry<'_>, &[u8]), &'static str> {
    let split = || {
        let blank = raw.iter().take(8).position(|byte| *byte == b' ')?;
        let (mode, rest) = (&raw[..blank], &raw[blank + 1..]);
        let end = memchr::memchr2(0, b'/', rest)?;
        if rest[end] == b'/' {
            return Some(Err(LEAVES));
        }
        let (name, rest) = (&rest[..end], &rest[end + 1..]);
        let (id, rest) = rest.split_at_checked(ID_BYTES)?;
        Some(Ok((TreeEntry { mode, name, id }, rest)))
    };
    split().unwrap_or(Err("an entry is cut off"))
}
