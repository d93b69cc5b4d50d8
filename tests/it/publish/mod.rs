//! `sluicegate publish`: plans, uploads, and the versions that result.

mod adoption_commits;
mod branch_of_job;
mod call_styles;
mod command_outcomes;
mod consumed_versions;
mod dry_run;
mod faulty_server;
mod first_version;
mod killed_publishes;
pub mod merged_commits;
mod next_version;
mod other_version;
mod placeholder_files;
mod plan_contents;
mod planned_project;
mod selected_commit;
mod server_faults;
mod smoke_reruns;
mod smoke_runs;
mod unexpanded_values;
mod upload_outcomes;
mod uploaded_bytes;
mod version_order;
mod worktree_files;
