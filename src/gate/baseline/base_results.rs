//! The state at the base commits: the old paths of the reviewed files, and their results there.

use crate::gate::{BaseFile, BaseGap, KnownComparison, RunFindings, mark_new_and_known};
use sluicegate_git::Change;
use sluicegate_pipelines::findings::{FileResults, ReviewGap};
use sluicegate_pipelines::pipelines::is_pipeline;
use std::collections::{BTreeMap, BTreeSet};

/// The path of each changed file, with its old path, or `None` for a new file. All other files kept their path.
pub(crate) type OldPaths = BTreeMap<String, Option<String>>;

/// Maps the path of each changed file to the path that it had before. The value is `None` if the file was no pipeline
/// before, so that it has no known findings.
pub(crate) fn list_old_paths<'c>(changes: impl Iterator<Item = &'c Change>) -> OldPaths {
    let mut old_paths = OldPaths::new();
    for change in changes {
        let old_path = change.old_path().filter(|path| is_pipeline(path));
        old_paths.insert(change.path.clone(), old_path.map(str::to_owned));
    }
    old_paths
}

/// The path of each file in head, with its path at the base, or `None` for a new file.
#[derive(Debug, Default)]
pub(crate) struct BasePaths(OldPaths);

impl BasePaths {
    /// Looks up the path that each of these files had at the base. `old_paths` contains the files that changed since
    /// the base; all other files kept their path.
    pub(crate) fn for_files<'f>(files: impl Iterator<Item = &'f str>, old_paths: &OldPaths) -> Self {
        let base_paths = files.map(|path| {
            let base_path = match old_paths.get(path) {
                Some(old_path) => old_path.clone(),
                None => Some(path.to_owned()),
            };
            (path.to_owned(), base_path)
        });
        Self(base_paths.collect())
    }

    /// Looks up the path that each of these files had at the base. Omits the files that did not change since the base,
    /// and those that did not exist there, because the change cannot have fixed a finding in them.
    pub(crate) fn for_changed_files<'f>(files: impl Iterator<Item = &'f str>, old_paths: &OldPaths) -> Self {
        let base_paths = files.filter_map(|path| Some((path.to_owned(), old_paths.get(path)?.clone())));
        Self(base_paths.filter(|(_, base_path)| base_path.is_some()).collect())
    }

    /// Treats a file as new if it was renamed from a path that the run does not select. No rule was enforced at that
    /// path, so none of its findings there is known.
    pub(crate) fn treat_renames_from_unselected_as_new(mut self, is_selected: &dyn Fn(&str) -> bool) -> Self {
        for (path, base_path) in &mut self.0 {
            if base_path
                .as_ref()
                .is_some_and(|base_path| base_path != path && !is_selected(base_path))
            {
                *base_path = None;
            }
        }
        self
    }

    /// Returns the paths at the base, without those of new files, which have no such path.
    pub(crate) fn collect_base_paths(&self) -> BTreeSet<&str> {
        self.0.values().flatten().map(String::as_str).collect()
    }

    /// Adds the paths of further files at the base, for example of files that were evaluated separately.
    pub(crate) fn add(&mut self, base_paths: Self) {
        self.0.extend(base_paths.0);
    }

    /// Adds the paths of files that were evaluated separately. Omits each file whose version at the base is not among
    /// the evaluated `base_files`, because a file without results at the base makes the comparison incomplete.
    pub(crate) fn add_evaluated_paths(&mut self, base_paths: Self, base_files: &[FileResults]) {
        let evaluated_paths: BTreeSet<&str> = base_files.iter().map(|file| file.path.as_str()).collect();
        self.0.extend(base_paths.0.into_iter().filter(|(_, base_path)| {
            base_path
                .as_deref()
                .is_some_and(|base_path| evaluated_paths.contains(base_path))
        }));
    }

    /// Returns the path that a file had at the base. Returns `None` for a new file and for a file that was not looked
    /// up.
    pub(crate) fn find_base_path(&self, path: &str) -> Option<String> {
        self.0.get(path).cloned().flatten()
    }
}

