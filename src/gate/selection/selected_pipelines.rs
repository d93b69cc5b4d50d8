//! Selects the files to review: the changed pipelines, or all of them.

use crate::gate::selection::compared_changes::{Candidate, ComparedChanges, list_changes};
use crate::gate::selection::gate_file_changes::find_gate_file_changes;
use crate::gate::selection::lookalike::{self, looks_like_pipeline};
use crate::gate::selection::replaced_directories::{ReplacedDirectory, find_replaced_directories};
use crate::gate::selection::selection_reason::{LeftOutFile, SelectionReason};
use crate::job::policy::ChangeDescription;
use crate::job::settings::Selection;
use sluicegate_git::{Change, ChangeKind, CommitId, FileKind, GitError, Snapshot};
use sluicegate_pipelines::findings::GateChange;
use sluicegate_pipelines::pipelines::{RULES_FILE, is_pipeline};
use std::collections::{BTreeMap, BTreeSet, HashSet};

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

/// The files to review, and the other files and changes that the selection found.
#[derive(Debug, Clone, Default)]
pub(crate) struct SelectedPipelines {
    /// The files to review, by path.
    pub files: Vec<String>,
    pub candidates: Vec<Candidate>,
    /// The old paths of renamed pipelines that `--include` or `--exclude` keeps from being reviewed.
    pub excluded_old_paths: BTreeSet<String>,
    /// Changes to the gate configuration.
    pub gate_changes: Vec<GateChange>,
    /// The files of the gate configuration that the change relaxes, if only in one respect.
    pub relaxed_gate_files: Vec<String>,
    /// Changed pipelines that are not reviewed because of `--include` or `--exclude`, or because they are submodules.
    pub left_out_files: Vec<LeftOutFile>,
    /// Files whose names only look like a pipeline's.
    pub lookalikes: Vec<String>,
    /// Directories of pipelines that the change replaced with a submodule or a link.
    pub replaced_directories: Vec<ReplacedDirectory>,
    /// The reason why unchanged pipelines are selected, too, if they are.
    pub reason_for_all: Option<String>,
    /// The commits that the candidates were compared with, so that the comparison need not be repeated.
    pub bases: Vec<CommitId>,
    /// The changes since the host's bases or, in a local run, since the checked-out commit, if the candidates were not
    /// compared with any commit: they show renames and replaced directories.
    pub host_changes: ComparedChanges,
}

impl SelectedPipelines {
    /// Returns the changes that show which pipelines were renamed or modified, and the commits that they were compared
    /// with.
    pub(crate) fn compared_changes(&self) -> (&[CommitId], impl Iterator<Item = &Change>) {
        let bases = match self.host_changes.bases.as_slice() {
            [] => &self.bases,
            host_bases => host_bases,
        };
        (bases, list_changes(&self.candidates, &self.host_changes))
    }

    /// Returns the number of deleted pipelines that the globs and, if there are any, the paths select.
    pub(super) fn count_deleted(&self, selection: &Selection, paths: &[String]) -> usize {
        let mut count = 0;
        for candidate in &self.candidates {
            let path = &candidate.change.path;
            let is_selected = is_within_any(path, paths) && selection.selects(path);
            if candidate.reason == SelectionReason::Deleted && is_selected {
                count += 1;
            }
        }
        count
    }

    /// Returns the paths of the files to review, for lookups.
    pub(crate) fn collect_paths(&self) -> HashSet<&str> {
        self.files.iter().map(String::as_str).collect()
    }
}

