//! What the tests share: the program in a clean environment, repositories, a platform, and the jobs of CI hosts.

mod history;
mod job;
mod program;
mod pull_request;
mod scripted_platform;

pub use history::*;
pub use job::*;
pub use program::*;
pub use pull_request::*;
pub use scripted_platform::*;
pub use sluicegate_test_support::repository::*;
pub use sluicegate_test_support::{
    dice, json_schema, picture_geometry, platform_requests, scratch, tls_server,
};

use sluicegate_git::Repository;
use std::path::Path;

/// Opens the repository at this path.
pub fn open(path: &Path) -> Repository {
    Repository::open(path).unwrap()
}
