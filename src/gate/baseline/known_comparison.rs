//! Determines which findings of head are known, that is, exist at the base too.
//!
//! Findings of two commits are matched by their identity, never by their line. Findings with the same identity are
//! counted: if the base has one and head has two, one is new. A finding with a size is known only if it did not get
//! worse. If a file could not be evaluated at the base, its findings are neither known nor new.

use sluicegate_base::text::format_count;
use sluicegate_pipelines::findings::{
    FileResults, Finding, FindingState, Origin, RuleResult, Severity, Status,
};
use sluicegate_pipelines::pipelines::SubjectKind;
use sluicegate_pipelines::rules;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The state of a file of head at the base.
#[derive(Clone, Copy)]
pub(crate) enum BaseFile<'a> {
    /// The file is missing or is not a pipeline: all findings of head are new.
    Missing,
    Evaluated(&'a FileResults),
    /// The file could not be evaluated, with the reason.
    Unknown(&'a str),
}

/// The result of a comparison with the base.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownComparison {
    /// Number of findings at the base that no longer exist, for rules that have a result in the same file of head.
    pub fixed_count: usize,
    /// Files that could not be evaluated at the base, each with the reason.
    pub unknown_files: Vec<(String, String)>,
    /// Files whose review failed at every base, by their path in head.
    pub failed_before: BTreeSet<String>,
}

