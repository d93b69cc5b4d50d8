//! Commands for the other resources of the platform's API.

pub(super) mod artifacts;
pub(super) mod events;
pub(super) mod pipelines;
pub(super) mod projects;
pub(super) mod provision;
pub(super) mod secret_value;
pub(super) mod streaming;
pub(super) mod tasks;
pub(super) mod variables;
pub(super) mod versions;
