//! Blobs that a partial clone omitted. They are fetched together, because each fetch costs a process and two requests.

use super::object_header::read_object_header;
use super::rename_candidates::FindDiskPath;
use super::tree_difference::TreeDifference;
use super::tree_entries::{FileKind, FileState};
use super::{BlobId, GitError, Repository};
use git2::{Odb, Oid};
use std::collections::BTreeSet;

impl Repository {
    /// Records the documents among these files of a commit as blobs that will probably be read, so that a partial clone
    /// fetches them in one request. Does nothing in a clone that has all blobs.
    pub(super) fn record_expected_documents<'f>(&self, files: impl Iterator<Item = (&'f str, FileState)>) {
        if !self.program.can_fetch() {
            return;
        }
        let documents =
            files.filter(|(path, state)| state.kind == FileKind::Regular && (self.is_document)(path));
        self.expected_blobs
            .borrow_mut()
            .extend(documents.map(|(_, state)| state.id));
    }

    /// Fetches a blob that the partial clone omitted, together with all omitted blobs that will probably be read.
    pub(super) fn fetch_missing_blob(&self, blob: &BlobId) -> Result<(), GitError> {
        if !self.program.can_fetch() {
            return Err(self.missing_object_error("blob", blob));
        }
        let mut blobs = self.expected_blobs.take();
        blobs.insert(blob.oid());
        self.fetch_blobs(&blobs)
    }

    /// Fetches the contents of added and deleted documents, which are compared to find renames. Without them, a
    /// document that was renamed and edited would look new, and its known findings would look new, too. Does nothing if
    /// no rename is possible, or in a clone that has all blobs.
    pub(super) fn fetch_rename_candidates(
        &self,
        differences: &[TreeDifference],
        find_disk_path: &FindDiskPath<'_>,
    ) -> Result<(), GitError> {
        if !self.program.can_fetch() {
            return Ok(());
        }
        let mut has_added_document = false;
        let mut added_blobs: BTreeSet<Oid> = BTreeSet::new();
        let mut deleted_blobs: BTreeSet<Oid> = BTreeSet::new();
        for difference in differences {
            if !(self.is_document)(&difference.path) {
                continue;
            }
            if difference.old.is_none() {
                has_added_document = true;
                // A document on disk is read there, so its blob is not needed.
                if find_disk_path(&difference.path).is_none() {
                    added_blobs.extend(find_regular_blob(difference.new));
                }
            }
            if difference.new.is_none() {
                deleted_blobs.extend(find_regular_blob(difference.old));
            }
        }
        if !has_added_document || deleted_blobs.is_empty() {
            return Ok(());
        }
        // A blob that was both added and deleted shows a rename by its id alone.
        self.fetch_blobs(
            &added_blobs
                .symmetric_difference(&deleted_blobs)
                .copied()
                .collect(),
        )
    }

    /// Fetches the blobs that the clone lacks, in one request.
    fn fetch_blobs(&self, blobs: &BTreeSet<Oid>) -> Result<(), GitError> {
        let odb = self.open_odb()?;
        let missing_blobs: Vec<BlobId> = blobs
            .iter()
            .filter(|blob| !matches!(read_object_header(&odb, **blob), Ok(Some(_))))
            .map(|blob| BlobId::new(*blob))
            .collect();
        if missing_blobs.is_empty() {
            return Ok(());
        }
        self.program.fetch_blobs(self.root(), &missing_blobs)?;
        self.refresh_objects(&odb)
    }

    /// Looks for fetched objects.
    pub(super) fn refresh_objects(&self, odb: &Odb<'_>) -> Result<(), GitError> {
        self.loose_objects.forget_folders();
        odb.refresh()
            .map_err(GitError::library("look for fetched objects"))
    }
}

/// Returns the blob of a regular file; `None` for any other file, whose content is not compared.
fn find_regular_blob(state: Option<FileState>) -> Option<Oid> {
    state
        .filter(|state| state.kind == FileKind::Regular)
        .map(|state| state.id)
}
