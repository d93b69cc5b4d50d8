//! Writes the files of `init`: detects the repository's setup, plans and writes the files, and explains the result.

pub(crate) mod adoption_messages;
pub(crate) mod current_findings;
pub(crate) mod file_templates;
pub(crate) mod git_diff;
pub(crate) mod host_recipes;
pub(crate) mod init_plan;
pub(crate) mod init_summary;
pub(crate) mod new_files;
pub(crate) mod new_settings;
mod program_source;
pub(crate) mod repository_facts;
pub(crate) mod rule_figures;
