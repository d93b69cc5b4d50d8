//! The reports of a run in every format, and `sluicegate report`.

mod changed_components;
mod comment_contents;
mod commit_of_report;
mod comparison;
mod failure_entries;
mod finding_limits;
mod formats;
mod notes;
mod output_paths;
mod report_pages;
mod shards_of_review;
mod step_summaries;
mod unfinished_runs;
