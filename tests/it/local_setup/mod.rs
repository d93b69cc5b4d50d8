//! Runs on a developer's machine.

mod git_variables;
mod remote_commits;
mod reproduction_command;
mod revisions;
mod sparse_checkouts;
mod uncommitted_changes;
