//! One side of a comparison: the shared pipelines that a commit or a directory offers.

use crate::model::pipelines::{SHARED_PIPELINES_FILE, SharedEntry, SharedPipelines, config_folder, document};
use crate::model::yaml::{DocumentError, Position};
use sluicegate_git::{GitError, Repository, Snapshot};

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
    /// Creates the interface from a parsed file.
    pub fn new(file: impl Into<String>, shared: SharedPipelines) -> Self {
        Self {
            file: file.into(),
            entries: shared.entries,
            position: shared.position,
        }
    }

    /// Returns the interface of a revision without the file: it offers nothing. `file` is the path on the other side.
    pub fn nothing(file: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            entries: Vec::new(),
            position: Position { line: 1, column: 1 },
        }
    }

    /// Parses the content of a file.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, DocumentError> {
        Ok(Self::new(file, SharedPipelines::parse(bytes)?))
    }

    pub fn offered(&self) -> impl Iterator<Item = &SharedEntry> {
        self.entries.iter().filter(|entry| entry.enabled)
    }

    /// Returns the entry with this id, offered or not.
    pub(super) fn entry(&self, id: &str) -> Option<&SharedEntry> {
        self.entries.iter().find(|entry| entry.id == id)
    }
}

/// The result of reading the shared-pipelines file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadedInterface {
    /// There is no shared-pipelines file, so nothing is offered.
    Missing,
    /// The interface, with the bytes of the file.
    Read(Box<Interface>, Vec<u8>),
    /// The file exists but cannot be read: its path, and the reason.
    Unreadable(String, DocumentError),
}

/// Reads one side. `folder` is the platform's hidden folder; if it is `None`, the folder is searched.
pub fn read(
    repository: &Repository,
    snapshot: &Snapshot<'_>,
    folder: Option<&str>,
) -> Result<LoadedInterface, GitError> {
    let folder = match folder {
        Some(folder) => Some(folder.trim_matches('/').to_owned()),
        None => found(snapshot)?,
    };
    let Some(folder) = folder else {
        return Ok(LoadedInterface::Missing);
    };
    let path = format!("{folder}/{SHARED_PIPELINES_FILE}");
    let Some(file) = snapshot.find(&path)? else {
        return Ok(LoadedInterface::Missing);
    };
    let bytes = match document(repository, &file)? {
        Ok(bytes) => bytes,
        Err(error) => return Ok(LoadedInterface::Unreadable(path, error)),
    };
    Ok(match Interface::parse(&path, &bytes) {
        Ok(interface) => LoadedInterface::Read(Box::new(interface), bytes),
        Err(error) => LoadedInterface::Unreadable(path, error),
    })
}

/// Returns the folder with the platform's files; if there are several, the first that has a shared-pipelines file.
fn found(snapshot: &Snapshot<'_>) -> Result<Option<String>, GitError> {
    let folders = snapshot.root_folders()?;
    let holds = |path: &str| matches!(snapshot.find(path), Ok(Some(_)));
    let first = || {
        let mut hidden = folders.iter().filter(|name| name.starts_with('.'));
        hidden
            .find(|name| holds(&format!("{name}/{SHARED_PIPELINES_FILE}")))
            .cloned()
    };
    Ok(config_folder(&folders, &holds).unwrap_or_else(|_| first()))
}
