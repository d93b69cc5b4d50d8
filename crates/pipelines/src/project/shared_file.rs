//! The shared-pipelines file, as the checks need it.

use crate::pipelines::SharedPipelines;
use crate::yaml::DocumentError;
use std::collections::BTreeSet;

/// The shared-pipelines file.
pub struct SharedPipelinesFile {
    pub path: String,
    pub content: Result<SharedPipelines, DocumentError>,
    /// The pipelines in the file that exist.
    pub existing_pipelines: BTreeSet<String>,
}
