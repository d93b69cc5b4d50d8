//! Publishing, over real repositories and a server that answers as it is told.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/repo.rs"]
mod repo;

mod plan;
mod project;
mod upload;
mod worktree;
