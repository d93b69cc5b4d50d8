//! The work of the commands apart from the gate that need more than their own file: one module for each. What two of
//! them share is in the module of its subject, such as `session` or `gate`.

pub(crate) mod agent_fix;
pub(crate) mod artifacts;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod executions;
pub(crate) mod file_moves;
pub(crate) mod init;
pub(crate) mod local_fix;
pub(crate) mod projects;
pub(crate) mod provision;
pub(crate) mod rules;
pub(crate) mod schemas;
pub(crate) mod streaming;
pub(crate) mod tasks;
pub(crate) mod variables;
pub(crate) mod verification;
pub(crate) mod versions;
pub(crate) mod waivers;
