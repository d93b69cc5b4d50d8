//! Compares two versions of a pipeline and returns the changes as data.
//!
//! Text, JSON and pictures all show the same model, a [`PipelineDiff`]. It is complete by construction: every leaf of
//! the two documents that differs is in exactly one place (a component's fields, the links, the variables, the rest),
//! or is layout. The head can therefore be rebuilt from the base and the diff, which a test does.
//!
//! The values of the YAML are compared. The quoting and folding of a scalar, and the order of keys and links, are
//! layout, as is everything below `design`.

mod comparison_budget;
mod component_rename;
mod description;
mod diff_document;
mod diff_line;
mod diff_summary;
mod diff_walk;
mod field_description;
mod field_groups;
mod file_change_line;
mod leaf;
mod line_diff;
mod line_shares;
mod list_alignment;
mod list_names;
mod moved_entries;
mod moved_variables;
mod multiline_description;
mod named_links;
mod pair;
mod part_description;
mod pipeline_comparison;
mod pipeline_diff;
mod pipeline_versions;
mod plain_file;
mod shared_fields;
mod stopped_components;
mod value_text;
mod version_side;

pub use description::describe_diff;
pub use diff_line::{DiffLine, Sign};
pub use pipeline_comparison::{compare_read_trees, compare_trees, compare_versions};
pub use pipeline_diff::{ComponentChange, LinkChange, LinkDiff, PipelineDiff};
pub use pipeline_versions::{PipelineVersions, VersionTrees};
pub use plain_file::compare_plain_files;
pub(crate) use value_text::format_renamed_names;

#[cfg(test)]
mod tests;
