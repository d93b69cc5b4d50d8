//! Reads the files of the working tree that may name others.

use crate::base::error::Failure;
use crate::base::git::{Content, FileKind, Snapshot, SnapshotFile, read_on_disk};
use crate::commands::gate::workspace::Workspace;
use crate::model::pipelines::{PipelineFacts, document, is_pipeline, may_name_files};
use crate::model::yaml::DOCUMENT_LIMIT;

pub(super) struct Reading<'r> {
    pub workspace: &'r Workspace<'r>,
    pub snapshot: &'r Snapshot<'r>,
}

/// What a pipeline file holds.
pub(super) enum ReadFile {
    NamesNothing,
    Pipeline(Vec<u8>, PipelineFacts),
    /// It is no pipeline: its bytes, as far as they can be had, and why.
    Unread(Vec<u8>, String),
}

impl Reading<'_> {
    /// All pipelines that are files; links are none.
    pub(super) fn pipelines(&self) -> Result<Vec<SnapshotFile>, Failure> {
        let mut files = self.snapshot.files(&is_pipeline)?;
        files.retain(|file| file.kind == FileKind::Regular);
        Ok(files)
    }

    pub(super) fn read(&self, file: &SnapshotFile) -> Result<ReadFile, Failure> {
        let bytes = match document(&self.workspace.repo, file)? {
            Ok(bytes) => bytes,
            Err(why) => return Ok(ReadFile::Unread(raw(file), why.message)),
        };
        if !may_name_files(&bytes) {
            return Ok(ReadFile::NamesNothing);
        }
        Ok(match PipelineFacts::parse(&bytes) {
            Ok(facts) => ReadFile::Pipeline(bytes, facts),
            Err(why) => ReadFile::Unread(bytes, why.message),
        })
    }

    /// A document of the gate at this path, if it is a file on disk.
    pub(super) fn of_gate(&self, path: &str) -> Result<Option<Vec<u8>>, Failure> {
        let Some(file) = self
            .snapshot
            .find(path)?
            .filter(|file| file.kind == FileKind::Regular)
        else {
            return Ok(None);
        };
        Ok(document(&self.workspace.repo, &file)?.ok())
    }
}

/// The bytes as they are, as far as they can be had.
fn raw(file: &SnapshotFile) -> Vec<u8> {
    match &file.content {
        Content::Disk(full) => read_on_disk(full, DOCUMENT_LIMIT)
            .ok()
            .flatten()
            .unwrap_or_default(),
        Content::Blob(_) => Vec::new(),
    }
}
