//! Whether a file lies in the repository, and so is the change's, or outside, and so is the job's.

use std::path::{Component, Path, PathBuf};

/// The file as a path from the repository root; none if it lies outside, with no part of its path in the repository.
///
/// A folder or link on the way that is in the repository makes the rest the repository's: where it leads is for the
/// change to say.
pub fn in_repository(root: &Path, file: &Path) -> Option<String> {
    let root = root.canonicalize().ok()?;
    let file = plain(file);
    let mut way: Vec<&Path> = file.ancestors().collect();
    way.reverse();
    way.into_iter().find_map(|so_far| {
        let inside = so_far.canonicalize().ok()?;
        let inside = inside.strip_prefix(&root).ok()?.to_path_buf();
        let rest = file.strip_prefix(so_far).ok()?;
        Some(with_slashes(&inside.join(rest)))
    })
}

/// The path without `.` and `..`, by its words alone, so that it may name a file that exists in a commit only.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

fn with_slashes(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
