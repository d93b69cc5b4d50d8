//! The parts of the shared-pipelines file that the checks read.

use crate::pipelines::SharedPipelines;
use sluicegate_yaml::DocumentError;
use std::collections::BTreeSet;

/// The shared-pipelines file.
#[derive(Debug)]
pub struct SharedPipelinesFile {
    pub path: String,
    pub content: Result<SharedPipelines, DocumentError>,
    /// The paths of the listed pipelines that exist in the project.
    pub existing_pipelines: BTreeSet<String>,
}
