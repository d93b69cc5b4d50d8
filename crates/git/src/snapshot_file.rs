//! A file of a snapshot: its kind, the location of its content, and whether the content is reliable.

use super::{BlobId, FileKind, TreeFile};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotFile {
    /// The path from the root, with `/`.
    pub path: String,
    pub kind: FileKind,
    pub content: FileContent,
    /// The reason why the bytes on disk may differ from those that a commit would store.
    pub doubt: Option<ContentDoubt>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    Blob(BlobId),
    /// On disk; read it with [`read_disk_file`](super::read_disk_file).
    Disk(PathBuf),
}

/// The reason why the bytes of a file on disk may differ from those that a commit would store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentDoubt {
    /// The index marks the file as not to be checked on disk (`skip-worktree`, `assume-unchanged`).
    Hidden,
    /// The file was modified, and an attribute makes git store different bytes than those on disk.
    Converted,
}

impl ContentDoubt {
    /// Returns the reason for the doubt, for use after a file name and a colon.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Hidden => {
                "git's index tells git to ignore the file on disk (skip-worktree or assume-unchanged, as in a sparse checkout)"
            }
            Self::Converted => {
                "git would store different bytes than those on disk (working-tree-encoding, filter or ident in .gitattributes)"
            }
        }
    }

    /// Returns the instruction that avoids the doubt.
    pub const fn next_step(self) -> &'static str {
        match self {
            Self::Hidden => "pass --head HEAD to use the committed files, or --staged to use the staged ones",
            Self::Converted => "commit the file and use --head, or stage it and use --staged",
        }
    }
}

impl From<TreeFile> for SnapshotFile {
    fn from(file: TreeFile) -> Self {
        Self {
            path: file.path,
            kind: file.kind,
            content: FileContent::Blob(file.blob),
            doubt: None,
        }
    }
}
