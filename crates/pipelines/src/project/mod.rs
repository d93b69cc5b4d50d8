//! Checks of the project: broken references between files.
//!
//! A rule evaluates one pipeline, but many real problems are between pipelines. Begin with `project_check`, which lists
//! the checks. `project_findings` derives findings from a project's facts without reading files; the gate decides which
//! facts are read, and from which commit. A publish also uses the `messages`, because it rejects the same problems.

mod call_groups;
mod change_renames;
mod messages;
mod problem;
mod project_check;
mod project_contents;
mod project_documentation;
mod project_findings;
mod referring_file;
mod script_suggestions;
mod shared_file;
mod suggestions;

pub use change_renames::{EarlierCallee, FindEarlierCallee, Renames};
pub use messages::{
    DIRECTORY_FIX_HINT, FIX_HINT, MISSING_FILE, NOT_A_PIPELINE, STAGED_FIX_HINT, describe_ambiguous_call,
    describe_broken_entry, describe_call_of_missing_pipeline, describe_irregular_script,
    describe_missing_script, describe_undeclared_parameter, describe_unusable_script,
};
pub use problem::is_about_link;
pub use project_check::{CheckLevels, ProjectCheck};
pub use project_contents::{Project, PublishGlobs};
pub use project_documentation::{ProjectDocumentation, render_project_checks_reference};
pub use project_findings::report_removed_shared_file;
pub use script_suggestions::ScriptSuggestions;
pub use shared_file::SharedPipelinesFile;
pub use suggestions::{CallHint, CallSuggestions, ComponentSuggestions};
