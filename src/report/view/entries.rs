//! Selects the findings to list: one entry for equal findings with all their places, and one for each problem of the
//! rules file with all affected files.

use crate::report::PathBase;
use sluicegate_base::text::{List, format_count};
use sluicegate_pipelines::findings::{Finding, FindingState, Severity, ShowMode};
use std::collections::{BTreeMap, HashMap};

/// A finding, with all other places of equal findings.
pub(in crate::report) struct FindingEntry<'a> {
    pub finding: Finding<'a>,
    /// The equal findings, in their order.
    pub equal_findings: Vec<Finding<'a>>,
}

impl<'a> FindingEntry<'a> {
    /// Returns all places, that of `finding` first.
    pub(in crate::report) fn places(&self) -> impl Iterator<Item = &Finding<'a>> {
        std::iter::once(&self.finding).chain(&self.equal_findings)
    }
}

/// A problem of the rules file that keeps rules from being evaluated, with the affected files.
pub(in crate::report) struct UnevaluatedCause<'a> {
    /// The finding of the first file.
    pub finding: Finding<'a>,
    pub paths: Vec<&'a str>,
}

impl UnevaluatedCause<'_> {
    /// Returns the affected files, such as `3 files: a, b and c`.
    pub(in crate::report) fn describe_affected_files(&self, base: &PathBase) -> String {
        let list = List::new(&self.paths).map(|path| base.display_path(path));
        format!("{}: {list}", format_count(self.paths.len(), "file"))
    }
}

/// The listed findings, and the numbers of those that are not listed.
pub(super) struct FindingSelection<'a> {
    pub causes: Vec<UnevaluatedCause<'a>>,
    pub entries: Vec<FindingEntry<'a>>,
    /// Number of counting findings that are not listed.
    pub omitted_count: usize,
    /// Number of known or waived findings that are not listed.
    pub omitted_old_count: usize,
}

impl<'a> FindingSelection<'a> {
    /// Selects which findings a report lists up to the limit of `show`, and counts the others. `findings` are in the
    /// order of the report.
    pub(super) fn select_from(findings: &[Finding<'a>], show: ShowMode) -> Self {
        let (mut counting_findings, mut old_findings): (Vec<_>, Vec<_>) =
            findings.iter().cloned().partition(Finding::is_counted);
        let causes = take_rules_file_causes(&mut counting_findings);
        let mut listed_entries = merge_equal_findings(counting_findings);
        let omitted_entries = listed_entries.split_off(listed_entries.len().min(show.limit()));
        let omitted_count = omitted_entries.iter().map(|entry| entry.places().count()).sum();
        if show.includes_excused() {
            listed_entries.extend(merge_equal_findings(std::mem::take(&mut old_findings)));
        }
        Self {
            causes,
            entries: listed_entries,
            omitted_count,
            omitted_old_count: old_findings.len(),
        }
    }
}

/// The properties by which findings are equal: rule, level, state and message.
pub(in crate::report) type FindingKey<'a> = (&'a str, Severity, Option<FindingState>, String);

pub(in crate::report) fn finding_key<'a>(finding: &Finding<'a>) -> FindingKey<'a> {
    (finding.rule, finding.severity, finding.state, finding.message())
}

/// Merges equal findings into one entry, at the position of the first.
fn merge_equal_findings(findings: Vec<Finding<'_>>) -> Vec<FindingEntry<'_>> {
    let mut indices: HashMap<FindingKey<'_>, usize> = HashMap::new();
    let mut entries: Vec<FindingEntry<'_>> = Vec::new();
    for finding in findings {
        let key = finding_key(&finding);
        if let Some(entry) = indices.get(&key).and_then(|index| entries.get_mut(*index)) {
            entry.equal_findings.push(finding);
            continue;
        }
        indices.insert(key, entries.len());
        entries.push(FindingEntry {
            finding,
            equal_findings: Vec::new(),
        });
    }
    entries
}

/// Removes the findings about the rules file, which have no line in a pipeline, and returns them by cause.
fn take_rules_file_causes<'a>(findings: &mut Vec<Finding<'a>>) -> Vec<UnevaluatedCause<'a>> {
    let cause_key = |finding: &Finding<'a>| (finding.error_type, finding.rule, finding.text.clone());
    let mut paths_by_cause: BTreeMap<_, Vec<&'a str>> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.is_rules_file_error()) {
        paths_by_cause
            .entry(cause_key(finding))
            .or_default()
            .push(finding.path);
    }
    let mut causes: Vec<UnevaluatedCause<'_>> = Vec::new();
    findings.retain(|finding| {
        if !finding.is_rules_file_error() {
            return true;
        }
        if let Some(paths) = paths_by_cause
            .get_mut(&cause_key(finding))
            .filter(|paths| !paths.is_empty())
        {
            causes.push(UnevaluatedCause {
                finding: finding.clone(),
                paths: std::mem::take(paths),
            });
        }
        false
    });
    causes
}
