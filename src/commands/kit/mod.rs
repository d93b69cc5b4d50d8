//! Shared by all commands: the client, the output of results and failures, signals.

pub(super) mod client;
pub(super) mod failure;
pub(super) mod named_file;
pub(super) mod output;
pub(super) mod published;
pub(super) mod resource;
pub(super) mod signals;
pub(super) mod step_report;
pub(super) mod table;
