//! `sluicegate mv`.

mod references;
mod team_rules;
mod unsearched_files;
