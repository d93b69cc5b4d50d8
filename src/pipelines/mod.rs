//! The YAML documents that the platform keeps in a project repository, with their line numbers.
//!
//! Pipelines, the shared-pipelines file and the folder that holds the platform's configuration. The documents come
//! from a repository that anybody may have changed, so every reader here is bounded: depth, size, what aliases expand
//! to. They are read from the parser's events and not from its tree, because rules need a small part of a pipeline
//! (its `design` half is never kept) and thousands of files are read in one run.

mod build;
mod config_folder;
mod document;
mod model;
mod names;
mod read;
mod references;
mod scalar;
mod shared;
mod tree;

pub use config_folder::{ConfigFolderError, RULES_FILE, SHARED_PIPELINES_FILE, config_folder};
pub(crate) use document::shortened;
pub use document::{DocumentError, Position};
pub use model::{Call, Component, Condition, Kind, Link, LinkRole, Pipeline, Variable};
pub use names::{ABOUT_THE_PIPELINE, ABOUT_THE_RULES_FILE};
pub use references::{PipelineFiles, Reference, ReferenceKind, Resolved, Target};
pub use scalar::Value;
pub use shared::{SharedEntry, SharedPipelines};
pub use tree::{NodeRef, Tree};
