//! The shared pipelines that one side offers, with their files.
//!
//! The kind of a pipeline is defined by the `type` key in its file, not by the file's name. Only files that differ
//! between the sides are read; for the others, and for files that cannot be read, the name is used.

use super::Interface;
use crate::model::pipelines::{Kind, SharedEntry, document};
use sluicegate_git::{Content, FileKind, GitError, Repository, Snapshot, SnapshotFile};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The shared pipelines that one side offers, with their files.
pub struct Offer<'a> {
    pub(super) interface: Interface,
    repository: &'a Repository,
    files: BTreeMap<String, SnapshotFile>,
}

impl<'a> Offer<'a> {
    /// Creates the offer of a snapshot. An entry whose pipeline is missing is not offered.
    pub fn at(
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
    pub fn planned(
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

/// The old and the new kind of shared pipelines, by id, if their files were read; otherwise the file name is used.
#[derive(Debug, Default)]
pub(super) struct Kinds(HashMap<String, [Option<Kind>; 2]>);

impl Kinds {
    pub(super) fn read(old: &Offer<'_>, new: &Offer<'_>) -> Result<Self, GitError> {
        let offered = old.interface.offered();
        let before: HashMap<&str, &SharedEntry> = offered.map(|entry| (entry.id.as_str(), entry)).collect();
        let mut kinds = HashMap::new();
        for is in new.interface.offered() {
            let Some(was) = before.get(is.id.as_str()) else {
                continue;
            };
            if was.pipeline != is.pipeline || old.content(was) != new.content(is) {
                kinds.insert(is.id.clone(), [old.kind(was)?, new.kind(is)?]);
            }
        }
        Ok(Self(kinds))
    }

    /// Returns the old and the new kind of the pipeline.
    pub(super) fn of(&self, was: &SharedEntry, is: &SharedEntry) -> [Option<&'static str>; 2] {
        let [before, after] = self.0.get(&is.id).copied().unwrap_or_default();
        let name = |told: Option<Kind>, entry: &SharedEntry| {
            told.or_else(|| Kind::from_path(&entry.pipeline)).map(Kind::name)
        };
        [name(before, was), name(after, is)]
    }
}