/// The results at one base, by path.
struct BaseResults<'b> {
    base_paths: &'b BasePaths,
    results_by_path: BTreeMap<&'b str, &'b FileResults>,
    /// Files without usable results, each with the reason.
    unusable_files: BTreeMap<&'b str, BaseGap<'b>>,
    /// The files of all batches that failed.
    failed_paths: BTreeSet<&'b str>,
}

impl<'b> BaseResults<'b> {
    /// Indexes the results of a base by path, and collects the files of its failed batches. The results of a file are
    /// unusable if it was not reviewed or its results are doubtful.
    fn from_run_findings(base_paths: &'b BasePaths, run_findings: &'b RunFindings) -> Self {
        let mut unusable_files = BTreeMap::new();
        for file in &run_findings.unreviewed_files {
            let base_gap = BaseGap {
                reason: &file.reason,
                gap: file.gap,
            };
            unusable_files.insert(file.path.as_str(), base_gap);
        }
        for (path, reason) in &run_findings.doubtful_files {
            let base_gap = BaseGap {
                reason,
                gap: ReviewGap::Other,
            };
            unusable_files.insert(path.as_str(), base_gap);
        }
        Self {
            base_paths,
            results_by_path: run_findings
                .files
                .iter()
                .map(|file| (file.path.as_str(), file))
                .collect(),
            unusable_files,
            failed_paths: run_findings
                .failed_batches
                .iter()
                .flatten()
                .map(String::as_str)
                .collect(),
        }
    }

    /// Returns whether the batch with this file failed at the base. `path` is the path in head.
    fn has_failed(&self, path: &str) -> bool {
        let base_path = self.base_paths.0.get(path).and_then(Option::as_deref);
        base_path.is_some_and(|base_path| self.failed_paths.contains(base_path))
    }

    /// Returns the results of a file at the base: missing for a new file, unknown if the base has no usable results.
    /// `path` is the path in head.
    fn find_base_file(&self, path: &str) -> BaseFile<'b> {
        match self.base_paths.0.get(path).and_then(Option::as_deref) {
            None => BaseFile::Missing,
            Some(base_path) => match (
                self.unusable_files.get(base_path),
                self.results_by_path.get(base_path),
            ) {
                (Some(base_gap), _) => BaseFile::Unknown(*base_gap),
                (None, Some(results)) => BaseFile::Evaluated(results),
                (None, None) => BaseFile::Unknown(BaseGap {
                    reason: "the base has no results for this file",
                    gap: ReviewGap::Other,
                }),
            },
        }
    }
}

/// Marks each finding of these files as known if every base has it, too. Also records the files whose batch failed at
/// every base: only in these files can known findings explain why a batch of head failed.
/// `is_incomplete` returns whether the review of a file is incomplete, so that a missing finding is not treated as
/// fixed.
pub(crate) fn mark_known_in_files(
    files: &mut [FileResults],
    is_incomplete: impl Fn(&str) -> bool,
    bases: &[(BasePaths, RunFindings)],
) -> KnownComparison {
    let bases: Vec<BaseResults<'_>> = bases
        .iter()
        .map(|(base_paths, run_findings)| BaseResults::from_run_findings(base_paths, run_findings))
        .collect();
    let mut comparison = mark_new_and_known(files, is_incomplete, |path| {
        bases.iter().map(|base| base.find_base_file(path)).collect()
    });
    let failed_files = files
        .iter()
        .filter(|file| bases.iter().all(|base| base.has_failed(&file.path)));
    comparison.failed_before = failed_files.map(|file| file.path.clone()).collect();
    comparison
}

/// Marks each finding of `head_findings` as known if every base has it, too. Adds a note if some files could not be
/// compared.
pub(crate) fn mark_known_findings(head_findings: &mut RunFindings, bases: &[(BasePaths, RunFindings)]) {
    let unreviewed_paths = head_findings
        .unreviewed_files
        .iter()
        .map(|file| file.path.as_str());
    let doubtful_paths = head_findings.doubtful_files.keys().map(String::as_str);
    let incomplete_paths: BTreeSet<&str> = unreviewed_paths.chain(doubtful_paths).collect();
    let comparison = mark_known_in_files(
        &mut head_findings.files,
        |path| incomplete_paths.contains(path),
        bases,
    );
    head_findings.notes.extend(comparison.describe_unknown_files());
    head_findings.comparison = Some(comparison);
}
