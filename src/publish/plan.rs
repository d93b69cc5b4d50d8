//! The plan: the upload as data. A dry run prints it, the upload executes it, the receipt records it.

use super::content_reader::{ContentHash, ContentReader};
use super::{FileSelection, FileSource};
use serde::{Deserialize, Serialize};
use sluicegate_git::FileContent;
use sluicegate_pipelines::interface::Interface;
use std::sync::Arc;

/// All data that an upload needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Value of the header `sharedPipelineIdPrefix`.
    pub prefix: String,
    /// Value of the header `versionName`.
    pub version_name: String,
    /// Full id of the head commit, for the header `commitHash`.
    pub commit_hash: String,
    /// Value of the header `branch`.
    pub branch: Option<String>,
    pub config_dir: String,
    /// The files, sorted by path; each becomes a part.
    pub files: Vec<PlannedFile>,
    /// The enabled shared pipelines, in the order of their file.
    pub shared_pipelines: Vec<SharedPipelineRef>,
    pub interface: Interface,
    /// Warnings that do not stop the publish, a sentence each.
    pub warnings: Vec<String>,
    /// The warnings for people, a sentence for all of a kind.
    pub warning_summary: Vec<String>,
    pub source: FileSource,
    /// The selection rule for files.
    pub selection: FileSelection,
    /// The number of files that the shared pipelines need; the others are sent because they are selected.
    pub needed_count: usize,
    /// Reader of the files. The upload uses the same reader as the plan, so that git does not unpack the files again.
    pub(super) reader: Arc<ContentReader>,
}

/// A file, which becomes a part of the upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    /// Path from the repository root, with `/`; the name of the part.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    pub content: FileContent,
    /// Hash of the checked content, if the file could change before it is sent.
    pub(super) checked_hash: Option<ContentHash>,
}

/// A shared pipeline that the artifact offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedPipelineRef {
    /// Id by which consumers refer to the shared pipeline.
    pub id: String,
    pub path: String,
}

impl Plan {
    /// Returns the planned version for a message: its name and its prefix.
    pub fn describe_version(&self) -> String {
        format!("version {} of {}", self.version_name, self.prefix)
    }

    /// Returns whether a file with this path is planned. The planned files are sorted by path.
    pub fn has_file(&self, path: &str) -> bool {
        self.files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .is_ok()
    }

    /// Returns whether a file is read from disk.
    pub(super) fn has_disk_files(&self) -> bool {
        self.files
            .iter()
            .any(|file| matches!(file.content, FileContent::Disk(_)))
    }

    /// Returns the total size of the files in bytes.
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}
