//! Determines which findings of head are known, that is, exist at the base too.
//!
//! Findings of two commits are matched by their identity, never by their line. Findings with the same identity are
//! counted: if the base has one and head has two, one is new. A finding with a size is known only if it did not get
//! worse. If a file could not be evaluated at the base, its findings are neither known nor new.

use crate::gate::baseline::earlier_findings::{EarlierFindings, MatchRule};
use sluicegate_base::text::format_count;
use sluicegate_pipelines::findings::{
    FileResults, FindingState, Origin, ReviewGap, RuleResult, Status, UnreviewedFile,
};
use std::collections::{BTreeSet, HashSet};

/// The reason why the results of a file at the base are unknown.
#[derive(Clone, Copy)]
pub(crate) struct BaseGap<'a> {
    pub reason: &'a str,
    pub gap: ReviewGap,
}

/// The state of a file of head at the base.
#[derive(Clone, Copy)]
pub(crate) enum BaseFile<'a> {
    /// The file is missing or is not a pipeline: all findings of head are new.
    Missing,
    Evaluated(&'a FileResults),
    /// The file could not be evaluated.
    Unknown(BaseGap<'a>),
}

/// The result of a comparison with the base.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownComparison {
    /// Number of findings at the base that no longer exist, for rules that have a result in the same file of head.
    pub fixed_count: usize,
    /// Files that could not be evaluated at the base, by their path in head.
    pub unknown_files: Vec<UnreviewedFile>,
    /// Files whose review failed at every base, by their path in head.
    pub failed_before: BTreeSet<String>,
}

impl KnownComparison {
    /// Returns a note about the files that could not be evaluated at the base, if any.
    pub(crate) fn describe_unknown_files(&self) -> Option<String> {
        let first_file = self.unknown_files.first()?;
        Some(format!(
            "could not determine which findings in {} are new, because the base was not evaluated: {}: {}",
            format_count(self.unknown_files.len(), "file"),
            first_file.path,
            first_file.reason
        ))
    }
}

/// Marks each finding of head that is not waived as known or new. `find_base_files` returns the state of a file at each
/// base. A finding is known only if all bases have it: after a criss-cross merge, one of the bases may be old.
/// `is_incomplete` returns whether the review of a file is incomplete, so that a missing finding is not treated as
/// fixed.
pub(crate) fn mark_new_and_known<'b>(
    files: &mut [FileResults],
    is_incomplete: impl Fn(&str) -> bool,
    find_base_files: impl Fn(&str) -> Vec<BaseFile<'b>>,
) -> KnownComparison {
    let mut comparison = KnownComparison::default();
    for file in files {
        let base_results: Result<Vec<_>, BaseGap<'_>> = find_base_files(&file.path)
            .into_iter()
            .map(find_comparable_results)
            .collect();
        match base_results {
            Ok(base_results) => {
                let fixed_count = mark_findings_of_file(file, base_results);
                comparison.fixed_count += if is_incomplete(&file.path) { 0 } else { fixed_count };
            }
            Err(base_gap) => comparison.unknown_files.push(UnreviewedFile {
                path: file.path.clone(),
                reason: base_gap.reason.to_owned(),
                next_step: None,
                gap: base_gap.gap,
            }),
        }
    }
    comparison
}

