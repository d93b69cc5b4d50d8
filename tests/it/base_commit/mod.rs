//! The commits that a change is compared with.

mod changed_target;
mod deepen;
mod default_branch;
mod malformed_commits;
mod merge_queue;
mod merged_changes;
mod reference_names;
mod several_merge_bases;
mod target_evidence;
