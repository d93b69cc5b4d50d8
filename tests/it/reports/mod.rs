//! The reports of a run in every format, and `sluicegate report`.

mod changed_components;
mod commit_of_report;
mod comparison;
mod failure_entries;
mod formats;
mod notes;
mod shards_of_review;
mod step_summaries;
mod unfinished_runs;
