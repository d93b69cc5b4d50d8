//! The files of the gate configuration that cannot be used in the reviewed commit.

use crate::job::policy::GateFileVersion;
use sluicegate_yaml::{DocumentError, format_place};
use std::collections::BTreeSet;

/// The problems of the files of the gate configuration that cannot be used.
#[derive(Debug, Default)]
pub(crate) struct UnusableGateFiles {
    /// The problems of files that the change makes unusable, each as a sentence.
    pub(crate) new_problems: Vec<String>,
    /// The first file that the change makes unusable, of the problems that are about a single file.
    pub(crate) first_new_path: Option<String>,
    /// Whether one of these problems is about the team's rules.
    pub(crate) makes_team_rules_unusable: bool,
    /// The problems of files that were unusable before the change, in the same way.
    pub(crate) old_problems: Vec<GateFileProblem>,
    /// The kinds of the files that have one of these problems.
    pub(super) kinds: BTreeSet<GateFileKind>,
}

/// A part of the gate configuration that a run may be unable to use. Problems are listed in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GateFileKind {
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
    /// Returns whether the file of this kind cannot be used in the reviewed commit.
    pub(crate) fn contain(&self, kind: GateFileKind) -> bool {
        self.kinds.contains(&kind)
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
