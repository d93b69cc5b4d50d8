//! The files of the gate configuration that cannot be used in the reviewed commit.

use crate::job::policy::GateFileVersion;
use sluicegate_yaml::{DocumentError, format_place};

/// The problems of the files of the gate configuration that cannot be used.
#[derive(Debug, Default)]
pub(crate) struct UnusableGateFiles {
    pub(super) parts: Vec<UnusablePart>,
}

/// A part of the gate configuration that cannot be used.
#[derive(Debug)]
pub(super) struct UnusablePart {
    pub(super) part: GatePart,
    pub(super) problem: GateFileProblem,
    /// The change makes the part unusable. Otherwise, the part had the same problem before the change.
    pub(super) is_new: bool,
}

/// A part of the gate configuration that a run may be unable to use. Problems are listed in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GatePart {
    /// The choice of the platform's hidden directory.
    HiddenDirectory,
    /// The paths of the outputs in the configuration file.
    OutputPaths,
    /// The platform's rules file.
    Rules,
    /// The configuration file.
    Settings,
    SharedPipelines,
    TeamRules,
    Waivers,
}

impl UnusableGateFiles {
    /// Returns whether this part cannot be used in the reviewed commit.
    pub(crate) fn has_problem(&self, part: GatePart) -> bool {
        self.parts.iter().any(|unusable| unusable.part == part)
    }

    /// Returns whether the change makes this part unusable.
    pub(crate) fn has_new_problem(&self, part: GatePart) -> bool {
        self.parts
            .iter()
            .any(|unusable| unusable.is_new && unusable.part == part)
    }

    /// Returns the problems of the parts that the change makes unusable.
    pub(crate) fn new_problems(&self) -> impl Iterator<Item = &GateFileProblem> {
        self.list_problems(true)
    }

    /// Returns the problems of the parts that were unusable before the change, in the same way.
    pub(crate) fn old_problems(&self) -> impl Iterator<Item = &GateFileProblem> {
        self.list_problems(false)
    }

    fn list_problems(&self, is_new: bool) -> impl Iterator<Item = &GateFileProblem> {
        self.parts
            .iter()
            .filter(move |unusable| unusable.is_new == is_new)
            .map(|unusable| &unusable.problem)
    }

    /// Returns the first file that the change makes unusable, of the problems that are about a single file.
    pub(crate) fn first_new_path(&self) -> Option<&String> {
        self.new_problems().find_map(|problem| problem.path.as_ref())
    }
}

/// The reason why a file of the gate configuration cannot be used.
#[derive(Debug)]
pub(crate) struct GateFileProblem {
    /// Content on which the problem depends: with the same content at a base, the change did not introduce it.
    pub(super) content: Vec<GateFileVersion>,
    /// A sentence. If the problem is about a single file, it begins with the path.
    pub(crate) message: String,
    /// The file with the problem; `None` if it is about several files.
    pub(crate) path: Option<String>,
    /// The file sets a key that only the job may set.
    pub(super) has_job_key: bool,
}

impl GateFileProblem {
    /// Creates a problem that is not about a key that only the job may set.
    pub(super) fn new(content: Vec<GateFileVersion>, message: String) -> Self {
        Self {
            content,
            message,
            path: None,
            has_job_key: false,
        }
    }

    /// Returns the problem of the file at this path.
    pub(super) fn at_path(self, path: &str) -> Self {
        Self {
            path: Some(path.to_owned()),
            ..self
        }
    }
}

/// Describes an error in a file, with its position.
pub(super) fn describe_error(path: &str, error: &DocumentError) -> String {
    format!("{}: {}", format_place(path, error.position), error.message)
}
