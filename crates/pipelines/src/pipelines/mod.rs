//! The documents that the platform stores in a project repository: pipelines, the shared-pipelines file and the hidden
//! directory with the platform's configuration.
//!
//! Rules need only a small part of a pipeline, so its layout, the key `design`, is never kept.

mod config_dir;
mod empty_list;
mod gate_file_names;
mod new_shared_entry;
mod node_text;
mod pipeline_document;
mod pipeline_facts;
mod pipeline_model;
mod quoted_names;
mod quotes;
mod references;
mod shared_pipelines;
mod spelling_index;
mod subject_index;

pub use config_dir::{
    CONFIG_DIR_FILES, ConfigDirError, RULES_FILE, SHARED_PIPELINES_FILE, find_config_dir, is_platform_file,
    is_rules_path, rules_path, shared_pipelines_path,
};
pub use gate_file_names::{CONFIG_FILE, GATE_FILES, TEAM_RULES_FILE, WAIVERS_FILE};
pub use new_shared_entry::{NewSharedEntry, SharedEditError};
pub(crate) use pipeline_document::{LAYOUT_KEY, PipelineOutline};
pub use pipeline_facts::{
    DanglingLink, FileNameSearch, PipelineFacts, build_spelling_search, may_refer_to_files,
};
pub(crate) use pipeline_model::NAME_KEYS;
pub use pipeline_model::{
    Call, CallArgument, Component, Link, LinkRole, Pipeline, PipelineKind, PipelineVariable, ReferenceKind,
    TransitionCondition, is_pipeline, trim_pipeline_extension,
};
pub use references::{CallResolution, CallWalk, PipelineFiles, Reference, ReferenceTarget, file_name};
pub(crate) use references::{complete_path, is_expression, sibling_path};
pub use shared_pipelines::{SharedColumn, SharedEntry, SharedParameter, SharedPipelines};
pub use spelling_index::to_lowercase_nfc;
pub(crate) use spelling_index::{OtherSpelling, SpellingDifference, SpellingIndex};
pub(crate) use subject_index::ABOUT_THE_PIPELINE;
pub use subject_index::{NamedSubject, SubjectIndex, SubjectKind, SubjectMatch};