impl KnownComparison {
    /// Returns a note about the files that could not be evaluated at the base, if any.
    pub(crate) fn describe_unknown_files(&self) -> Option<String> {
        let (path, reason) = self.unknown_files.first()?;
        Some(format!(
            "could not determine which findings in {} are new, because the base was not evaluated: {path}: {reason}",
            format_count(self.unknown_files.len(), "file")
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
        let base_results: Result<Vec<_>, &str> = find_base_files(&file.path)
            .into_iter()
            .map(find_comparable_results)
            .collect();
        match base_results {
            Ok(base_results) => {
                let fixed_count = mark_findings_of_file(file, base_results);
                comparison.fixed_count += if is_incomplete(&file.path) { 0 } else { fixed_count };
            }
            Err(reason) => comparison
                .unknown_files
                .push((file.path.clone(), reason.to_owned())),
        }
    }
    comparison
}

/// Returns the results of a file at the base, or the reason why they are unknown. Returns `None` if the file is missing
/// there or could not be read, so that all its findings in head are new.
fn find_comparable_results(base_file: BaseFile<'_>) -> Result<Option<&FileResults>, &str> {
    match base_file {
        BaseFile::Missing => Ok(None),
        BaseFile::Evaluated(base) if base.results.iter().any(|result| result.status.is_unreadable()) => {
            Ok(None)
        }
        BaseFile::Evaluated(base) => Ok(Some(base)),
        BaseFile::Unknown(reason) => Err(reason),
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
        result.states = states_by_base.reduce(combine_states).unwrap_or_default();
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

/// The rule of a finding, its subject or error type, and the kind of the subject.
type IdentityKey = (String, Option<String>, Option<SubjectKind>);

/// The findings that one file has at the base, to be matched with those of head.
#[derive(Default)]
struct BaseFindings {
    groups: HashMap<IdentityKey, IdentityGroup>,
    /// The rules with a result on head. Earlier findings of other rules are not treated as fixed: such a rule may be
    /// disabled, or the platform may have omitted it. A project check has a result only if it fails, so it is never one
    /// of these rules.
    evaluated_rules: HashSet<String>,
    /// The rules that could not be evaluated on head.
    failed_rules: HashSet<String>,
    /// True if head is unreadable as a pipeline, so that no finding is treated as fixed.
    is_head_unreadable: bool,
}

/// The findings of a file with the same identity.
#[derive(Default)]
struct IdentityGroup {
    /// The findings at the base that are not matched with one of head yet.
    unmatched_findings: Vec<BaseFinding>,
    base_count: usize,
    head_count: usize,
}

/// The properties of a finding at the base that determine whether it got worse.
#[derive(Clone, Copy)]
struct BaseFinding {
    size: Option<u64>,
    severity: Severity,
    is_minor: bool,
}

impl BaseFinding {
    /// Returns whether `finding` of head, which has the same identity, is not worse than this finding. A reference that
    /// was resolved at the base and is broken now is worse, even if both are warnings. Severities are compared only for
    /// project checks: the severities of rules cannot differ, because base and head are evaluated with the same rules
    /// file.
    fn can_match(&self, finding: &Finding<'_>, origin: Origin) -> bool {
        let is_broken_now = self.is_minor && !finding.is_minor;
        if origin == Origin::Project && (is_broken_now || self.severity < finding.severity) {
            return false;
        }
        match (self.size, finding.size) {
            (Some(old_size), Some(new_size)) => !rules::is_worse_size(finding.rule, old_size, new_size),
            (None, None) => true,
            // With only one size, it is not known whether the finding got worse.
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// Returns whether this finding is certainly less bad than `other_finding`, a finding of the same rule.
    fn is_better_than(&self, other_finding: &Self, rule: &str) -> bool {
        if self.is_minor != other_finding.is_minor {
            return self.is_minor;
        }
        match (self.size, other_finding.size) {
            (Some(size), Some(other_size)) => rules::is_worse_size(rule, size, other_size),
            _ => false,
        }
    }
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
                    let group = findings.groups.entry(build_identity_key(&finding)).or_default();
                    group.unmatched_findings.push(BaseFinding {
                        size: finding.size,
                        severity: finding.severity,
                        is_minor: finding.is_minor,
                    });
                    group.base_count += 1;
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
            let is_known = may_be_known && self.take_matching_finding(&finding, result.origin);
            // A waived finding stays waived, but its match at the base is removed as well: it is not fixed.
            let is_waived = finding.state == Some(FindingState::Waived);
            states.push(Some(match (is_waived, is_known) {
                (true, _) => FindingState::Waived,
                (false, true) => FindingState::Known,
                (false, false) => FindingState::New,
            }));
        }
        match states.as_slice() {
            // An evaluation error is one finding with one state, although each message is listed as a violation.
            [state] => vec![*state; result.violations.len().max(1)],
            _ => states,
        }
    }

    /// Finds the finding at the base that is the same as `finding` of head, and removes it, because it matches only one
    /// finding. Returns `false` if the base has no such finding, or if the finding got worse. Of several candidates,
    /// removes the nearest one: of the same kind, or with the nearest size. The result then does not depend on the order
    /// of the findings.
    fn take_matching_finding(&mut self, finding: &Finding<'_>, origin: Origin) -> bool {
        let Some(group) = self.groups.get_mut(&build_identity_key(finding)) else {
            return false;
        };
        // A finding that got worse has no match, but it is not fixed, so it is counted, too.
        group.head_count += 1;
        let mut nearest_match: Option<(usize, BaseFinding)> = None;
        for (index, base_finding) in group.unmatched_findings.iter().enumerate() {
            if !base_finding.can_match(finding, origin) {
                continue;
            }
            // Head is not worse than any match, so the least bad match is the nearest.
            if nearest_match.is_none_or(|(_, nearest)| base_finding.is_better_than(&nearest, finding.rule)) {
                nearest_match = Some((index, *base_finding));
            }
        }
        if let Some((index, _)) = nearest_match {
            group.unmatched_findings.swap_remove(index);
        }
        nearest_match.is_some()
    }

    /// Returns the number of findings at the base that head no longer has. Findings that got worse still exist.
    /// Findings of rules that were not evaluated on head, or failed there, are not fixed, and neither are those of an
    /// unreadable file.
    fn count_fixed(&self) -> usize {
        if self.is_head_unreadable {
            return 0;
        }
        let mut fixed_count = 0;
        for ((rule, ..), group) in &self.groups {
            if self.evaluated_rules.contains(rule) && !self.failed_rules.contains(rule) {
                fixed_count += group.base_count.saturating_sub(group.head_count);
            }
        }
        fixed_count
    }
}

/// Returns the key that identifies the same finding at the base and in head: its rule and its subject. For an
/// evaluation error, the error type replaces the subject.
fn build_identity_key(finding: &Finding<'_>) -> IdentityKey {
    let identity = finding.identity();
    let (about, about_kind) = match finding.error_type {
        Some(error_type) => (Some(error_type), None),
        None => (identity.about, identity.about_kind),
    };
    (finding.rule.to_owned(), about.map(str::to_owned), about_kind)
}

#[cfg(test)]
mod tests;
