//! The files of the gate configuration that cannot be used in the reviewed commit.

use std::collections::BTreeSet;

/// The problems of the files of the gate configuration that cannot be used, each as a sentence.
#[derive(Debug, Default)]
pub(crate) struct UnusableGateFiles {
    /// The problems of files that the change makes unusable.
    pub(crate) new_problems: Vec<String>,
    /// Whether one of these problems is about the team's rules.
    pub(crate) makes_team_rules_unusable: bool,
    /// The problems of files that were unusable before the change, in the same way.
    pub(crate) old_problems: Vec<String>,
    /// The kinds of the files that have one of these problems.
    pub(super) kinds: BTreeSet<&'static str>,
}

/// The kind of the configuration file.
pub(crate) const SETTINGS_KIND: &str = "settings";

/// The kind of the team rules file.
pub(crate) const TEAM_RULES_KIND: &str = "team rules";

impl UnusableGateFiles {
    /// Returns whether the file of this kind cannot be used in the reviewed commit.
    pub(crate) fn contain(&self, kind: &str) -> bool {
        self.kinds.contains(kind)
    }
}
