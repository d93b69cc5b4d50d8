//! Reads both versions of each changed pipeline once, and passes them to a function.

use crate::document_content::PendingDocument;
use sluicegate_base::overlap;
use sluicegate_git::{Change, CommitId, GitError, Repository, Snapshot, SnapshotFile};
use sluicegate_pipelines::diff::{PipelineDiff, PipelineVersions, compare_versions};
use std::collections::{BTreeMap, BTreeSet};

/// A file's content, or the reason why it cannot be read.
type ReadContent = Result<Vec<u8>, String>;

/// The contents of a changed file before and after the change.
pub(crate) struct ChangedContents {
    pub(crate) path: String,
    pub(crate) previous_path: Option<String>,
    pub(crate) old_content: Option<ReadContent>,
    pub(crate) new_content: Option<ReadContent>,
}

impl ChangedContents {
    /// Returns whether the path or the content differs. A different file mode alone is not a difference. Contents that
    /// cannot be read, for example because they are too large, are treated as different.
    pub(crate) fn is_different(&self) -> bool {
        let is_comparable = !matches!(
            (&self.old_content, &self.new_content),
            (Some(Err(_)), Some(Err(_)))
        );
        self.previous_path.is_some() || !is_comparable || self.old_content != self.new_content
    }

    /// Compares both versions of the pipeline.
    pub(crate) fn diff(&self) -> PipelineDiff {
        compare_versions(&self.to_versions())
    }

    /// Returns both versions of the pipeline for a comparison.
    pub(crate) fn to_versions(&self) -> PipelineVersions<'_> {
        PipelineVersions {
            path: &self.path,
            previous_path: self.previous_path.as_deref(),
            base: borrow_content(self.old_content.as_ref()),
            head: borrow_content(self.new_content.as_ref()),
        }
    }
}

/// Borrows the content of one version, or the reason why it cannot be read. Returns `None` if the file does not exist
/// in this version.
fn borrow_content(content: Option<&ReadContent>) -> Option<Result<&[u8], &str>> {
    content.map(|content| content.as_deref().map_err(String::as_str))
}

/// The snapshot and the commits whose files are compared.
#[derive(Clone, Copy)]
pub(crate) struct VersionPairs<'w> {
    pub(crate) repo: &'w Repository,
    pub(crate) head: &'w Snapshot<'w>,
    /// Empty if every file is new.
    pub(crate) bases: &'w [CommitId],
}

/// A change whose blobs have been read; content on disk is read later.
struct PendingPair {
    index: usize,
    path: String,
    previous_path: Option<String>,
    old_document: Option<PendingDocument>,
    new_document: Option<PendingDocument>,
}

type FilesByPath = BTreeMap<String, SnapshotFile>;

struct PairFiles {
    /// The files of each base.
    bases: Vec<FilesByPath>,
    head: FilesByPath,
}

impl VersionPairs<'_> {
    /// Reads both versions of each change, and calls `convert` on all cores for the changes whose versions differ.
    /// `convert` receives the index of the change. The results are in the order of the changes.
    pub(crate) fn map_differing_versions<T: Send>(
        &self,
        changes: &[Change],
        convert: &(dyn Fn(usize, &ChangedContents) -> T + Sync),
    ) -> Result<Vec<T>, GitError> {
        let files = self.find_files(changes)?;
        let pending_pairs = changes.iter().enumerate().map(|(index, change)| {
            let pair = self.read_pair(&files, index, change)?;
            let size = pair.size();
            Ok((pair, size))
        });
        let pairs = overlap::compute_all(pending_pairs, &|pair: PendingPair| {
            pair.convert_if_different(convert)
        })?;
        Ok(pairs.into_iter().flatten().collect())
    }

    /// Finds the files of all changes in the trees of the bases and of head, each tree in one walk.
    fn find_files(&self, changes: &[Change]) -> Result<PairFiles, GitError> {
        let mut bases = Vec::new();
        for (index, base) in self.bases.iter().enumerate() {
            let changes_since_base = changes.iter().filter(|change| change.base_index == index);
            let paths = changes_since_base.filter_map(Change::old_path).collect();
            bases.push(self.repo.snapshot(base.clone()).find_files_by_path(&paths)?);
        }
        let head_paths: BTreeSet<&str> = changes.iter().map(|change| change.path.as_str()).collect();
        Ok(PairFiles {
            bases,
            head: self.head.find_files_by_path(&head_paths)?,
        })
    }

    /// Reads both versions of a change from git. If the new version is on disk, it is read later, on another thread.
    fn read_pair(&self, files: &PairFiles, index: usize, change: &Change) -> Result<PendingPair, GitError> {
        let base_files = files.bases.get(change.base_index);
        let base_file = base_files.and_then(|files| files.get(change.old_path()?));
        Ok(PendingPair {
            index,
            path: change.path.clone(),
            previous_path: change.rename_source().map(str::to_owned),
            old_document: self.read_document(base_file)?,
            new_document: self.read_document(files.head.get(&change.path))?,
        })
    }

    /// Reads a file from git. Returns `None` for a missing file.
    fn read_document(&self, file: Option<&SnapshotFile>) -> Result<Option<PendingDocument>, GitError> {
        file.map(|file| PendingDocument::for_file(self.repo, file))
            .transpose()
    }
}

impl PendingPair {
    /// Returns the size of both versions in memory, in bytes.
    fn size(&self) -> usize {
        let documents = [&self.old_document, &self.new_document];
        documents.into_iter().flatten().map(PendingDocument::size).sum()
    }

    /// Reads a version on disk if it is not read yet. Calls `convert` if the versions differ, and returns `None`
    /// otherwise.
    fn convert_if_different<T>(self, convert: &(dyn Fn(usize, &ChangedContents) -> T + Sync)) -> Option<T> {
        let contents = ChangedContents {
            path: self.path,
            previous_path: self.previous_path,
            old_content: self.old_document.map(read_content),
            new_content: self.new_document.map(read_content),
        };
        contents.is_different().then(|| convert(self.index, &contents))
    }
}

/// Returns the content of a document, or the reason why it cannot be read.
fn read_content(document: PendingDocument) -> ReadContent {
    document.into_content().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(previous_path: Option<&str>, old_content: &str, new_content: &str) -> ChangedContents {
        ChangedContents {
            path: "a.orch.yaml".to_owned(),
            previous_path: previous_path.map(str::to_owned),
            old_content: Some(Ok(old_content.into())),
            new_content: Some(Ok(new_content.into())),
        }
    }

    #[test]
    fn file_with_other_mode_only_is_not_different() {
        assert!(!change(None, "type: x", "type: x").is_different());
    }

    #[test]
    fn unreadable_versions_are_different() {
        let mut contents = change(None, "", "");
        let reason = || Some(Err("the file is too large".to_owned()));
        contents.old_content = reason();
        assert!(contents.is_different());
        contents.new_content = reason();
        assert!(contents.is_different());
    }

    #[test]
    fn renamed_or_edited_file_is_different() {
        assert!(change(Some("b.orch.yaml"), "type: x", "type: x").is_different());
        assert!(change(None, "type: x", "type: y").is_different());
    }
}
