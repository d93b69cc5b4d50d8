//! The shared pipelines that a commit, a directory or a plan offers, read from the repository and compared.
//!
//! The kind of a pipeline is defined by the `type` key in its file, not by the file's name. Only files that differ
//! between the sides are read; for the others, and for files that cannot be read, the name is used. A file that cannot
//! be read may hide a break, so the comparison is then in doubt.

use crate::document_content::{find_content_id, read_document};
use sluicegate_base::text::shorten_name;
use sluicegate_git::{BlobId, FileContent, FileKind, GitError, Repository, Snapshot, SnapshotFile};
use sluicegate_pipelines::interface::{ChangedKinds, Interface, InterfaceChange, compare_interfaces};
use sluicegate_pipelines::pipelines::{
    self, PipelineFacts, PipelineKind, SharedEntry, shared_pipelines_path,
};
use sluicegate_pipelines::project::describe_undeclared_parameter;
use sluicegate_yaml::DocumentError;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The result of reading the shared-pipelines file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoadedInterface {
    /// There is no shared-pipelines file, so nothing is offered.
    Missing,
    /// The interface, with the bytes of the file.
    Read(Box<Interface>, Vec<u8>),
    /// The file exists but cannot be read.
    Unreadable(UnreadableFile),
}

/// A shared-pipelines file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnreadableFile {
    pub(crate) path: String,
    /// The id of the content; `None` if it is unknown. It shows whether two versions have the same file.
    pub(crate) content_id: Option<BlobId>,
    pub(crate) reason: DocumentError,
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
    let parsed_file = read_document(repository, &file)?
        .and_then(|bytes| Interface::parse(&path, &bytes).map(|interface| (interface, bytes)));
    Ok(match parsed_file {
        Ok((interface, bytes)) => LoadedInterface::Read(Box::new(interface), bytes),
        Err(reason) => LoadedInterface::Unreadable(UnreadableFile {
            path,
            content_id: find_content_id(&file.content),
            reason,
        }),
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

    /// Returns the id of the content of the entry's pipeline, or `None` if the file is missing, is not a regular file
    /// or cannot be read.
    fn find_content_id(&self, entry: &SharedEntry) -> Option<BlobId> {
        let file = self.files.get(&entry.pipeline)?;
        (file.kind == FileKind::Regular).then(|| find_content_id(&file.content))?
    }

    /// Reads the entry's pipeline.
    fn read_pipeline(&self, entry: &SharedEntry) -> Result<SharedPipelineFile, GitError> {
        let bytes = match self.files.get(&entry.pipeline) {
            None => Err(DocumentError::for_document("the file is missing")),
            Some(file) => read_document(self.repository, file)?,
        };
        let kind = bytes.as_ref().ok();
        Ok(SharedPipelineFile {
            kind: kind.and_then(|bytes| PipelineKind::parse(bytes).ok()),
            facts: bytes.and_then(|bytes| PipelineFacts::parse(&bytes)),
            content_id: self.find_content_id(entry),
        })
    }
}

/// The file of a shared pipeline.
struct SharedPipelineFile {
    /// The kind of the pipeline, if the file contains it.
    kind: Option<PipelineKind>,
    /// The facts about the pipeline, or the reason why the file cannot be read.
    facts: Result<PipelineFacts, DocumentError>,
    /// The id of the content of a regular file.
    content_id: Option<BlobId>,
}

/// The reason why the changes between two versions may include a break that is not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InterfaceDoubt {
    pub(crate) reason: String,
    /// True if only the old version has the problem, so that the change repairs it.
    pub(crate) is_repaired: bool,
}

impl InterfaceDoubt {
    /// Returns the first of two doubts, but prefers one that the change does not repair.
    pub(crate) fn select_worst(first: Option<Self>, second: Option<Self>) -> Option<Self> {
        match (&first, &second) {
            (Some(first_doubt), Some(second_doubt))
                if first_doubt.is_repaired && !second_doubt.is_repaired =>
            {
                second
            }
            (None, _) => second,
            _ => first,
        }
    }

    /// Returns the doubt about a shared pipeline whose file differs between two versions: one of the files cannot be
    /// read, or the new file no longer declares a variable that both versions offer as a parameter. The change cannot
    /// be published then, so it is unknown what consumers will get.
    fn for_pipeline(
        old_entry: &SharedEntry,
        old_pipeline: &SharedPipelineFile,
        new_entry: &SharedEntry,
        new_pipeline: &SharedPipelineFile,
    ) -> Option<Self> {
        let path = shorten_name(&new_entry.pipeline);
        let (reason, is_repaired) = match (&old_pipeline.facts, &new_pipeline.facts) {
            // The change did not cause this problem.
            (Err(old_error), Err(error))
                if old_error == error && old_pipeline.content_id == new_pipeline.content_id =>
            {
                return None;
            }
            (_, Err(error)) => (format!("could not read {path}: {error}"), false),
            (Err(error), Ok(_)) => {
                let path = shorten_name(&old_entry.pipeline);
                (
                    format!("could not read the earlier version of {path}: {error}"),
                    true,
                )
            }
            (Ok(old_facts), Ok(new_facts)) => {
                let parameter = new_entry.undeclared_parameters(new_facts).find(|parameter| {
                    let mut old_parameters = old_entry.parameters.iter();
                    old_parameters.any(|old_parameter| old_parameter.name == parameter.name)
                        && old_facts.declares_variable(&parameter.name)
                })?;
                (describe_undeclared_parameter(new_entry, parameter), false)
            }
        };
        Some(Self { reason, is_repaired })
    }
}

/// The changes between two versions that consumers see.
pub(crate) struct OfferChanges {
    pub(crate) changes: Vec<InterfaceChange>,
    /// The reason why the changes may lack a break; `None` if they are complete.
    pub(crate) doubt: Option<InterfaceDoubt>,
}

/// Returns the changes from `old` to `new` that consumers see. The kind (orchestration or transformation) of a shared
/// pipeline is read if both versions offer the pipeline with a different path or content. An equal file has the same
/// kind, so it is not read.
pub(crate) fn compare_interface_versions(
    old: &InterfaceVersion<'_>,
    new: &InterfaceVersion<'_>,
) -> Result<OfferChanges, GitError> {
    let old_entries: HashMap<&str, &SharedEntry> = old
        .interface
        .offered_entries()
        .map(|entry| (entry.id.as_str(), entry))
        .collect();
    let mut kinds = ChangedKinds::default();
    let mut doubt = None;
    for new_entry in new.interface.offered_entries() {
        let Some(old_entry) = old_entries.get(new_entry.id.as_str()) else {
            continue;
        };
        let content_id = new.find_content_id(new_entry);
        let is_same_content = content_id.is_some() && content_id == old.find_content_id(old_entry);
        if old_entry.pipeline != new_entry.pipeline || !is_same_content {
            let old_pipeline = old.read_pipeline(old_entry)?;
            let new_pipeline = new.read_pipeline(new_entry)?;
            kinds.insert(new_entry.id.clone(), old_pipeline.kind, new_pipeline.kind);
            let pipeline_doubt =
                InterfaceDoubt::for_pipeline(old_entry, &old_pipeline, new_entry, &new_pipeline);
            doubt = InterfaceDoubt::select_worst(doubt, pipeline_doubt);
        }
    }
    Ok(OfferChanges {
        changes: compare_interfaces(&old.interface, &new.interface, &kinds),
        doubt,
    })
}
