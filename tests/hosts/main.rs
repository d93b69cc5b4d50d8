//! Every event of every CI host, with histories and checkouts as the host creates them: the program must find the
//! branch and the commit that the remote has, the base, and exactly the changed pipelines.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/history.rs"]
mod history;
#[path = "../support/program.rs"]
mod program;
#[path = "../support/repo.rs"]
mod repo;
#[path = "../support/scratch.rs"]
mod scratch;

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
mod local_clone;
mod names;
mod policy_tip;
mod repositories;
mod required;

use sluicegate_git::Repository;
use std::path::Path;

fn open(path: &Path) -> Repository {
    Repository::open(path).unwrap()
}
