//! Creates the upload request of a plan.

use super::contents::PublishContents;
use super::hash::{Hashes, Hashing};
use super::plan::{Plan, PlannedFile};
use super::unchanged::Unchanged;
use sluicegate_platform::api::{PartSource, Upload, UploadPart};
use std::io::{self, Read};
use std::sync::Arc;

/// Receives the number of bytes of the request that were sent so far; starts again with each try.
pub type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// Creates the upload of a plan; its contents are read, and hashed if requested, while they are sent.
pub(super) fn upload(plan: &Plan, hashes: Option<Hashes>, progress: Option<Progress>) -> Upload {
    let part = |file: &PlannedFile| UploadPart {
        name: file.path.clone(),
        length: file.bytes,
    };
    let parts = plan.files.iter().map(part);
    Upload {
        prefix: plan.prefix.clone(),
        version: plan.version_name.clone(),
        commit_hash: Some(plan.commit_hash.clone()),
        branch: plan.branch.clone(),
        parts: parts.collect(),
        source: Arc::new(UploadParts {
            files: plan.files.clone(),
            contents: Arc::clone(&plan.contents),
            hashes,
        }),
        progress,
    }
}

/// The plan's files, opened one after the other while they are sent.
struct UploadParts {
    files: Vec<PlannedFile>,
    contents: Arc<PublishContents>,
    hashes: Option<Hashes>,
}

impl PartSource for UploadParts {
    fn open(&self, part: usize) -> io::Result<Box<dyn Read + Send>> {
        let file = self.files.get(part).ok_or(io::ErrorKind::NotFound)?;
        let content = self
            .contents
            .open(&file.content, file.bytes)
            .map_err(io::Error::other)?;
        let content: Box<dyn Read + Send> = match file.checked {
            Some(checked) => Box::new(Unchanged::new(content, checked)),
            None => content,
        };
        Ok(match &self.hashes {
            Some(hashes) => Box::new(Hashing::new(content, part, file.bytes, hashes.clone())),
            None => content,
        })
    }
}
