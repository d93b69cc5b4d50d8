//! Who calls a pipeline.

use super::PublishError;
use super::contents::PublishContents;
use super::references::{self, WantedFile};
use crate::base::git::{Content, Repository, Snapshot, SnapshotFile};
use crate::model::pipelines::{Kind, PipelineFiles};
use std::collections::{BTreeMap, BTreeSet};

/// The pipelines of the snapshot that call each of these, by path, itself aside. One that is gone may be called still.
pub fn callers<'p>(
    repository: &Repository,
    snapshot: &Snapshot<'_>,
    paths: &BTreeSet<&'p str>,
) -> Result<BTreeMap<&'p str, Vec<String>>, PublishError> {
    let mut files = snapshot.files(&|path| Kind::from_path(path).is_some())?;
    files.retain(|file| file.doubt.is_none());
    let contents = PublishContents::new(repository.root().to_owned());
    let wanted = |file| WantedFile {
        content: content(file),
        is_needed: false,
    };
    let all: Vec<WantedFile<'_>> = files.iter().map(wanted).collect();
    let facts = references::read_all(&contents, &all)?;
    let there: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let known = PipelineFiles::new(there.union(paths).copied());
    let mut callers: BTreeMap<&str, Vec<String>> = paths.iter().map(|path| (*path, Vec::new())).collect();
    for (file, facts) in files.iter().zip(facts) {
        let called = facts
            .references()
            .flat_map(|reference| reference.called(&known, &file.path));
        let mut named: BTreeSet<&str> = called.collect();
        named.remove(file.path.as_str());
        for path in named {
            if let Some(of_path) = callers.get_mut(path) {
                of_path.push(file.path.clone());
            }
        }
    }
    for paths in callers.values_mut() {
        paths.sort();
    }
    Ok(callers)
}

const fn content(file: &SnapshotFile) -> &Content {
    &file.content
}
