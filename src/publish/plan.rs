//! The plan: what would be sent, as data. A dry run prints it, the upload executes it, the receipt records it.

use super::contents::PublishContents;
use super::unchanged::Checked;
use super::{Select, Source};
use crate::base::git::Content;
use crate::model::interface::Interface;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Everything that an upload needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The header `sharedPipelineIdPrefix`.
    pub prefix: String,
    /// The header `versionName`.
    pub version_name: String,
    /// The full id of the head commit, the header `commitHash`.
    pub commit_hash: String,
    /// The header `branch`.
    pub branch: Option<String>,
    pub config_dir: String,
    /// One part each, by path.
    pub files: Vec<PlannedFile>,
    /// The enabled shared pipelines, in the order of their file.
    pub shared: Vec<SharedPipelineRef>,
    pub interface: Interface,
    /// What does not stop the publish and should be known, a sentence each.
    pub warnings: Vec<String>,
    /// The same for people, a sentence for all of one kind.
    pub told: Vec<String>,
    pub source: Source,
    /// Which of the selected files are taken.
    pub select: Select,
    /// Reads the files as they were read for the plan: what git unpacked for it is not unpacked for the upload again.
    pub(super) contents: Arc<PublishContents>,
}

/// One file, which becomes one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    /// The path from the repository root, with `/`: the name of the part.
    pub path: String,
    /// The size in bytes.
    pub bytes: u64,
    pub content: Content,
    /// The hash of what was checked, where the file could change before it is sent.
    pub(super) checked: Option<Checked>,
}

/// A shared pipeline that the artifact is to offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedPipelineRef {
    /// By this consumers name it.
    pub id: String,
    pub path: String,
}

impl Plan {
    /// The sum of the files' sizes in bytes.
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}
