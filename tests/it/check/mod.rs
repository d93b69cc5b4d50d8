//! `sluicegate check`: the rules, evaluated locally.

mod bounded_work;
mod default_rules;
mod hostile_documents;
mod merge_conflicts;
mod plain_directory;
mod pre_commit_hook;
mod standard_input;
mod working_tree_and_index;
