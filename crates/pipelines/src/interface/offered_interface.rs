//! One side of a comparison: the shared pipelines that a commit or a directory offers.

use crate::pipelines::{SharedEntry, SharedPipelines};
use sluicegate_yaml::{DocumentError, Position};

/// The entries of a shared-pipelines file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// The path of the file from the repository root.
    pub file: String,
    /// All entries, in file order; entries that are not enabled are not offered.
    pub entries: Vec<SharedEntry>,
    /// The position of the list of entries.
    pub position: Position,
}

impl Interface {
    /// Creates the interface from the parsed file at this path.
    pub fn new(file: impl Into<String>, shared_pipelines: SharedPipelines) -> Self {
        Self {
            file: file.into(),
            entries: shared_pipelines.entries,
            position: shared_pipelines.position,
        }
    }

    /// Returns the interface of a version without a shared-pipelines file, which offers nothing. `file` is the path of
    /// the file in the version that it is compared with.
    pub fn empty(file: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            entries: Vec::new(),
            position: Position { line: 1, column: 1 },
        }
    }

    /// Parses the content of the shared-pipelines file at this path.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, DocumentError> {
        Ok(Self::new(file, SharedPipelines::parse(bytes)?))
    }

    /// Returns the entries that consumers can use, which are the enabled ones.
    pub fn offered_entries(&self) -> impl Iterator<Item = &SharedEntry> {
        self.entries.iter().filter(|entry| entry.enabled)
    }

    /// Returns the entry with this id, even if it is disabled.
    pub(super) fn find_entry(&self, id: &str) -> Option<&SharedEntry> {
        self.entries.iter().find(|entry| entry.id == id)
    }
}
