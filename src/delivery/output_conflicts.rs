//! Destinations that a run must not write: files that it reads, and files of the project.

use crate::error::Failure;
use sluicegate_pipelines::pipelines::{SHARED_PIPELINES_FILE, is_pipeline};
use std::path::Path;

/// Returns whether the path is that of an existing pipeline, shared-pipelines file, SQL or Python script. No run writes
/// such a file, so it is never the result of an earlier run.
pub(super) fn is_project_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_script = path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("sql") || extension.eq_ignore_ascii_case("py")
    });
    (is_script || is_pipeline(&name) || name == SHARED_PIPELINES_FILE) && path.is_file()
}

/// Returns whether the paths are equal, or refer to the same existing file.
pub(crate) fn is_same_file(path: &Path, other_path: &Path) -> bool {
    path == other_path
        || matches!((path.canonicalize(), other_path.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Returns the error that the run would overwrite a file that it reads, or a file of the project.
pub(super) fn input_path_failure(path: &Path) -> Failure {
    let reason = if is_project_file(path) {
        "this is an existing pipeline, script or shared pipelines file"
    } else {
        "the command reads this file"
    };
    let message = format!("cannot write {}: {reason}", path.display());
    Failure::usage(message).with_hint("write to another path")
}
