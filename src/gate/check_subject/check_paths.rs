//! The paths that a user gives to a local check.

use crate::error::Failure;
use crate::gate::Selected;
use crate::job::context::Comparison;
use crate::session::Run;
use crate::workspace::Workspace;
use sluicegate_git::{CommitId, Snapshot};
use sluicegate_pipelines::pipelines::RULES_FILE;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Maximum number of notes about named files that are not checked.
const TOLD: usize = 20;

/// The paths given by the user, relative to the repository root.
#[derive(Default)]
pub(crate) struct Paths {
    /// Files that are checked even if they did not change.
    pub(crate) named: Vec<String>,
    /// Paths that restrict the changes, each with the text that the user typed.
    pub(crate) within: Vec<(String, PathBuf)>,
}

impl Paths {
    /// Converts typed paths that restrict the changes; each must exist in the snapshot or in a base.
    pub(crate) fn within_typed(
        run: &Run,
        workspace: &Workspace<'_>,
        typed: &[PathBuf],
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
    ) -> Result<Self, Failure> {
        let paths = workspace.resolve_typed_paths(run, typed, snapshot, bases)?;
        Ok(Self {
            named: Vec::new(),
            within: paths.into_iter().zip(typed.iter().cloned()).collect(),
        })
    }

    /// Returns whether the user gave no path.
    pub(crate) const fn is_empty(&self) -> bool {
        self.within.is_empty() && self.named.is_empty()
    }

    pub(crate) fn all(&self) -> Vec<String> {
        let within = self.within.iter().map(|(path, _)| path);
        self.named.iter().chain(within).cloned().collect()
    }

    /// Returns the paths that restrict the changes.
    pub(crate) fn within(&self) -> Vec<String> {
        self.within.iter().map(|(path, _)| path.clone()).collect()
    }

    pub(crate) const fn only_named(&self) -> bool {
        self.within.is_empty() && !self.named.is_empty()
    }

    /// Returns an error if a path that restricts the changes exists neither in the snapshot nor in the base.
    pub(crate) fn must_exist(
        &self,
        workspace: &Workspace<'_>,
        snapshot: &Snapshot<'_>,
        comparison: &Comparison,
    ) -> Result<(), Failure> {
        for (path, typed) in &self.within {
            workspace.require_existing_path(path, typed, snapshot, &comparison.bases)?;
        }
        Ok(())
    }

    /// Returns a note for each named file that is not checked.
    pub(crate) fn list_unchecked(&self, selected: &Selected) -> Vec<String> {
        let gate = selected.gate_changes.iter().map(|change| &change.path);
        let checked: BTreeSet<&String> = selected.files.iter().chain(gate).collect();
        // A change of the rules file selects all pipelines.
        let is_rules = |path: &str| selected.all_because.is_some() && path.ends_with(RULES_FILE);
        let left = self
            .named
            .iter()
            .filter(|path| !checked.contains(path) && !is_rules(path));
        left.take(TOLD)
            .map(|path| format!("{path} was named but is not checked: --include or --exclude skips it"))
            .collect()
    }
}
