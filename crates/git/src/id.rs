//! The ids of commits and blobs, as types that cannot be mixed up.

use git2::{ObjectType, Oid};
use sluicegate_base::text::short_id;
use std::fmt;

/// A commit's full id: 40 lowercase hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(String);

impl CommitId {
    pub(super) fn new(id: Oid) -> Self {
        Self(id.to_string())
    }

    pub(super) fn oid(&self) -> Result<Oid, git2::Error> {
        Oid::from_str(&self.0)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first seven digits, for display.
    pub fn short(&self) -> &str {
        short_id(&self.0)
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns whether the text is a full object id (SHA-1 or SHA-256), which git never looks up as a reference.
pub fn is_full_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A blob's id, which depends on the content of a file but not on its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(Oid);

impl BlobId {
    pub(super) const fn new(id: Oid) -> Self {
        Self(id)
    }

    pub(super) const fn oid(&self) -> Oid {
        self.0
    }

    /// Returns the id that git gives to a file with this content; `None` if it cannot be computed.
    pub fn of_content(bytes: &[u8]) -> Option<Self> {
        Oid::hash_object(ObjectType::Blob, bytes).ok().map(Self)
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobId({})", self.0)
    }
}
