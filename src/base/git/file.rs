//! A file of a snapshot: what it is, where its content is, and whether that can be relied on.

use super::{BlobId, FileKind, TreeFile};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotFile {
    /// The path from the root, with `/`.
    pub path: String,
    pub kind: FileKind,
    pub content: Content,
    /// Why its bytes on disk are not surely those that a commit of it would have.
    pub doubt: Option<Doubt>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Blob(BlobId),
    /// On disk, to be read by [`read_on_disk`](super::read_on_disk).
    Disk(PathBuf),
}

/// Why the bytes of a file on disk are not surely those that a commit of it would have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// Git's index says not to look at it on disk (`skip-worktree`, `assume-unchanged`).
    Hidden,
    /// It was modified, and git would store other bytes than are on disk, by an attribute.
    Converted,
}

impl Doubt {
    /// Returns the reason, as it follows a file's name and a colon.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Hidden => {
                "git's index says not to look at it on disk (skip-worktree or assume-unchanged, as in a sparse checkout)"
            }
            Self::Converted => {
                "git would store other bytes than are on disk (working-tree-encoding, filter or ident in .gitattributes): \
                 commit it and use --head, or stage it and use --staged"
            }
        }
    }
}

impl From<TreeFile> for SnapshotFile {
    fn from(file: TreeFile) -> Self {
        Self {
            path: file.path,
            kind: file.kind,
            content: Content::Blob(file.blob),
            doubt: None,
        }
    }
}
