//! Facts that both kinds of predicates contain.

use serde::{Deserialize, Serialize};

/// A file with the SHA-256 of its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FileDigest {
    /// The path relative to the repository root, or only the file name if the file belongs to the job.
    pub(crate) path: String,
    /// SHA-256 of the content, in hex.
    pub(crate) sha256: String,
    /// The file belongs to the job and is outside of the repository.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) of_job: bool,
}

impl FileDigest {
    /// Creates the digest of a file in the repository.
    pub(crate) const fn new(path: String, sha256: String) -> Self {
        Self {
            path,
            sha256,
            of_job: false,
        }
    }
}

/// The files of the gate configuration that applies: `sluicegate.yaml`, the waivers and the rules of the team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyDigests {
    /// Full id of the commit that the files were read from; `None` for the files on disk of a local run.
    pub(crate) commit: Option<String>,
    /// The files that exist, in a fixed order.
    pub(crate) files: Vec<FileDigest>,
}

/// The program that created the statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) version: String,
}

impl Tool {
    /// Returns the name and the version of this program.
    pub(crate) fn current() -> Self {
        Self {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}
