//! Publishing with real repositories and a server with scripted responses.

#![allow(clippy::too_many_lines, reason = "a test tells its story in one piece")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/repo.rs"]
mod repo;
#[path = "../support/scratch.rs"]
mod scratch;

mod bytes;
mod faults;
mod faulty;
mod plan;
mod project;
mod styles;
mod upload;
mod worktree;
