//! The commands for the rest of the platform's API, against a platform with scripted responses.

mod artifacts;
mod events;
mod pipelines;
mod projects;
mod provision;
mod proxies;
mod shared_behavior;
mod streaming;
mod tasks;
mod variables;
