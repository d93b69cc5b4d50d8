//! `sluicegate publish`: plans, uploads, and the versions that result.

mod branch_of_job;
mod call_styles;
pub mod command_outcomes;
mod dry_run;
pub mod faulty_server;
mod first_version;
mod killed_publishes;
pub mod merged_commits;
pub mod next_version;
mod placeholder_files;
mod plan_contents;
pub mod planned_project;
mod selected_commit;
pub mod server_faults;
mod unexpanded_values;
mod upload_outcomes;
mod uploaded_bytes;
mod version_order;
pub mod worktree_files;
