//! The gate is configured by the job and the target of the change, never by the change.

mod first_configuration_file;
mod named_target;
mod policy_commit;
mod policy_source;
pub mod stricter_target;
mod target_branch;
mod unread_config_file;
