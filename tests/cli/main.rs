//! The program as a user runs it: the binary, real git repositories, real HTTP on loopback.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/program.rs"]
mod program;
#[path = "../support/repo.rs"]
mod repo;

mod context;
mod demo;
mod events;
mod faults;
mod local;
mod pipelines;
mod projects;
mod provision;
mod publish;
mod review;
mod serve;
mod streaming;
mod tasks;
mod usage;
mod users_path;
mod variables;
mod verdict;
mod world;
