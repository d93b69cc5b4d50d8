//! Caches the facts about pipelines by their blobs: a run that compares its findings with the base reads the same
//! pipelines of the base several times, and most of those that they call are the same in head.

use sluicegate_git::{BlobId, FileContent, FileKind, SnapshotFile};
use sluicegate_pipelines::pipelines::PipelineFacts;
use std::cell::RefCell;
use std::collections::HashMap;

/// Maximum number of cached pipelines. A change rarely involves more, and a run of the whole project needs none twice.
const MAX_CACHED_PIPELINES: usize = 1000;

/// The facts about the pipelines of commits that were parsed first.
#[derive(Default)]
pub(crate) struct FactsCache(RefCell<HashMap<BlobId, PipelineFacts>>);

impl FactsCache {
    /// Returns the facts about the pipeline in this file, if they are cached.
    pub(super) fn get(&self, file: &SnapshotFile) -> Option<PipelineFacts> {
        let cached_facts = self.0.borrow();
        cached_facts.get(find_blob(file)?).cloned()
    }

    /// Caches the facts about the pipeline in this file if there is room. Files on disk, which may change, and facts
    /// without their variables and links are not cached.
    pub(super) fn add(&self, file: &SnapshotFile, facts: &PipelineFacts) {
        let mut cached_facts = self.0.borrow_mut();
        if let Some(blob) = find_blob(file)
            && !facts.is_skimmed
            && cached_facts.len() < MAX_CACHED_PIPELINES
        {
            cached_facts.entry(*blob).or_insert_with(|| facts.clone());
        }
    }
}

/// Returns the blob of a regular file in a commit. Returns `None` for a file on disk and for a link, which is not read.
const fn find_blob(file: &SnapshotFile) -> Option<&BlobId> {
    match (&file.content, file.kind) {
        (FileContent::Blob(blob), FileKind::Regular) => Some(blob),
        _ => None,
    }
}