/// Selects the changed pipelines of `scope`, or all pipelines if there is a reason to do so. Also lists the files that
/// are not reviewed, and the changes to the gate configuration.
pub(crate) fn select_pipelines(scope: &SelectionScope<'_>) -> Result<SelectedPipelines, GitError> {
    let is_wanted = |path: &str| scope.may_be_pipeline(path) || scope.is_gate_file(path);
    let differences = scope.head.compare_with_bases(scope.bases, &is_wanted)?;
    let changes = differences.find_changes();
    let reason_for_all = scope.find_reason_for_all(&changes);
    let host_changes = scope.find_host_changes()?;
    let gate_file_changes = find_gate_file_changes(scope, &differences)?;
    let mut lookalikes = Vec::new();
    let candidates: Vec<Candidate> = changes
        .into_iter()
        .filter(|change| !scope.is_only_gate_change(change))
        .filter_map(|change| scope.convert_to_pipeline_change(change, &mut lookalikes))
        .map(|change| scope.build_candidate(change, reason_for_all.as_deref()))
        .collect();
    let files = if reason_for_all.is_some() && !scope.bases.is_empty() {
        scope.list_selected_files()?
    } else {
        // Without a base, the candidates already include every file.
        candidates
            .iter()
            .filter(|candidate| candidate.reason.is_selected())
            .map(|candidate| candidate.change.path.clone())
            .collect()
    };
    Ok(SelectedPipelines {
        files,
        left_out_files: candidates
            .iter()
            .filter_map(|candidate| scope.find_exclusion(candidate))
            .collect(),
        excluded_old_paths: scope.find_excluded_old_paths(list_changes(&candidates, &host_changes)),
        replaced_directories: find_replaced_directories(
            scope.head,
            list_changes(&candidates, &host_changes),
        )?,
        candidates,
        host_changes,
        gate_changes: gate_file_changes.changes,
        relaxed_gate_files: gate_file_changes.relaxed_files,
        lookalikes,
        reason_for_all,
        bases: scope.bases.to_vec(),
    })
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

impl SelectedPipelines {
    /// Maps the new path of each renamed pipeline to its path at the base.
    pub(crate) fn map_old_paths(&self) -> BTreeMap<String, String> {
        let mut old_paths = BTreeMap::new();
        let (_, changes) = self.compared_changes();
        for change in changes {
            if let Some(old_path) = change.rename_source() {
                old_paths.insert(change.path.clone(), old_path.to_owned());
            }
        }
        old_paths
    }

    /// Maps the new path of each renamed pipeline to its path at the base. Omits old paths that the globs excluded,
    /// because no finding was enforced there.
    pub(crate) fn map_reviewed_old_paths(&self) -> BTreeMap<String, String> {
        let mut old_paths = self.map_old_paths();
        old_paths.retain(|_, old| !self.excluded_old_paths.contains(old));
        old_paths
    }

    /// Removes and returns the changes to pipelines, for the list of changes in the reports.
    pub(crate) fn take_changes(&mut self) -> ComparedChanges {
        let candidates = std::mem::take(&mut self.candidates).into_iter();
        ComparedChanges {
            bases: self.bases.clone(),
            changes: candidates.map(|candidate| candidate.change).collect(),
        }
    }

    /// Moves submodules that have a pipeline's name to the files to review.
    pub(crate) fn select_submodules(&mut self) {
        let left_out_files = std::mem::take(&mut self.left_out_files).into_iter();
        let (submodules, other_files): (Vec<_>, Vec<_>) =
            left_out_files.partition(|file| file.reason == SelectionReason::Submodule);
        self.left_out_files = other_files;
        self.files.extend(submodules.into_iter().map(|file| file.path));
        self.files.sort();
    }

    /// Returns the warnings about files that escape the review: one about files whose names only look like a
    /// pipeline's, and one about each replaced directory.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let directories = self.replaced_directories.iter().map(ReplacedDirectory::describe);
        lookalike::describe_lookalikes(&self.lookalikes)
            .into_iter()
            .chain(directories)
            .collect()
    }
}

