//! Every event of every CI host, on histories and checkouts as the host makes them: the program must name the branch
//! and the commit that the remote has, the base, and exactly the pipelines that changed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/history.rs"]
mod history;
#[path = "../support/program.rs"]
mod program;
#[path = "../support/repo.rs"]
mod repo;

mod azure;
mod bitbucket;
mod buildkite;
mod children;
mod circleci;
mod deepen;
mod explained;
mod foreign;
mod fork;
mod gitea;
mod github;
mod gitlab;
mod jenkins;
mod job;
mod laptop;
mod names;
mod repositories;
mod required;
