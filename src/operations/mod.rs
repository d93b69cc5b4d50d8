//! Does the work of each command that needs more than its own file, except for the gate: one module for each command.
//! Code that two commands share is in the module for its subject, such as `session` or `gate`.

pub(crate) mod agent_fix;
pub(crate) mod artifacts;
pub(crate) mod behavior_flag;
pub(crate) mod completions;
pub(crate) mod cursor_file;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod executions;
pub(crate) mod file_moves;
pub(crate) mod init;
pub(crate) mod last_enabled_version;
pub(crate) mod local_fix;
pub(crate) mod manual_page;
pub(crate) mod projects;
pub(crate) mod provision;
pub(crate) mod rules;
pub(crate) mod schemas;
pub(crate) mod state_lock;
pub(crate) mod streaming;
pub(crate) mod tasks;
pub(crate) mod variables;
pub(crate) mod verification;
pub(crate) mod versions;
pub(crate) mod waivers;