impl SelectionScope<'_> {
    /// Returns the changes to pipelines since `rename_bases` if the review has no base; otherwise, the candidates show
    /// them.
    fn find_host_changes(&self) -> Result<ComparedChanges, GitError> {
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
    fn find_excluded_old_paths<'c>(&self, changes: impl Iterator<Item = &'c Change>) -> BTreeSet<String> {
        changes
            .filter_map(Change::rename_source)
            .filter(|path| !(self.includes)(path) || (self.excludes)(path))
            .map(str::to_owned)
            .collect()
    }

    /// Returns the candidate as an omitted file, if the globs exclude it or it is a submodule. Returns `None`
    /// for files outside the paths on the command line.
    fn find_exclusion(&self, candidate: &Candidate) -> Option<LeftOutFile> {
        let (path, reason) = (&candidate.change.path, &candidate.reason);
        (reason.is_reported_exclusion() && self.is_within(path)).then(|| LeftOutFile {
            path: path.clone(),
            reason: reason.clone(),
        })
    }

    /// Returns the change if it is about a pipeline, otherwise `None`. If a pipeline is renamed to a name that only
    /// looks like a pipeline's, the change becomes its deletion. Adds such names to `lookalikes`.
    fn convert_to_pipeline_change(&self, change: Change, lookalikes: &mut Vec<String>) -> Option<Change> {
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
    fn add_lookalike(&self, path: String, lookalikes: &mut Vec<String>) {
        if self.is_within(&path) {
            lookalikes.push(path);
        }
    }

    /// Returns whether the globs and the given paths select this path.
    fn is_selected(&self, path: &str) -> bool {
        (self.includes)(path) && !(self.excludes)(path) && self.is_within(path)
    }

    /// Returns the paths of all pipelines that the globs and the given paths select, changed or not. Omits submodules,
    /// which have no content to review.
    fn list_selected_files(&self) -> Result<Vec<String>, GitError> {
        Ok(self
            .head
            .list_content_files(&|path| self.is_selected(path))?
            .into_iter()
            .map(|file| file.path)
            .collect())
    }

    /// Returns the reason to select all pipelines: there is no base (`base_source` then contains the reason), or the
    /// rules file changed. Returns `None` to select only the changed pipelines.
    fn find_reason_for_all(&self, changes: &[Change]) -> Option<String> {
        if self.bases.is_empty() {
            return Some(self.base_source.to_owned());
        }
        let rules_change = changes
            .iter()
            .find(|change| change.paths().any(|path| self.is_rules_file(path)))?;
        Some(format!("the rules file {} changed", rules_change.path))
    }

    /// Decides whether a changed pipeline is selected, and states the reason.
    fn build_candidate(&self, change: Change, reason_for_all: Option<&str>) -> Candidate {
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
    fn is_within(&self, path: &str) -> bool {
        is_within_any(path, self.paths)
    }

    /// Returns whether the change affects the gate configuration and cannot affect a pipeline. A possible pipeline is
    /// always selected as one: a symbolic link of the gate configuration can point to any file, and a gate file may be
    /// renamed to a pipeline.
    fn is_only_gate_change(&self, change: &Change) -> bool {
        change.paths().any(|path| self.is_gate_file(path)) && !self.may_be_pipeline(&change.path)
    }

    /// Returns whether the path is that of a pipeline, looks like one, or is explicitly included.
    fn may_be_pipeline(&self, path: &str) -> bool {
        looks_like_pipeline(path) || (self.includes)(path)
    }

    /// Returns whether the path is that of a file of the gate configuration.
    pub(super) fn is_gate_file(&self, path: &str) -> bool {
        self.gate_file_paths.iter().any(|file| file == path) || self.is_rules_file(path)
    }

    /// Returns whether the path is that of the rules file. If the job does not set the hidden directory, any hidden
    /// directory in the root matches, because the change may add or delete one.
    pub(crate) fn is_rules_file(&self, path: &str) -> bool {
        let Some((parent, file)) = path.split_once('/') else {
            return false;
        };
        file == RULES_FILE
            && self
                .config_dir
                .map_or_else(|| parent.starts_with('.'), |config_dir| config_dir == parent)
    }
}