/// Returns the results of a file at the base, or the reason why they are unknown. Returns `None` if the file is missing
/// there or could not be read, so that all its findings in head are new.
fn find_comparable_results(base_file: BaseFile<'_>) -> Result<Option<&FileResults>, BaseGap<'_>> {
    match base_file {
        BaseFile::Missing => Ok(None),
        BaseFile::Evaluated(base) if base.results.iter().any(|result| result.status.is_unreadable()) => {
            Ok(None)
        }
        BaseFile::Evaluated(base) => Ok(Some(base)),
        BaseFile::Unknown(base_gap) => Err(base_gap),
    }
}

/// Sets the state of each finding of one file, and returns the number of fixed findings: those that only the base has.
/// With several bases, returns the smallest of their numbers, so that the number is never too large.
fn mark_findings_of_file(file: &mut FileResults, base_results: Vec<Option<&FileResults>>) -> usize {
    let mut bases: Vec<BaseFindings> = base_results.into_iter().map(BaseFindings::from_results).collect();
    for result in &mut file.results {
        let states_by_base = bases
            .iter_mut()
            .map(|base| base.determine_states(&file.path, result));
        let states = states_by_base.reduce(combine_states).unwrap_or_default();
        result.set_states(states);
    }
    bases
        .iter()
        .map(BaseFindings::count_fixed)
        .min()
        .unwrap_or_default()
}

/// Combines the states that the same findings have in comparison with two bases. A finding that is known at only one
/// base is new.
fn combine_states(
    first: Vec<Option<FindingState>>,
    second: Vec<Option<FindingState>>,
) -> Vec<Option<FindingState>> {
    first
        .into_iter()
        .zip(second)
        .map(|(first, second)| {
            if first == second {
                first
            } else {
                Some(FindingState::New)
            }
        })
        .collect()
}

/// The findings that one file has at the base, to be matched with those of head.
#[derive(Default)]
struct BaseFindings {
    findings: EarlierFindings,
    /// The rules with a result on head. Earlier findings of other rules are not treated as fixed: such a rule may be
    /// disabled, or the platform may have omitted it. A project check has a result only if it fails, so it is never one
    /// of these rules.
    evaluated_rules: HashSet<String>,
    /// The rules that could not be evaluated on head.
    failed_rules: HashSet<String>,
    /// True if head is unreadable as a pipeline, so that no finding is treated as fixed.
    is_head_unreadable: bool,
}

impl BaseFindings {
    /// Groups the findings of a file at the base by identity. Skips evaluation errors that the content of the pipeline
    /// does not cause, because these are never known.
    fn from_results(results: Option<&FileResults>) -> Self {
        let mut findings = Self::default();
        for result in results.into_iter().flat_map(|results| &results.results) {
            // The path is not part of a finding's identity within one file.
            for finding in result.findings("") {
                if result.status.is_excusable() {
                    findings.findings.add(&finding);
                }
            }
        }
        findings
    }

    /// Returns the state of each finding of a result in comparison with this base. Also records the rule as evaluated
    /// or failed on head, for the number of fixed findings. A project check is not recorded as evaluated, because it
    /// has a result only if it fails. Therefore, none of its findings is treated as fixed.
    fn determine_states(&mut self, path: &str, result: &RuleResult) -> Vec<Option<FindingState>> {
        let may_be_known = result.status.is_excusable();
        if result.origin != Origin::Project {
            self.evaluated_rules.insert(result.rule.clone());
        }
        if matches!(result.status, Status::Error(_)) {
            self.failed_rules.insert(result.rule.clone());
            self.is_head_unreadable |= result.status.is_unreadable();
        }
        let mut states = Vec::new();
        for finding in result.findings(path) {
            let is_known = may_be_known && self.findings.take_match(&finding, MatchRule::NotWorse);
            // A waived finding stays waived, but its match at the base is removed as well: it is not fixed.
            let is_waived = finding.state == Some(FindingState::Waived);
            states.push(Some(match (is_waived, is_known) {
                (true, _) => FindingState::Waived,
                (false, true) => FindingState::Known,
                (false, false) => FindingState::New,
            }));
        }
        states
    }

    /// Returns the number of findings at the base that head no longer has. Findings that got worse still exist.
    /// Findings of rules that were not evaluated on head, or failed there, are not fixed, and neither are those of an
    /// unreadable file.
    fn count_fixed(&self) -> usize {
        if self.is_head_unreadable {
            return 0;
        }
        self.findings
            .count_unmatched(|rule| self.evaluated_rules.contains(rule) && !self.failed_rules.contains(rule))
    }
}

#[cfg(test)]
mod tests;
