//! The parts of the shared-pipelines file that the checks read.

use crate::pipelines::SharedPipelines;
use crate::yaml::DocumentError;
use std::collections::BTreeSet;

/// The shared-pipelines file.
#[derive(Debug)]
pub struct SharedPipelinesFile {
    pub path: String,
    pub content: Result<SharedPipelines, DocumentError>,
    /// The pipelines in the file that exist.
    pub existing_pipelines: BTreeSet<String>,
}
