//! Runs on a developer's machine.

mod remote_commits;
mod reproduction_command;
mod revisions;
mod uncommitted_changes;
