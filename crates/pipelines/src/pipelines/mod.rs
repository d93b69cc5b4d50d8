//! The documents that the platform stores in a project repository: pipelines, the shared-pipelines file and the folder
//! with the platform's configuration.
//!
//! Rules need only a small part of a pipeline, so its `design` half is never kept.

mod config_folder;
mod facts;
mod model;
mod new_shared_entry;
mod node_text;
mod normal_forms;
mod pipeline_document;
mod quotes;
mod references;
mod shared_pipelines;
mod subject_index;

pub use config_folder::{ConfigFolderError, RULES_FILE, SHARED_PIPELINES_FILE, config_folder};
pub use facts::{DanglingLink, PipelineFacts, SoughtNames, may_name_files};
pub use model::{
    Argument, Call, Component, Condition, Kind, Link, LinkRole, Pipeline, PipelineVariable, ReferenceKind,
    is_pipeline, without_extension,
};
pub use new_shared_entry::{NewSharedEntry, SharedEditError};
pub(crate) use normal_forms::NormalForms;
pub(crate) use pipeline_document::Outline;
pub use references::{CallWalk, PipelineFiles, Reference, ReferenceTarget, Resolved, file_name};
pub use shared_pipelines::{SharedColumn, SharedEntry, SharedParameter, SharedPipelines};
pub(crate) use subject_index::ABOUT_THE_PIPELINE;
pub use subject_index::{NamedPipelines, NamedSubject, SubjectKind};
