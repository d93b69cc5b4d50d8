//! The shared-pipelines file, which defines what the artifact offers.

use super::content_reader::{ContentHash, ContentReader, hash_changeable_content};
use super::file_listing::{FileListing, reject_uncertain_files};
use super::{PublishError, SharedPipelineProblem};
use sluicegate_git::{FileKind, SnapshotFile};
use sluicegate_pipelines::interface::Interface;
use sluicegate_pipelines::pipelines::{SharedEntry, SharedPipelines, shared_pipelines_path};
use sluicegate_yaml::{DocumentError, MAX_DOCUMENT_BYTES, Position};

pub(super) struct PlannedSharedFile {
    pub interface: Interface,
    pub file: SnapshotFile,
    /// Hash of the content, if the file could change before it is sent.
    pub checked_hash: Option<ContentHash>,
}

impl PlannedSharedFile {
    /// Reads the shared-pipelines file in the platform's hidden directory `config_dir`. Fails if the file is missing or
    /// invalid, or if its content is uncertain (see [`reject_uncertain_files`]).
    pub(super) fn load(
        listing: &FileListing<'_>,
        contents: &ContentReader,
        config_dir: &str,
    ) -> Result<Self, PublishError> {
        let path = shared_pipelines_path(config_dir);
        let file = listing
            .find_file(&path)?
            .filter(|file| file.kind != FileKind::Submodule);
        let Some(file) = file else {
            return Err(PublishError::NoSharedFile {
                other_path: find_file_in_other_directory(listing)?,
                path,
                place: listing.source_name(),
            });
        };
        reject_uncertain_files(std::iter::once(&file))?;
        let bytes = contents.read_content(&file.content, MAX_DOCUMENT_BYTES)?;
        let checked_hash = bytes
            .as_deref()
            .and_then(|bytes| hash_changeable_content(&file.content, bytes));
        let parse_result = match bytes {
            Some(bytes) => SharedPipelines::parse(&bytes),
            // The content of a file that is too large is not returned.
            None => Err(DocumentError::too_large()),
        };
        match parse_result {
            Ok(shared_pipelines) => Ok(Self {
                interface: Interface::new(path, shared_pipelines),
                file,
                checked_hash,
            }),
            Err(error) => Err(PublishError::BadSharedFile { path, error }),
        }
    }

    pub(super) fn path(&self) -> &str {
        &self.interface.file
    }

    /// Returns all entries, in file order.
    pub(super) fn all_entries(&self) -> &[SharedEntry] {
        &self.interface.entries
    }

    /// Creates a problem at this position in the file.
    pub(super) fn build_problem(&self, position: Position, description: String) -> SharedPipelineProblem {
        SharedPipelineProblem {
            path: self.path().to_owned(),
            line: Some(position.line),
            component: None,
            description,
        }
    }

    /// Returns the enabled entries, which the version offers to consumers.
    pub(super) fn offered_entries(&self) -> impl Iterator<Item = &SharedEntry> {
        self.interface.offered_entries()
    }
}

/// Returns the path of a shared-pipelines file in a hidden directory at the root, if there is one.
fn find_file_in_other_directory(listing: &FileListing<'_>) -> Result<Option<String>, PublishError> {
    for dir in listing.list_root_dirs()? {
        let path = shared_pipelines_path(&dir);
        if dir.starts_with('.') && listing.find_file(&path)?.is_some() {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
