//! The paths that a user gives to a local check.

use crate::error::Failure;
use crate::gate::SelectedPipelines;
use crate::gate::selection::unmatched_selection::is_named;
use crate::job::context::Comparison;
use crate::session::Session;
use crate::workspace::Workspace;
use sluicegate_base::text::format_count;
use sluicegate_git::{CommitId, Snapshot};
use sluicegate_pipelines::pipelines::{RULES_FILE, SHARED_PIPELINES_FILE, is_pipeline};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Maximum number of notes about named files that are not checked.
const MAX_UNCHECKED_NOTES: usize = 20;

/// The paths given by the user, relative to the repository root.
#[derive(Default)]
pub(crate) struct CheckPaths {
    /// Files that are checked even if they did not change.
    pub(crate) named_files: Vec<String>,
    /// Paths that restrict the changes, each with the text that the user typed.
    pub(crate) restrictions: Vec<(String, PathBuf)>,
}

impl CheckPaths {
    /// Converts the paths that the user typed to restrictions: only changes within these paths are reviewed. Fails if a
    /// path exists neither in the snapshot nor in a base.
    pub(crate) fn from_restrictions(
        session: &Session,
        workspace: &Workspace<'_>,
        typed_paths: &[PathBuf],
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
    ) -> Result<Self, Failure> {
        let paths = workspace.resolve_typed_paths(session, typed_paths, snapshot, bases)?;
        Ok(Self {
            named_files: Vec::new(),
            restrictions: paths.into_iter().zip(typed_paths.iter().cloned()).collect(),
        })
    }

    /// Returns whether the user gave no path.
    pub(crate) const fn is_empty(&self) -> bool {
        self.restrictions.is_empty() && self.named_files.is_empty()
    }

    /// Returns whether the user named this file.
    pub(crate) fn has_named_file(&self, path: &str) -> bool {
        self.named_files.iter().any(|named_file| named_file == path)
    }

    /// Returns whether the user named a shared-pipelines file.
    pub(crate) fn has_shared_pipelines_file(&self) -> bool {
        self.named_files
            .iter()
            .any(|path| is_named(path, SHARED_PIPELINES_FILE))
    }

    /// Returns all paths that the user gave: the named files, and the paths that restrict the changes. The root is `.`.
    pub(crate) fn list_paths(&self) -> Vec<String> {
        let mut paths = self.named_files.clone();
        for (path, _) in &self.restrictions {
            paths.push(if path.is_empty() { "." } else { path }.to_owned());
        }
        paths
    }

    /// Returns the paths that restrict the changes.
    pub(crate) fn list_restricting_paths(&self) -> Vec<String> {
        self.restrictions.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Returns whether the user gave paths, and each is a file that is checked even if it is unchanged.
    pub(crate) const fn has_only_named_files(&self) -> bool {
        self.restrictions.is_empty() && !self.named_files.is_empty()
    }

    /// Fails if a path that restricts the changes exists neither in the snapshot nor in a base, because it is probably
    /// a typing error.
    pub(crate) fn require_existing_paths(
        &self,
        workspace: &Workspace<'_>,
        snapshot: &Snapshot<'_>,
        comparison: &Comparison,
    ) -> Result<(), Failure> {
        for (path, typed_path) in &self.restrictions {
            workspace.require_existing_path(path, typed_path, snapshot, &comparison.bases)?;
        }
        Ok(())
    }

    /// Removes the restrictions if the root is one of them, because the root restricts nothing. With named files, the
    /// root selects the changed files in addition to them.
    pub(crate) fn without_root_restriction(mut self) -> Self {
        if self.named_files.is_empty() && self.restrictions.iter().any(|(path, _)| path.is_empty()) {
            self.restrictions.clear();
        }
        self
    }

    /// Returns a note for each named file that is not checked, up to a maximum number of notes. `shared_file` is the
    /// path of the shared-pipelines file if the project checks examine it.
    pub(crate) fn describe_unchecked_files(
        &self,
        pipelines: &SelectedPipelines,
        shared_file: Option<&str>,
    ) -> Vec<String> {
        let gate_files = pipelines.gate_changes.iter().map(|change| &change.path);
        let checked_paths: BTreeSet<&String> = pipelines.files.iter().chain(gate_files).collect();
        // A rules file that is named selects all pipelines, so the file itself is not reported as unchecked.
        let is_rules = |path: &str| pipelines.reason_for_all.is_some() && is_named(path, RULES_FILE);
        let unchecked_files: Vec<&String> = self
            .named_files
            .iter()
            .filter(|path| !checked_paths.contains(path) && !is_rules(path))
            .filter(|path| shared_file != Some(path.as_str()))
            .collect();
        let listed_files = unchecked_files.iter().take(MAX_UNCHECKED_NOTES);
        let mut notes: Vec<String> = listed_files
            .map(|path| {
                let reason = if is_pipeline(path) {
                    "the setting `include` or `exclude` skips it"
                } else {
                    "the file is not a pipeline"
                };
                format!("{path} was named but is not checked: {reason}")
            })
            .collect();
        let omitted_count = unchecked_files.len().saturating_sub(MAX_UNCHECKED_NOTES);
        if omitted_count > 0 {
            let files = format_count(omitted_count, "more named file");
            notes.push(format!("not checked, either: {files}"));
        }
        notes
    }
}
