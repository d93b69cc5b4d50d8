//! Reads the files of the working tree that may refer to other files.

use crate::document_content::{read_document, read_document_on_disk};
use crate::error::Failure;
use crate::job::policy::follow_links;
use crate::workspace::Workspace;
use sluicegate_base::input::is_utf_16;
use sluicegate_git::{FileKind, Snapshot, SnapshotFile};
use sluicegate_pipelines::pipelines::{PipelineFacts, is_pipeline, may_refer_to_files};
use sluicegate_yaml::DocumentError;

pub(crate) struct ReferenceReader<'r> {
    pub workspace: &'r Workspace<'r>,
    pub snapshot: &'r Snapshot<'r>,
}

/// The content of a pipeline file.
pub(crate) enum ReadFile {
    WithoutReferences,
    Pipeline(Vec<u8>, PipelineFacts),
    /// The content of a file that is not a valid pipeline, and the reason.
    Unparsable(Vec<u8>, String),
    /// The reason why the content could not be read, for example that it is too large.
    Unreadable(String),
}

impl ReferenceReader<'_> {
    /// Returns all pipelines that are regular files. Symbolic links are skipped.
    pub(crate) fn list_regular_pipelines(&self) -> Result<Vec<SnapshotFile>, Failure> {
        let mut files = self.snapshot.list_files(&is_pipeline)?;
        files.retain(|file| file.kind == FileKind::Regular);
        Ok(files)
    }

    /// Reads a pipeline and the references in it. A file that cannot be parsed is not an error here, because it matters
    /// only if it contains a moved path.
    pub(crate) fn read_references(&self, file: &SnapshotFile) -> Result<ReadFile, Failure> {
        let bytes = match self.read_bytes(file)? {
            Ok(bytes) => bytes,
            Err(error) => return Ok(ReadFile::Unreadable(error.message)),
        };
        if is_utf_16(&bytes) {
            return Ok(ReadFile::Unparsable(bytes, "the file is UTF-16".to_owned()));
        }
        if !may_refer_to_files(&bytes) {
            return Ok(ReadFile::WithoutReferences);
        }
        Ok(match PipelineFacts::parse(&bytes) {
            Ok(facts) => ReadFile::Pipeline(bytes, facts),
            Err(error) => ReadFile::Unparsable(bytes, error.message),
        })
    }

    /// Finds a file of the gate configuration; `None` if it is missing. As in a review, links within the repository are
    /// followed, so the path of the returned file can differ.
    pub(crate) fn find_gate_file(&self, path: &str) -> Result<Option<SnapshotFile>, Failure> {
        Ok(follow_links(&self.workspace.repo, self.snapshot, path)?.file)
    }

    /// Returns whether the file is checked out: with a sparse checkout, git knows files that are not on disk.
    pub(crate) fn is_on_disk(&self, path: &str) -> bool {
        let metadata = self.workspace.repo.root().join(path).symlink_metadata();
        metadata.is_ok_and(|metadata| metadata.is_file())
    }

    /// Reads the file from the disk, or from git if it is not checked out. The line endings on disk may differ from
    /// those in git, and a rewritten file must keep them. The inner error is the reason why the content cannot be used.
    pub(crate) fn read_bytes(&self, file: &SnapshotFile) -> Result<Result<Vec<u8>, DocumentError>, Failure> {
        if !self.is_on_disk(&file.path) {
            return Ok(read_document(&self.workspace.repo, file)?);
        }
        let content = read_document_on_disk(&self.workspace.repo.root().join(&file.path));
        Ok(content.unwrap_or_else(|error| Err(DocumentError::for_document(error.to_string()))))
    }
}
