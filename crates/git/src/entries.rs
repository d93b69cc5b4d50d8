//! Entries of a raw tree, and the checks that git makes (<https://git-scm.com/docs/git-fsck#_fsck_messages>).

use super::GitError;
use git2::Oid;
use std::borrow::Cow;

const ID_BYTES: usize = 20;
const LEAVES: &str = "an entry has a name that would leave its directory";

/// The kind of a tree entry that is not a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A file, executable or not.
    Regular,
    /// A symbolic link; its blob contains the target.
    Symlink,
    /// A commit of another repository; its id is not a blob of this one.
    Submodule,
}

impl FileKind {
    /// Returns the reason why such an entry is not read as a file, or `None` for a file.
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

/// Returns the path, with `\u{fffd}` in place of bytes that are not UTF-8. Almost every path is UTF-8, and to check that
/// is several times faster than to look for the first byte that is not.
pub(super) fn path_text(path: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(path) {
        Ok(path) => Cow::Borrowed(path),
        Err(_) => String::from_utf8_lossy(path),
    }
}

pub(super) fn bad(id: Oid, why: &'static str) -> GitError {
    GitError::BadTree {
        id: id.to_string(),
        why,
    }
}

/// The previous entries of a tree, to check the next one. Rejects duplicate names, a name used for both a file and
/// a directory, and entries out of order: programs disagree about which entry is valid, so the reviewed file might not
/// be the one that is run.
#[derive(Default)]
struct EntriesBefore<'a> {
    last: Option<TreeEntry<'a>>,
    /// Files whose names are prefixes of the last name: a directory of the same name may follow a few entries
    /// later.
    files: Vec<&'a [u8]>,
}

impl<'a> EntriesBefore<'a> {
    fn follow(&mut self, entry: TreeEntry<'a>) -> Result<(), &'static str> {
        if let Some(last) = self.last.replace(entry) {
            if last.order(&entry).is_ge() {
                return Err("its entries are duplicated or out of order");
            }
            // Two different files with names of the same length cannot be prefixes of each other.
            let may_begin = entry.name.len() > last.name.len() || entry.is_folder();
            if may_begin && !last.is_folder() && entry.name.starts_with(last.name) {
                self.files.push(last.name);
            }
        }
        if !self.files.is_empty() {
            self.files.retain(|file| entry.name.starts_with(file));
            if entry.is_folder() && self.files.contains(&entry.name) {
                return Err("it has a file and a directory with the same name");
            }
        }
        Ok(())
    }
}

pub(super) fn find_entry<'a>(
    object: &'a [u8],
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

/// The bits of a mode that tell the type of the entry, and the types that git knows. Git ignores the other bits of old
/// trees, for example `40755` and `100664`.
const TYPE_BITS: u32 = 0o170_000;
const DIRECTORY: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;
const SYMLINK: u32 = 0o120_000;
const SUBMODULE: u32 = 0o160_000;

/// An entry of a raw tree: octal mode, blank, name, zero byte, id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeEntry<'a> {
    mode: u32,
    pub name: &'a [u8],
    id: &'a [u8],
}

impl TreeEntry<'_> {
    pub(super) fn is_folder(&self) -> bool {
        self.mode & TYPE_BITS == DIRECTORY
    }

    /// Returns the kind of the file, or `None` for a directory.
    pub(super) fn file_kind(&self) -> Option<FileKind> {
        match self.mode & TYPE_BITS {
            DIRECTORY => None,
            SYMLINK => Some(FileKind::Symlink),
            SUBMODULE => Some(FileKind::Submodule),
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

    /// Compares two entries in the order of git's trees: by bytes, as if the name of a directory ended in `/`.
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

/// The unread rest of a raw tree. Reading it to its end checks that git would accept it.
pub(super) struct Entries<'a> {
    rest: &'a [u8],
    before: EntriesBefore<'a>,
    pub tree: Oid,
}

impl<'a> Entries<'a> {
    pub(super) fn of(object: &'a [u8], tree: Oid) -> Self {
        Self {
            rest: object,
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

    /// Skips the entries that are equal in both trees and returns their number; each is checked once for both.
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
        let mode = match mode {
            b"100644" => Some(0o100_644),
            b"40000" => Some(DIRECTORY),
            _ => parse_mode(mode),
        };
        let Some(mode) = mode else {
            return Some(Err("an entry has a type that git does not know"));
        };
        Some(Ok((TreeEntry { mode, name, id }, rest)))
    };
    split().unwrap_or(Err("an entry is cut off"))
}

/// Returns the octal number, or `None` if its type is unknown.
fn parse_mode(octal: &[u8]) -> Option<u32> {
    let mut mode: u32 = 0;
    for digit in octal {
        let value = u32::from(digit.checked_sub(b'0')?);
        if value > 7 {
            return None;
        }
        mode = mode << 3 | value;
    }
    matches!(mode & TYPE_BITS, DIRECTORY | REGULAR | SYMLINK | SUBMODULE).then_some(mode)
}
