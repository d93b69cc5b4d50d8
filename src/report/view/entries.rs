//! Selects the findings to list: one entry for equal findings with all their places, and one for each problem of the
//! rules file with all affected files.

use crate::report::PathBase;
use sluicegate_base::text::{List, count};
use sluicegate_pipelines::findings::{Finding, FindingState, Severity, ShowMode};
use std::collections::{BTreeMap, HashMap};

/// A finding, with all other places of equal findings.
pub(in crate::report) struct FindingEntry<'a> {
    pub finding: Finding<'a>,
    /// The equal findings, in their order.
    pub others: Vec<Finding<'a>>,
}

impl<'a> FindingEntry<'a> {
    /// Returns all places, that of `finding` first.
    pub(in crate::report) fn places(&self) -> impl Iterator<Item = &Finding<'a>> {
        std::iter::once(&self.finding).chain(&self.others)
    }
}

/// A problem of the rules file that keeps rules from being evaluated, with the affected files.
pub(in crate::report) struct UnjudgedCause<'a> {
    /// The finding of the first file.
    pub finding: Finding<'a>,
    pub paths: Vec<&'a str>,
}

impl UnjudgedCause<'_> {
    /// Returns the affected files, such as `3 files: a, b and c`.
    pub(in crate::report) fn concerns(&self, base: &PathBase) -> String {
        let list = List::new(&self.paths).map(|path| base.shown(path));
        format!("{}: {list}", count(self.paths.len(), "file"))
    }
}

/// The listed findings, and the numbers of those that are not listed.
pub(super) struct Listing<'a> {
    pub causes: Vec<UnjudgedCause<'a>>,
    pub listed: Vec<FindingEntry<'a>>,
    /// Number of counting findings that are not listed.
    pub more: usize,
    /// Number of known or waived findings that are not listed.
    pub old: usize,
}

impl<'a> Listing<'a> {
    /// Selects from these findings, which are in their final order.
    pub(super) fn of(findings: &[Finding<'a>], show: ShowMode) -> Self {
        let (mut counting, mut old): (Vec<_>, Vec<_>) =
            findings.iter().cloned().partition(Finding::is_counted);
        let causes = causes(&mut counting);
        let mut listed = entries(counting);
        let left_out = listed.split_off(listed.len().min(show.limit()));
        let more = left_out.iter().map(|entry| entry.places().count()).sum();
        if show.includes_excused() {
            listed.extend(entries(std::mem::take(&mut old)));
        }
        Self {
            causes,
            listed,
            more,
            old: old.len(),
        }
    }
}

/// The properties by which findings are equal: rule, level, state and message.
pub(in crate::report) type Said<'a> = (&'a str, Severity, Option<FindingState>, String);

pub(in crate::report) fn said<'a>(finding: &Finding<'a>) -> Said<'a> {
    (finding.rule, finding.severity, finding.state, finding.message())
}

/// Merges equal findings into one entry, at the position of the first.
fn entries(findings: Vec<Finding<'_>>) -> Vec<FindingEntry<'_>> {
    let mut places: HashMap<Said<'_>, usize> = HashMap::new();
    let mut entries: Vec<FindingEntry<'_>> = Vec::new();
    for finding in findings {
        let said = said(&finding);
        if let Some(entry) = places.get(&said).and_then(|at| entries.get_mut(*at)) {
            entry.others.push(finding);
            continue;
        }
        places.insert(said, entries.len());
        entries.push(FindingEntry {
            finding,
            others: Vec::new(),
        });
    }
    entries
}

/// Removes the findings about the rules file, which have no line in a pipeline, and returns them by cause.
fn causes<'a>(findings: &mut Vec<Finding<'a>>) -> Vec<UnjudgedCause<'a>> {
    let key = |finding: &Finding<'a>| (finding.error_type, finding.rule, finding.text.clone());
    let mut found: BTreeMap<_, Vec<&'a str>> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.is_rules_file_error()) {
        found.entry(key(finding)).or_default().push(finding.path);
    }
    let mut causes: Vec<UnjudgedCause<'_>> = Vec::new();
    findings.retain(|finding| {
        if !finding.is_rules_file_error() {
            return true;
        }
        if let Some(paths) = found.get_mut(&key(finding)).filter(|paths| !paths.is_empty()) {
            causes.push(UnjudgedCause {
                finding: finding.clone(),
                paths: std::mem::take(paths),
            });
        }
        false
    });
    causes
}
