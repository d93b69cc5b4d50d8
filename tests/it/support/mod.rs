//! What the tests share: the program in a clean environment, repositories, a platform, and the jobs of CI hosts.

#[path = "../../../crates/local-platform/tests/service/bodies.rs"]
pub mod bodies;
#[path = "../../support/dice.rs"]
pub mod dice;
#[path = "../../support/geometry.rs"]
pub mod geometry;
#[path = "../../support/repo.rs"]
pub mod repo;
#[path = "../../support/schema.rs"]
pub mod schema;
#[path = "../../support/scratch.rs"]
pub mod scratch;
#[path = "../../support/tls_server.rs"]
pub mod tls_server;

mod history;
mod job;
mod program;
mod pull_request;
mod scripted_platform;

pub use history::*;
pub use job::*;
pub use program::*;
pub use pull_request::*;
pub use repo::*;
pub use scripted_platform::*;

use sluicegate_git::Repository;
use std::path::Path;

/// Opens the repository at this path.
pub fn open(path: &Path) -> Repository {
    Repository::open(path).unwrap()
}
