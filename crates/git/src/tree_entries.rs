//! Entries of a raw tree, and the checks that git makes (<https://git-scm.com/docs/git-fsck#_fsck_messages>).

use super::GitError;
use git2::Oid;
use std::borrow::Cow;

const ID_BYTES: usize = 20;
const ESCAPING_NAME: &str = "the name of a tree entry leads out of its directory";

/// The kind of a tree entry that is not a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A file, executable or not.
    Regular,
    /// A symbolic link; its blob contains the target.
    Symlink,
    /// A commit of another repository; its id is not a blob of this repository.
    Submodule,
}

impl FileKind {
    /// Returns the reason why an entry of this kind is not read as a file, or `None` for a regular file.
    pub const fn unreadable_reason(self) -> Option<&'static str> {
        match self {
            Self::Regular => None,
            Self::Symlink => Some("a symbolic link, not a file"),
            Self::Submodule => Some("a submodule, not a file"),
        }
    }
}

/// The blob and the kind of a file, in the old or the new tree of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FileState {
    pub id: Oid,
    pub kind: FileKind,
}

/// Returns the path, with `\u{fffd}` in place of bytes that are not UTF-8. Almost every path is UTF-8, and for these
/// paths `from_utf8` is several times faster than `from_utf8_lossy`.
pub(super) fn path_to_text(path: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(path) {
        Ok(path) => Cow::Borrowed(path),
        Err(_) => String::from_utf8_lossy(path),
    }
}

/// Returns the error that a tree object is invalid.
pub(super) fn invalid_tree(id: Oid, reason: &'static str) -> GitError {
    GitError::InvalidTree {
        id: id.to_string(),
        reason,
    }
}

/// The previous entries of a tree, to check the next one. Rejects duplicate names, a name used for both a file and
/// a directory, and entries out of order: programs disagree about which entry is valid, so the reviewed file might not
/// be the one that is run.
#[derive(Default)]
struct EntryOrder<'a> {
    previous: Option<TreeEntry<'a>>,
    /// Files whose names are prefixes of the last name: a directory of the same name may follow a few entries
    /// later.
    prefix_files: Vec<&'a [u8]>,
}

impl<'a> EntryOrder<'a> {
    /// Checks that the entry comes after the previous one in git's order, and that no earlier entry has its name. In
    /// this order, entries such as `a.b` are between a file `a` and a directory `a`, so the file is remembered as long
    /// as its name is a prefix of the next names.
    fn check_next_entry(&mut self, entry: TreeEntry<'a>) -> Result<(), &'static str> {
        if let Some(last) = self.previous.replace(entry) {
            if last.cmp_in_tree(&entry).is_ge() {
                return Err("the entries of the tree are duplicated or out of order");
            }
            // This comparison only saves time: it avoids most calls of `starts_with`.
            let can_be_prefix = entry.name.len() > last.name.len() || entry.is_folder();
            if can_be_prefix && !last.is_folder() && entry.name.starts_with(last.name) {
                self.prefix_files.push(last.name);
            }
        }
        if !self.prefix_files.is_empty() {
            self.prefix_files.retain(|file| entry.name.starts_with(file));
            if entry.is_folder() && self.prefix_files.contains(&entry.name) {
                return Err("the tree has a file and a directory with the same name");
            }
        }
        Ok(())
    }
}

/// Returns the entry with this name and kind, or `None`.
pub(super) fn find_entry<'a>(
    object: &'a [u8],
    id: Oid,
    name: &str,
    is_folder: bool,
) -> Result<Option<TreeEntry<'a>>, GitError> {
    let mut entries = TreeEntries::new(object, id);
    let mut matching_entry = None;
    // The tree is read to its end, because this checks it.
    while let Some(entry) = entries.next_entry()? {
        if entry.name == name.as_bytes() && entry.is_folder() == is_folder {
            matching_entry = Some(entry);
        }
    }
    Ok(matching_entry)
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

    /// Returns the blob and the kind of a file; `None` for a directory.
    pub(super) fn file_state(&self) -> Result<Option<FileState>, GitError> {
        let Some(kind) = self.file_kind() else {
            return Ok(None);
        };
        Ok(Some(FileState { id: self.id()?, kind }))
    }

    /// Compares two entries in the order of git's trees: by bytes, as if the name of a directory ended in `/`.
    pub(super) fn cmp_in_tree(&self, other: &Self) -> std::cmp::Ordering {
        let common_length = self.name.len().min(other.name.len());
        self.name[..common_length]
            .cmp(&other.name[..common_length])
            .then_with(|| self.byte_at(common_length).cmp(&other.byte_at(common_length)))
            .then_with(|| self.name.len().cmp(&other.name.len()))
    }

    /// Returns a byte of the name; behind its end, `/` for a directory and 0 for a file.
    fn byte_at(&self, index: usize) -> u8 {
        let end = if self.is_folder() { b'/' } else { 0 };
        self.name.get(index).copied().unwrap_or(end)
    }
}

