//! Selects the files to review: the changed pipelines, or all of them.

use crate::gate::selection::compared_changes::{Candidate, ComparedChanges, list_changes};
use crate::gate::selection::gate_file_changes::find_gate_file_changes;
use crate::gate::selection::lookalike;
use crate::gate::selection::replaced_directories::{ReplacedDirectory, find_replaced_directories};
use crate::gate::selection::selection_reason::{LeftOutFile, SelectionReason};
use crate::gate::selection::selection_scope::{SelectionScope, is_within_any};
use crate::job::settings::Selection;
use sluicegate_git::{Change, CommitId, GitError};
use sluicegate_pipelines::findings::GateChange;
use std::collections::{BTreeMap, BTreeSet, HashSet};

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
