//! The shared-pipelines file, as the checks need it.

use crate::model::pipelines::SharedPipelines;
use crate::model::yaml::DocumentError;
use std::collections::BTreeSet;

/// The shared-pipelines file.
pub struct SharedSide {
    pub path: String,
    pub content: Result<SharedPipelines, DocumentError>,
    /// The pipelines in the file that exist.
    pub there: BTreeSet<String>,
}
