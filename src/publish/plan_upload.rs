//! Creates the upload request of a plan.

use super::content_hashes::{FileHashes, HashRecorder, HashingReader};
use super::content_reader::ContentReader;
use super::plan::{Plan, PlannedFile};
use super::read_ahead::ReadAhead;
use sluicegate_platform::api::{PartSource, Upload, UploadPart};
use std::io::{self, Read};
use std::sync::Arc;

/// Receives the number of bytes of the request that were sent so far; starts again with each try.
pub type UploadProgress = Arc<dyn Fn(u64) + Send + Sync>;

/// Connects an upload with the run that it belongs to.
#[derive(Clone)]
pub struct UploadControl {
    pub progress: UploadProgress,
    /// Returns whether the run is about to end, for example after Ctrl-C.
    pub cancel_check: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl UploadControl {
    /// Returns whether the run is about to end, so that no further upload may begin.
    pub(super) fn is_canceled(&self) -> bool {
        (self.cancel_check)()
    }
}

/// Creates the upload of a plan. The contents are read while they are sent; if `hashes` is set, their hashes are stored
/// in it.
pub(super) fn build_upload(
    plan: &Plan,
    hashes: Option<FileHashes>,
    control: Option<UploadControl>,
) -> Upload {
    let progress = control.as_ref().map(|control| Arc::clone(&control.progress));
    Upload {
        prefix: plan.prefix.clone(),
        version: plan.version_name.clone(),
        commit_hash: Some(plan.commit_hash.clone()),
        branch: plan.branch.clone(),
        parts: plan
            .files
            .iter()
            .map(|file| UploadPart {
                name: file.path.clone(),
                length: file.bytes,
            })
            .collect(),
        source: Arc::new(UploadParts {
            files: plan.files.clone(),
            reader: Arc::clone(&plan.reader),
            hashes,
            read_ahead: ReadAhead::default(),
            control,
        }),
        progress,
    }
}

/// The plan's files, opened one after the other while they are sent.
struct UploadParts {
    files: Vec<PlannedFile>,
    reader: Arc<ContentReader>,
    hashes: Option<FileHashes>,
    read_ahead: ReadAhead,
    control: Option<UploadControl>,
}

impl PartSource for UploadParts {
    /// Opens the content of a part. If its hash is needed, the content is hashed while it is read, and reading fails if
    /// the file changed since the plan was made.
    fn open_part(&self, part_index: usize) -> io::Result<Box<dyn Read + Send>> {
        let file = self.files.get(part_index).ok_or(io::ErrorKind::NotFound)?;
        let content = self.read_ahead.open_file(&self.reader, &self.files, part_index)?;
        if self.hashes.is_none() && file.checked_hash.is_none() {
            return Ok(content);
        }
        let recorder = self.hashes.as_ref().map(|hashes| HashRecorder {
            hashes: hashes.clone(),
            file_index: part_index,
            remaining_bytes: file.bytes,
        });
        Ok(Box::new(HashingReader::new(content, file.checked_hash, recorder)))
    }

    fn is_canceled(&self) -> bool {
        self.control.as_ref().is_some_and(UploadControl::is_canceled)
    }
}
