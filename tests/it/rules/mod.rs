//! `sluicegate rules`, and rules files that are missing or invalid.

mod invalid_rules_files;
mod missing_rules_file;
mod rules_commands;
