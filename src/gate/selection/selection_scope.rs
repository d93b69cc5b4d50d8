//! The commits and filters by which files are selected.

use crate::gate::selection::compared_changes::{Candidate, ComparedChanges};
use crate::gate::selection::lookalike::looks_like_pipeline;
use crate::gate::selection::selection_reason::{LeftOutFile, SelectionReason};
use crate::job::policy::ChangeDescription;
use sluicegate_git::{Change, ChangeKind, CommitId, FileKind, GitError, Snapshot};
use sluicegate_pipelines::pipelines::{is_pipeline, is_rules_path, rules_path};
use std::collections::BTreeSet;

/// The commits to compare and the filters of the selection.
#[derive(Clone, Copy)]
pub(crate) struct SelectionScope<'a> {
    pub head: &'a Snapshot<'a>,
    /// The commits to compare with; if empty, every pipeline is selected.
    pub bases: &'a [CommitId],
    /// Human-readable source of the base, or the reason why there is no base.
    pub base_source: &'a str,
    /// The hidden directory, if there is one.
    pub config_dir: Option<&'a str>,
    /// The paths that the policy is read from, including symbolic links to them.
    pub gate_file_paths: &'a [String],
    /// The commits that the host compares with, even if settings select another base. Changes to the gate configuration
    /// are reported relative to these; if empty, no such change is reported.
    pub host_bases: &'a [CommitId],
    /// The commits with which renamed pipelines are searched if the review has no base.
    pub rename_bases: &'a [CommitId],
    /// Describes the change to a gate configuration file relative to one base.
    pub describe_change: &'a dyn Fn(&CommitId, &Change) -> ChangeDescription,
    /// Returns whether `--include` matches the path.
    pub includes: &'a dyn Fn(&str) -> bool,
    /// Returns whether `--exclude` matches the path.
    pub excludes: &'a dyn Fn(&str) -> bool,
    /// Files and directories that restrict the selection, relative to the repository root; empty for no restriction.
    pub paths: &'a [String],
}

