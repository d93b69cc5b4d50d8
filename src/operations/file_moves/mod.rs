//! Moves files and updates every reference to them, or repairs broken references.

pub(crate) mod file_edit;
pub(crate) mod gate_edit_builder;
pub(crate) mod gate_file_edits;
pub(crate) mod gate_file_moves;
pub(crate) mod kept_references;
pub(crate) mod linked_files;
pub(crate) mod move_paths;
pub(crate) mod move_plan;
pub(crate) mod move_summary;
pub(crate) mod plan_execution;
pub(crate) mod reference_reader;
pub(crate) mod repair_edits;
pub(crate) mod team_rule_edits;
pub(crate) mod uncommitted_changes;
mod unparsable_mentions;
mod waiver_repairs;
