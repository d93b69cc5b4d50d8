//! The files of the gate configuration that cannot be used in the reviewed commit.

use sluicegate_yaml::{DocumentError, format_place};
use std::collections::BTreeSet;

/// The problems of the files of the gate configuration that cannot be used, each as a sentence.
#[derive(Debug, Default)]
pub(crate) struct UnusableGateFiles {
    /// The problems of files that the change makes unusable.
    pub(crate) new_problems: Vec<String>,
    /// The path of the first file that the change makes unusable, if one of these problems is about a single file.
    pub(crate) first_new_path: Option<String>,
    /// Whether one of these problems is about the team's rules.
    pub(crate) makes_team_rules_unusable: bool,
    /// The problems of files that were unusable before the change, in the same way.
    pub(crate) old_problems: Vec<String>,
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

/// Describes an error in a file, with its position.
pub(super) fn describe_error(path: &str, error: &DocumentError) -> String {
    format!("{}: {}", format_place(path, error.position), error.message)
}
