//! The input of the project checks.

use super::change_renames::{FindEarlierCallee, Renames};
use super::shared_file::SharedPipelinesFile;
use crate::pipelines::{PipelineFacts, PipelineFiles};
use sluicegate_base::file_defect::FileDefect;
use std::collections::BTreeMap;

/// The globs that select the files of a publish. Paths start at the repository root, with `/`.
pub trait PublishGlobs {
    /// Returns whether the file at this path is selected.
    fn selects_file(&self, path: &str) -> bool;

    /// Returns whether the file at this path is excluded in any case. A script is sent with its pipeline even if it is
    /// not selected, and only this function can exclude it.
    fn excludes_file(&self, path: &str) -> bool;
}

/// The input of the project checks: the files of a commit or of the working tree.
pub struct Project<'p> {
    /// All pipelines, so that calls can be resolved.
    pub files: &'p PipelineFiles<'p>,
    /// The facts of the checked pipelines; `None` if a pipeline cannot be read.
    pub facts: &'p BTreeMap<String, Option<PipelineFacts>>,
    /// The referenced scripts that exist, each with its defect; `None` for a usable script.
    pub scripts: &'p BTreeMap<String, Option<FileDefect>>,
    /// What is at the path of a referenced script instead of a regular file, such as `a symbolic link, not a file`.
    pub irregular_scripts: &'p BTreeMap<String, &'static str>,
    /// The paths of all regular files, in which the target of a missing script is searched; empty if no script is
    /// missing.
    pub regular_paths: &'p [String],
    pub shared_file: Option<&'p SharedPipelinesFile>,
    /// Returns whether a reference intentionally leads out of the project.
    pub is_external: &'p dyn Fn(&str) -> bool,
    /// The selection of a publish; `None` if it contains all files.
    pub publish_globs: Option<&'p dyn PublishGlobs>,
    /// The renames of the change; `None` if the messages need no hints, which take time.
    pub renames: Option<&'p Renames<'p>>,
    pub find_earlier_callee: &'p FindEarlierCallee<'p>,
    /// True if the messages may name `sluicegate mv --repair`, which needs a git repository.
    pub can_repair: bool,
}

impl Project<'_> {
    /// Returns whether a publish omits the pipeline at this path.
    pub(super) fn is_unpublished_pipeline(&self, path: &str) -> bool {
        self.publish_globs
            .is_some_and(|selection| !selection.selects_file(path))
    }

    /// Returns whether a publish omits the script at this path.
    pub(super) fn is_unpublished_script(&self, path: &str) -> bool {
        self.publish_globs
            .is_some_and(|selection| selection.excludes_file(path))
    }
}