/// The unread rest of a raw tree. Reading it to its end checks that git would accept it.
pub(super) struct TreeEntries<'a> {
    unread: &'a [u8],
    order: EntryOrder<'a>,
    pub tree: Oid,
}

impl<'a> TreeEntries<'a> {
    /// Creates a reader of the entries of a tree object.
    pub(super) fn new(object: &'a [u8], tree: Oid) -> Self {
        Self {
            unread: object,
            ..Self::empty(tree)
        }
    }

    /// Creates a reader without entries, for a missing directory.
    pub(super) fn empty(tree: Oid) -> Self {
        Self {
            unread: &[],
            order: EntryOrder::default(),
            tree,
        }
    }

    /// Returns the next entry, or `None` at the end. Fails if the tree is invalid.
    pub(super) fn next_entry(&mut self) -> Result<Option<TreeEntry<'a>>, GitError> {
        if self.unread.is_empty() {
            return Ok(None);
        }
        let (entry, unread) = split_entry(self.unread).map_err(|reason| invalid_tree(self.tree, reason))?;
        self.check_entry(entry)?;
        self.unread = unread;
        Ok(Some(entry))
    }

    /// Checks that the name cannot lead out of the directory, and that the order is valid.
    fn check_entry(&mut self, entry: TreeEntry<'a>) -> Result<(), GitError> {
        if matches!(entry.name, b"" | b"." | b"..") {
            return Err(invalid_tree(self.tree, ESCAPING_NAME));
        }
        self.order
            .check_next_entry(entry)
            .map_err(|reason| invalid_tree(self.tree, reason))
    }

    /// Skips the entries that are equal in both trees and returns the number of skipped entries. The names
    /// and the order are checked in both trees for the first of these entries. For the later ones, the previous entries
    /// are equal, too: the check of one tree is enough, unless either tree still remembers files in `prefix_files`.
    pub(super) fn skip_equal_entries(&mut self, other: &mut Self) -> Result<usize, GitError> {
        let mut skipped_count = 0;
        // An entry that cannot be split ends the loop; `next_entry` returns its error.
        while let Ok((entry, unread)) = split_entry(self.unread) {
            let length = self.unread.len() - unread.len();
            if self.unread.get(..length) != other.unread.get(..length) {
                break;
            }
            self.check_entry(entry)?;
            let is_checked_for_both = skipped_count > 0
                && self.order.prefix_files.is_empty()
                && other.order.prefix_files.is_empty();
            if is_checked_for_both {
                other.order.previous = Some(entry);
            } else {
                other.check_entry(entry)?;
            }
            self.unread = unread;
            other.unread = &other.unread[length..];
            skipped_count += 1;
        }
        Ok(skipped_count)
    }
}

/// Splits the bytes of a tree object into its first entry and the bytes after the entry. The two most frequent modes
/// need no parsing.
fn split_entry(raw: &[u8]) -> Result<(TreeEntry<'_>, &[u8]), &'static str> {
    let cut_off = "an entry of the tree is cut off";
    // A mode has five or six digits, so the search for the blank after it may end early; 8 bytes are more than enough.
    let blank = raw.iter().take(8).position(|byte| *byte == b' ').ok_or(cut_off)?;
    let (octal, after_mode) = (&raw[..blank], &raw[blank + 1..]);
    let end = memchr::memchr2(0, b'/', after_mode).ok_or(cut_off)?;
    if after_mode[end] == b'/' {
        return Err(ESCAPING_NAME);
    }
    let (name, after_name) = (&after_mode[..end], &after_mode[end + 1..]);
    let (id, after_entry) = after_name.split_at_checked(ID_BYTES).ok_or(cut_off)?;
    let mode = match octal {
        b"100644" => Some(0o100_644),
        b"40000" => Some(DIRECTORY),
        _ => parse_mode(octal),
    }
    .ok_or("an entry has a type that git does not know")?;
    Ok((TreeEntry { mode, name, id }, after_entry))
}

/// Parses the mode of an entry, an octal number; `None` if it is not a number or git does not know its type of file.
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
