//! Realistic git repositories: histories created with the git program, and hostile objects.

#![allow(
    clippy::needless_borrows_for_generic_args,
    reason = "arguments are a text or a borrowed list"
)]
#![allow(unreachable_pub, reason = "the modules of a test share helpers")]
#![allow(clippy::too_many_lines, reason = "a test tells its story in one piece")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bases;
mod changes;
mod odd;
mod reading;

use sluicegate_git::{Change, ChangeKind, Repository};
use std::path::Path;

fn open(path: &Path) -> Repository {
    Repository::open(path).unwrap()
}

fn matches_anything(_: &str) -> bool {
    true
}

fn pipelines(path: &str) -> bool {
    path.ends_with(".orch.yaml") || path.ends_with(".tran.yaml")
}

/// Returns the changes in short form, such as `M a.orch.yaml`.
fn short(changes: &[Change]) -> Vec<String> {
    changes.iter().map(one).collect()
}

fn one(change: &Change) -> String {
    match &change.kind {
        ChangeKind::Added => format!("A {}", change.path),
        ChangeKind::Modified => format!("M {}", change.path),
        ChangeKind::Renamed { from, .. } => format!("R {from} -> {}", change.path),
        ChangeKind::Deleted => format!("D {}", change.path),
        ChangeKind::TypeChanged => format!("T {}", change.path),
    }
}
