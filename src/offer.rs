//! The shared pipelines that a commit, a directory or a plan offers, read from the repository and compared.
//!
//! The kind of a pipeline is defined by the `type` key in its file, not by the file's name. Only files that differ
//! between the sides are read; for the others, and for files that cannot be read, the name is used.

use crate::document_content::document;
use sluicegate_git::{Content, FileKind, GitError, Repository, Snapshot, SnapshotFile};
use sluicegate_pipelines::interface::{Change, ChangedKinds, Interface, compare};
use sluicegate_pipelines::pipelines::{Kind, SHARED_PIPELINES_FILE, SharedEntry, config_folder};
use sluicegate_pipelines::yaml::DocumentError;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The result of reading the shared-pipelines file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoadedInterface {
    /// There is no shared-pipelines file, so nothing is offered.
    Missing,
    /// The interface, with the bytes of the file.
    Read(Box<Interface>, Vec<u8>),
    /// The file exists but cannot be read: its path, and the reason.
    Unreadable(String, DocumentError),
}

/// Reads one side. `folder` is the platform's hidden folder; if it is `None`, the folder is searched.
pub(crate) fn read_interface(
    repository: &Repository,
    snapshot: &Snapshot<'_>,
    folder: Option<&str>,
) -> Result<LoadedInterface, GitError> {
    let folder = match folder {
        Some(folder) => Some(folder.trim_matches('/').to_owned()),
        None => find_folder(snapshot)?,
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
fn find_folder(snapshot: &Snapshot<'_>) -> Result<Option<String>, GitError> {
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

/// The shared pipelines that one side offers, with their files.
pub(crate) struct Offer<'a> {
    interface: Interface,
    repository: &'a Repository,
    files: BTreeMap<String, SnapshotFile>,
}

impl<'a> Offer<'a> {
    /// Creates the offer of a snapshot. An entry whose pipeline is missing is not offered.
    pub(crate) fn at(
        repository: &'a Repository,
        snapshot: &Snapshot<'_>,
        mut interface: Interface,
    ) -> Result<Self, GitError> {
        let paths: BTreeSet<&str> = interface.offered().map(|it| it.pipeline.as_str()).collect();
        let files = snapshot.find_all(&paths)?;
        interface
            .entries
            .retain(|entry| !entry.enabled || files.contains_key(&entry.pipeline));
        Ok(Self {
            interface,
            repository,
            files,
        })
    }

    /// Creates the offer of a plan, from its files and their contents.
    pub(crate) fn planned(
        repository: &'a Repository,
        interface: Interface,
        files: impl Iterator<Item = (&'a str, &'a Content)>,
    ) -> Self {
        let files = files.map(|(path, content)| SnapshotFile {
            path: path.to_owned(),
            kind: FileKind::Regular,
            content: content.clone(),
            doubt: None,
        });
        Self {
            interface,
            repository,
            files: files.map(|file| (file.path.clone(), file)).collect(),
        }
    }

    fn content(&self, entry: &SharedEntry) -> Option<&Content> {
        self.files.get(&entry.pipeline).map(|file| &file.content)
    }

    /// Returns the kind from the file, or `None` if it cannot be read, for example because a partial clone lacks it.
    fn kind(&self, entry: &SharedEntry) -> Result<Option<Kind>, GitError> {
        let Some(file) = self.files.get(&entry.pipeline) else {
            return Ok(None);
        };
        match document(self.repository, file) {
            Ok(read) => Ok(read.ok().and_then(|bytes| Kind::read(&bytes).ok())),
            Err(GitError::MissingObject { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns the changes from `old` to `new` that consumers see. A file that is equal on both sides is not read.
pub(crate) fn compare_offers(old: &Offer<'_>, new: &Offer<'_>) -> Result<Vec<Change>, GitError> {
    let kinds = read_changed_kinds(old, new)?;
    Ok(compare(&old.interface, &new.interface, &kinds))
}

/// Reads the kinds of the shared pipelines whose files differ between the sides.
fn read_changed_kinds(old: &Offer<'_>, new: &Offer<'_>) -> Result<ChangedKinds, GitError> {
    let offered = old.interface.offered();
    let before: HashMap<&str, &SharedEntry> = offered.map(|entry| (entry.id.as_str(), entry)).collect();
    let mut kinds = ChangedKinds::default();
    for is in new.interface.offered() {
        let Some(was) = before.get(is.id.as_str()) else {
            continue;
        };
        if was.pipeline != is.pipeline || old.content(was) != new.content(is) {
            kinds.insert(is.id.clone(), old.kind(was)?, new.kind(is)?);
        }
    }
    Ok(kinds)
}
