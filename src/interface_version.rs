//! The shared pipelines that a commit, a directory or a plan offers, read from the repository and compared.
//!
//! The kind of a pipeline is defined by the `type` key in its file, not by the file's name. Only files that differ
//! between the sides are read; for the others, and for files that cannot be read, the name is used.

use crate::document_content::read_document;
use sluicegate_git::{FileContent, FileKind, GitError, Repository, Snapshot, SnapshotFile};
use sluicegate_pipelines::interface::{ChangedKinds, Interface, InterfaceChange, compare_interfaces};
use sluicegate_pipelines::pipelines::{self, PipelineKind, SharedEntry, shared_pipelines_path};
use sluicegate_yaml::DocumentError;
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

/// Reads the shared-pipelines file of a snapshot. `config_dir` is the hidden directory with the platform's files; if it
/// is `None`, the directory is searched.
pub(crate) fn read_interface(
    repository: &Repository,
    snapshot: &Snapshot<'_>,
    config_dir: Option<&str>,
) -> Result<LoadedInterface, GitError> {
    let config_dir = match config_dir {
        Some(folder) => Some(folder.trim_matches('/').to_owned()),
        None => find_first_config_dir(snapshot)?,
    };
    let Some(config_dir) = config_dir else {
        return Ok(LoadedInterface::Missing);
    };
    let path = shared_pipelines_path(&config_dir);
    let Some(file) = snapshot.find_file(&path)? else {
        return Ok(LoadedInterface::Missing);
    };
    let bytes = match read_document(repository, &file)? {
        Ok(bytes) => bytes,
        Err(error) => return Ok(LoadedInterface::Unreadable(path, error)),
    };
    Ok(match Interface::parse(&path, &bytes) {
        Ok(interface) => LoadedInterface::Read(Box::new(interface), bytes),
        Err(error) => LoadedInterface::Unreadable(path, error),
    })
}

/// Returns the hidden directory of the old version, if the job names `named_dir`. If only the new version has the
/// shared-pipelines file there, it may have moved the file: from the first directory in which it no longer has one.
pub(crate) fn find_old_config_dir(
    named_dir: Option<&str>,
    old_snapshot: &Snapshot<'_>,
    new_snapshot: &Snapshot<'_>,
) -> Result<Option<String>, GitError> {
    let Some(name) = named_dir else {
        return Ok(None);
    };
    if has_shared_pipelines(new_snapshot, name)? && !has_shared_pipelines(old_snapshot, name)? {
        for folder in old_snapshot.list_hidden_root_folders()? {
            if has_shared_pipelines(old_snapshot, &folder)? && !has_shared_pipelines(new_snapshot, &folder)? {
                return Ok(Some(folder));
            }
        }
    }
    Ok(Some(name.to_owned()))
}

/// Returns whether the snapshot has a shared-pipelines file in this hidden directory.
pub(crate) fn has_shared_pipelines(snapshot: &Snapshot<'_>, config_dir: &str) -> Result<bool, GitError> {
    let path = shared_pipelines_path(config_dir.trim_matches('/'));
    Ok(snapshot.find_file(&path)?.is_some())
}

/// Returns the hidden directory with the platform's files; of several, the first that has a shared-pipelines file.
fn find_first_config_dir(snapshot: &Snapshot<'_>) -> Result<Option<String>, GitError> {
    let folders = snapshot.list_hidden_root_folders()?;
    let has_file = |path: &str| Ok(snapshot.find_file(path)?.is_some());
    if let Ok(config_dir) = pipelines::find_config_dir(&folders, &has_file)? {
        return Ok(config_dir);
    }
    for name in folders {
        if has_file(&shared_pipelines_path(&name))? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// The shared pipelines that one side offers, with their files.
pub(crate) struct InterfaceVersion<'a> {
    interface: Interface,
    repository: &'a Repository,
    files: BTreeMap<String, SnapshotFile>,
}

impl<'a> InterfaceVersion<'a> {
    /// Creates the version of the interface that a snapshot offers. An enabled entry whose pipeline is missing or
    /// a submodule offers nothing, so it is removed.
    pub(crate) fn at_snapshot(
        repository: &'a Repository,
        snapshot: &Snapshot<'_>,
        mut interface: Interface,
    ) -> Result<Self, GitError> {
        let paths: BTreeSet<&str> = interface
            .offered_entries()
            .map(|entry| entry.pipeline.as_str())
            .collect();
        let mut files = snapshot.find_files_by_path(&paths)?;
        files.retain(|_, file| file.kind != FileKind::Submodule);
        interface
            .entries
            .retain(|entry| !entry.enabled || files.contains_key(&entry.pipeline));
        Ok(Self {
            interface,
            repository,
            files,
        })
    }

    /// Creates the version of the interface that a publish plan offers, from the plan's files and their contents.
    pub(crate) fn for_plan(
        repository: &'a Repository,
        interface: Interface,
        files: impl Iterator<Item = (&'a str, &'a FileContent)>,
    ) -> Self {
        let files = files
            .map(|(path, content)| {
                let file = SnapshotFile {
                    path: path.to_owned(),
                    kind: FileKind::Regular,
                    content: content.clone(),
                    doubt: None,
                };
                (path.to_owned(), file)
            })
            .collect();
        Self {
            interface,
            repository,
            files,
        }
    }

    /// Returns the content of the entry's pipeline, or `None` if this version has no such file.
    fn content(&self, entry: &SharedEntry) -> Option<&FileContent> {
        self.files.get(&entry.pipeline).map(|file| &file.content)
    }

    /// Reads the kind of the entry's pipeline from its file, or returns `None` if the file is missing or cannot be
    /// read, for example because a partial clone lacks it.
    fn read_kind(&self, entry: &SharedEntry) -> Result<Option<PipelineKind>, GitError> {
        let Some(file) = self.files.get(&entry.pipeline) else {
            return Ok(None);
        };
        match read_document(self.repository, file) {
            Ok(read) => Ok(read.ok().and_then(|bytes| PipelineKind::parse(&bytes).ok())),
            Err(GitError::MissingObject { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns the changes from `old` to `new` that consumers see. A file that is equal on both sides is not read.
pub(crate) fn compare_interface_versions(
    old: &InterfaceVersion<'_>,
    new: &InterfaceVersion<'_>,
) -> Result<Vec<InterfaceChange>, GitError> {
    let kinds = read_kinds_of_changed_pipelines(old, new)?;
    Ok(compare_interfaces(&old.interface, &new.interface, &kinds))
}

/// Reads the old and the new kind (orchestration or transformation) of each shared pipeline that both versions offer
/// with a different path or content. An equal file has the same kind, so it is not read.
fn read_kinds_of_changed_pipelines(
    old: &InterfaceVersion<'_>,
    new: &InterfaceVersion<'_>,
) -> Result<ChangedKinds, GitError> {
    let old_entries: HashMap<&str, &SharedEntry> = old
        .interface
        .offered_entries()
        .map(|entry| (entry.id.as_str(), entry))
        .collect();
    let mut kinds = ChangedKinds::default();
    for new_entry in new.interface.offered_entries() {
        let Some(old_entry) = old_entries.get(new_entry.id.as_str()) else {
            continue;
        };
        let is_moved = old_entry.pipeline != new_entry.pipeline;
        if is_moved || old.content(old_entry) != new.content(new_entry) {
            let old_kind = old.read_kind(old_entry)?;
            let new_kind = new.read_kind(new_entry)?;
            kinds.insert(new_entry.id.clone(), old_kind, new_kind);
        }
    }
    Ok(kinds)
}
