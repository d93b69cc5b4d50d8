//! The documents that the platform stores in a project repository: pipelines, the shared-pipelines file and the folder
//! with the platform's configuration.
//!
//! Rules need only a small part of a pipeline, so its `design` half is never kept.

mod config_folder;
mod facts;
mod model;
mod names;
mod normal_forms;
mod quotes;
mod read;
mod references;
mod shared;
mod shared_edit;
mod written;

pub use config_folder::{ConfigFolderError, RULES_FILE, SHARED_PIPELINES_FILE, config_folder};
pub use facts::{DanglingLink, PipelineFacts, SoughtNames, may_name_files};
pub use model::{
    Argument, Call, Component, Condition, Kind, Link, LinkRole, Pipeline, PipelineVariable, ReferenceKind,
    is_pipeline, without_extension,
};
pub(crate) use names::ABOUT_THE_PIPELINE;
pub use names::{NamedPipelines, NamedSubject, SubjectKind};
pub(crate) use normal_forms::NormalForms;
pub(crate) use read::Outline;
pub use references::{CallWalk, PipelineFiles, Reference, ReferenceTarget, Resolved, file_name};
pub use shared::{SharedColumn, SharedEntry, SharedParameter, SharedPipelines};
pub use shared_edit::{NewSharedEntry, SharedEditError};
