//! Explains the platform's own `reviewStatus` FAILED. The platform derives it from the rules of level error, so only
//! findings of that level in the same batch can explain it.

use crate::gate::KnownComparison;
use sluicegate_pipelines::findings::{FileResults, FindingState, Origin, Report, RuleResult, Severity};
use std::collections::{BTreeMap, BTreeSet};

/// The paths of the files in a batch.
pub(crate) type BatchFiles = BTreeSet<String>;

/// Whether findings that were folded into a broken link explain a failed batch. The level of these findings is unknown,
/// so they do only if the run that folded them found an explanation for each batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoldEvidence {
    Conclusive,
    Inconclusive,
}

/// Returns the batches that the platform reports as failed although no finding explains the failure.
///
/// A result of level error explains the failure of its batch. The exception is a result with known findings and
/// otherwise only waived ones, if the platform passed the file at the base (`has_failed_before` returns false): the
/// platform does not fail a batch because of such a result. A batch with such a result is unexplained, even if it also
/// has other results of level error.
///
/// `fold_evidence` states whether a broken link explains the failure of its batch, too, because the platform's
/// findings were folded into it.
pub(crate) fn list_unexplained_batches<'b, 'f>(
    batches: &'b [BatchFiles],
    files: impl Iterator<Item = &'f FileResults>,
    fold_evidence: FoldEvidence,
    has_failed_before: impl Fn(&str) -> bool,
) -> Vec<&'b BatchFiles> {
    if batches.is_empty() {
        return Vec::new();
    }
    let mut indices_by_path: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, batch) in batches.iter().enumerate() {
        for path in batch {
            indices_by_path.entry(path).or_default().push(index);
        }
    }
    let mut explained_indices = BTreeSet::new();
    let mut refuted_indices = BTreeSet::new();
    for file in files {
        let indices = indices_by_path.get(file.path.as_str());
        for index in indices.into_iter().flatten().copied() {
            for result in &file.results {
                let has_explaining_fold =
                    fold_evidence == FoldEvidence::Conclusive && has_folded_finding(result);
                if !can_explain(result) && !has_explaining_fold {
                    continue;
                }
                explained_indices.insert(index);
                // The platform passed the file with this result before, so the batch failed for another reason.
                let has_passed_before = has_known_finding(result) && !has_failed_before(&file.path);
                if result.is_excused() && has_passed_before {
                    refuted_indices.insert(index);
                }
            }
        }
    }
    let mut unexplained_batches = Vec::new();
    for (index, batch) in batches.iter().enumerate() {
        if !explained_indices.contains(&index) || refuted_indices.contains(&index) {
            unexplained_batches.push(batch);
        }
    }
    unexplained_batches
}

/// Returns whether this is a result of the platform with a finding of level error, which explains a failed batch.
fn can_explain(result: &RuleResult) -> bool {
    result.origin == Origin::Platform && result.severity() == Some(Severity::Error)
}

/// Returns whether the result is a broken link of level error that stands for other findings.
fn has_folded_finding(result: &RuleResult) -> bool {
    let has_fold = result
        .violations
        .iter()
        .any(|violation| violation.folded_count > 0);
    has_fold && result.severity() == Some(Severity::Error)
}

/// Returns whether the result has a finding that existed at the base.
fn has_known_finding(result: &RuleResult) -> bool {
    result.states().any(|state| state == Some(FindingState::Known))
}

/// Returns a failed batch for each file with a finding of level error. Local results have no batches, but the code that
/// compares runs expects one for each file that failed.
pub(crate) fn build_failed_batches(files: &[FileResults]) -> Vec<BatchFiles> {
    let mut batches = Vec::new();
    for file in files {
        let mut results = file.results.iter();
        if results.any(|result| result.severity() == Some(Severity::Error)) {
            batches.push(BatchFiles::from([file.path.clone()]));
        }
    }
    batches
}

/// Returns whether the platform reported FAILED for a batch of the report, and no finding explains it. The run that
/// wrote the report knew the results at the base, and set `failed_without_finding`. If the flag is not set, all files
/// are assumed to have failed at the base, so that known findings can explain a failed batch, too.
pub(crate) fn has_unexplained_batch(report: &Report) -> bool {
    if report.failed_without_finding {
        return true;
    }
    let fold_evidence = FoldEvidence::Conclusive;
    let unexplained_batches =
        list_unexplained_batches(&report.failed_batches, report.files.iter(), fold_evidence, |_| {
            true
        });
    !unexplained_batches.is_empty()
}

impl KnownComparison {
    /// Returns whether the review of this file failed at every base. `path` is the path in head.
    pub(crate) fn has_failed_before(&self, path: &str) -> bool {
        self.failed_before.contains(path)
    }
}