impl SelectionScope<'_> {
    /// Returns the changes to pipelines since `rename_bases` if the review has no base; otherwise, the candidates show
    /// them.
    pub(super) fn find_host_changes(&self) -> Result<ComparedChanges, GitError> {
        if !self.bases.is_empty() || self.rename_bases.is_empty() {
            return Ok(ComparedChanges::default());
        }
        Ok(ComparedChanges {
            bases: self.rename_bases.to_vec(),
            changes: self
                .head
                .find_changes(self.rename_bases, &|path| self.may_be_pipeline(path))?,
        })
    }

    /// Returns the old paths of renamed pipelines that the globs do not select.
    pub(super) fn find_excluded_old_paths<'c>(
        &self,
        changes: impl Iterator<Item = &'c Change>,
    ) -> BTreeSet<String> {
        changes
            .filter_map(Change::rename_source)
            .filter(|path| !(self.includes)(path) || (self.excludes)(path))
            .map(str::to_owned)
            .collect()
    }

    /// Returns the candidate as an omitted file, if the globs exclude it or it is a submodule. Returns `None`
    /// for files outside the paths on the command line.
    pub(super) fn find_exclusion(&self, candidate: &Candidate) -> Option<LeftOutFile> {
        let (path, reason) = (&candidate.change.path, &candidate.reason);
        (reason.is_reported_exclusion() && self.is_within(path)).then(|| LeftOutFile {
            path: path.clone(),
            reason: reason.clone(),
        })
    }

    /// Returns the change if it is about a pipeline, otherwise `None`. If a pipeline is renamed to a name that only
    /// looks like a pipeline's, the change becomes its deletion. Adds such names to `lookalikes`.
    pub(super) fn convert_to_pipeline_change(
        &self,
        change: Change,
        lookalikes: &mut Vec<String>,
    ) -> Option<Change> {
        let is_candidate = |path: &str| is_pipeline(path) || (self.includes)(path);
        if is_candidate(&change.path) {
            return Some(change);
        }
        // The caller passes only possible pipelines, so any other name looks like that of a pipeline.
        match change.kind {
            ChangeKind::Deleted => None,
            ChangeKind::Renamed { from, .. } if is_candidate(&from) => {
                self.add_lookalike(change.path, lookalikes);
                Some(Change {
                    path: from,
                    kind: ChangeKind::Deleted,
                    file_kind: None,
                    base_index: change.base_index,
                })
            }
            _ => {
                self.add_lookalike(change.path, lookalikes);
                None
            }
        }
    }

    /// Adds a path to the lookalikes if it is within the given paths.
    pub(super) fn add_lookalike(&self, path: String, lookalikes: &mut Vec<String>) {
        if self.is_within(&path) {
            lookalikes.push(path);
        }
    }

    /// Returns whether the globs and the given paths select this path.
    pub(super) fn is_selected(&self, path: &str) -> bool {
        (self.includes)(path) && !(self.excludes)(path) && self.is_within(path)
    }

    /// Returns the paths of all pipelines that the globs and the given paths select, changed or not. Omits submodules,
    /// which have no content to review.
    pub(super) fn list_selected_files(&self) -> Result<Vec<String>, GitError> {
        Ok(self
            .head
            .list_content_files(&|path| self.is_selected(path))?
            .into_iter()
            .map(|file| file.path)
            .collect())
    }

    /// Returns the reason to select all pipelines: there is no base (`base_source` then contains the reason), or the
    /// rules file changed. Returns `None` to select only the changed pipelines.
    pub(super) fn find_reason_for_all(&self, changes: &[Change]) -> Option<String> {
        if self.bases.is_empty() {
            return Some(self.base_source.to_owned());
        }
        let rules_change = changes
            .iter()
            .find(|change| change.paths().any(|path| self.is_rules_file(path)))?;
        Some(format!("the rules file {} changed", rules_change.path))
    }

    /// Decides whether a changed pipeline is selected, and states the reason.
    pub(super) fn build_candidate(&self, change: Change, reason_for_all: Option<&str>) -> Candidate {
        let path = &change.path;
        let reason = if change.kind == ChangeKind::Deleted {
            SelectionReason::Deleted
        } else if !(self.includes)(path) {
            SelectionReason::NotIncluded
        } else if (self.excludes)(path) {
            SelectionReason::Excluded
        } else if !self.is_within(path) {
            SelectionReason::OutsidePaths
        } else if change.file_kind == Some(FileKind::Submodule) {
            SelectionReason::Submodule
        } else if let Some(reason) = reason_for_all {
            SelectionReason::AllSelected(reason.to_owned())
        } else {
            SelectionReason::Changed
        };
        Candidate { change, reason }
    }

    /// Returns whether the path is within the given paths. Without paths, every path is.
    pub(super) fn is_within(&self, path: &str) -> bool {
        is_within_any(path, self.paths)
    }

    /// Returns whether the change affects the gate configuration and cannot affect a pipeline. A possible pipeline is
    /// always selected as one: a symbolic link of the gate configuration can point to any file, and a gate file may be
    /// renamed to a pipeline.
    pub(super) fn is_only_gate_change(&self, change: &Change) -> bool {
        change.paths().any(|path| self.is_gate_file(path)) && !self.may_be_pipeline(&change.path)
    }

    /// Returns whether the path is that of a pipeline, looks like one, or is explicitly included.
    pub(super) fn may_be_pipeline(&self, path: &str) -> bool {
        looks_like_pipeline(path) || (self.includes)(path)
    }

    /// Returns whether the path is that of a file of the gate configuration.
    pub(super) fn is_gate_file(&self, path: &str) -> bool {
        self.gate_file_paths.iter().any(|file| file == path) || self.is_rules_file(path)
    }

    /// Returns whether the path is that of the rules file. If the job does not set the hidden directory, any hidden
    /// directory in the root matches, because the change may add or delete one.
    pub(crate) fn is_rules_file(&self, path: &str) -> bool {
        match self.config_dir {
            Some(config_dir) => path == rules_path(config_dir),
            None => path.starts_with('.') && is_rules_path(path),
        }
    }
}

/// Returns whether the path is the file `restriction` or in the directory `restriction`. An empty restriction is the
/// root directory.
pub(crate) fn is_within(path: &str, restriction: &str) -> bool {
    let remainder = path.strip_prefix(restriction);
    // In a report, the root is `.`.
    matches!(restriction, "" | ".")
        || remainder.is_some_and(|remainder| remainder.is_empty() || remainder.starts_with('/'))
}

/// Returns whether the path is within one of these paths. Without paths, every path is.
pub(crate) fn is_within_any(path: &str, restrictions: &[String]) -> bool {
    restrictions.is_empty()
        || restrictions
            .iter()
            .any(|restriction| is_within(path, restriction))
}
