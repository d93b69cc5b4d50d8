//! What the tests share: the program in a clean environment, repositories, a platform, and the jobs of CI hosts.

mod checkout;
mod comments;
mod history;
mod job;
mod loose_object;
mod program;
pub mod publishing;
pub mod release;
mod scripted_platform;
mod shop;
mod smoke;

pub use checkout::*;
pub use comments::*;
pub use history::*;
pub use job::*;
pub use loose_object::*;
pub use program::*;
pub use scripted_platform::*;
pub use shop::*;
pub use sluicegate_test_support::repository::*;
pub use sluicegate_test_support::{
    Arguments, dice, json_schema, orchestration_text, picture_geometry, platform_requests, scratch,
    tls_server,
};
pub use smoke::*;

use sluicegate_git::Repository;
use std::path::{Path, PathBuf};

/// The rule that the tests violate most.
pub const NAMING: &str = "component-naming-convention";

/// All report formats.
pub const FORMATS: [&str; 10] = [
    "junit",
    "junit-strict",
    "json",
    "sarif",
    "gitlab",
    "markdown",
    "html",
    "rdjson",
    "checkstyle",
    "github",
];

/// Returns the text as UTF-16, with a byte order mark.
pub fn encode_utf_16(text: &str) -> Vec<u8> {
    let units = text.encode_utf16().flat_map(u16::to_le_bytes);
    [0xFF, 0xFE].into_iter().chain(units).collect()
}

/// Opens the repository at this path.
pub fn open(path: &Path) -> Repository {
    Repository::open(path).unwrap()
}

/// Returns the directory of the workspace.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
