//! Compares the findings of the project checks with the base.

use super::{NO_EARLIER_CALLEES, ProjectChecks};
use crate::error::Failure;
use crate::gate::baseline::Baseline;
use crate::gate::run::GateRun;
use crate::gate::{BasePaths, KnownComparison, RunFindings, VersionPairs, mark_known_in_files};
use sluicegate_git::CommitId;
use sluicegate_pipelines::findings::{FileResults, FindingState};
use std::collections::BTreeSet;
use std::mem;

impl ProjectChecks<'_> {
    /// Marks the findings that every base has, too, as known. A component that was renamed since the base is treated as
    /// the same component.
    fn mark_known_findings(
        &self,
        baseline: &Baseline,
        files: &mut [FileResults],
    ) -> Result<KnownComparison, Failure> {
        let mut bases = Vec::new();
        for base in &baseline.bases {
            let paths = files.iter().map(|file| file.path.as_str());
            let base_paths = baseline.find_paths_at_base(base, self.snapshot, paths)?;
            let mut base_findings = self.check_at_base(base, &base_paths)?;
            baseline.follow_renamed_components(
                &VersionPairs {
                    repo: &self.workspace.repo,
                    head: self.snapshot,
                    bases: std::slice::from_ref(base),
                },
                files,
                &base_paths,
                &mut base_findings.files,
            )?;
            bases.push((base_paths, base_findings));
        }
        // Project checks run locally, so no file has an incomplete review.
        Ok(mark_known_in_files(files, |_| false, &bases))
    }

    /// Runs the project checks on these files as they were at the base. Files without findings are included, so that
    /// they are treated as evaluated.
    fn check_at_base(&self, base: &CommitId, base_paths: &BasePaths) -> Result<RunFindings, Failure> {
        let snapshot = self.workspace.repo.snapshot(base.clone());
        let paths = base_paths.collect_base_paths();
        // `None`: the renames serve only the hints in the findings, which are not needed at the base.
        let mut files = self.with_scope(&snapshot, None, NO_EARLIER_CALLEES, |scope| {
            Ok(scope.check_files(&snapshot, &paths)?)
        })?;
        let paths_with_findings: BTreeSet<String> = files.iter().map(|file| file.path.clone()).collect();
        let clean_paths = paths.iter().filter(|path| !paths_with_findings.contains(**path));
        files.extend(clean_paths.map(|path| FileResults {
            path: (*path).to_owned(),
            results: Vec::new(),
            is_reviewed: true,
        }));
        Ok(RunFindings {
            files,
            ..RunFindings::default()
        })
    }
}

impl GateRun<'_> {
    /// Keeps only the findings that the base does not have. Without a base, removes all findings, because none is
    /// certainly new.
    pub(super) fn keep_new_findings(&self, mut files: Vec<FileResults>) -> Result<Vec<FileResults>, Failure> {
        if files.is_empty() || self.subject.comparison.bases.is_empty() {
            return Ok(Vec::new());
        }
        self.project_checks().mark_known_findings(
            &Baseline::at_commits(&self.subject.comparison.bases, &self.selection.pipelines),
            &mut files,
        )?;
        for file in &mut files {
            for result in &mut file.results {
                // A project check never ends in an evaluation error, so each violation is a finding.
                result
                    .violations
                    .retain(|violation| violation.mark.state == Some(FindingState::New));
                // A report without `--new-only` has no states.
                for violation in &mut result.violations {
                    violation.mark.state = None;
                }
            }
            file.results.retain(|result| !result.violations.is_empty());
        }
        files.retain(|file| !file.results.is_empty());
        Ok(files)
    }

    /// Marks the findings of the project checks that existed at the base as known. Adds the files that could not be
    /// compared to the comparison of the run. Adds no fixed findings, because those of project checks are not counted.
    /// Does nothing unless the findings of the rules were compared with the base.
    ///
    /// The findings in unselected files were already compared, and the known ones removed: a second comparison would
    /// match the known ones of the base with the new ones that remain.
    pub(crate) fn mark_known_project_findings(
        &self,
        baseline: &Baseline,
        run_findings: &mut RunFindings,
    ) -> Result<(), Failure> {
        if run_findings.project_files.is_empty() {
            return Ok(());
        }
        let Some(comparison) = &mut run_findings.comparison else {
            return Ok(());
        };
        let selected_paths = self.selection.pipelines.collect_paths();
        let project_files = mem::take(&mut run_findings.project_files).into_iter();
        let (mut selected_files, mut other_files): (Vec<_>, Vec<_>) =
            project_files.partition(|file| self.reports_all_findings_in(&file.path, &selected_paths));
        let mut project_comparison = self
            .project_checks()
            .mark_known_findings(baseline, &mut selected_files)?;
        comparison
            .unknown_files
            .append(&mut project_comparison.unknown_files);
        other_files.iter_mut().for_each(mark_unwaived_as_new);
        selected_files.append(&mut other_files);
        selected_files.sort_by(|a, b| a.path.cmp(&b.path));
        run_findings.project_files = selected_files;
        Ok(())
    }
}

/// Sets the state of each finding in the file that is not waived to new.
fn mark_unwaived_as_new(file: &mut FileResults) {
    for result in &mut file.results {
        for mark in result.marks_mut() {
            if mark.state != Some(FindingState::Waived) {
                mark.state = Some(FindingState::New);
            }
        }
    }
}
