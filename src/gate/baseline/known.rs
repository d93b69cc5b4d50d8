//! Determines which findings of head are known, that is, exist at the base too.
//!
//! Findings of two commits are matched by their identity, never by their line. Findings with the same identity are
//! counted: if the base has one and head has two, one is new. A finding with a size is known only if it did not get
//! worse. If a file could not be evaluated at the base, its findings are neither known nor new.

use sluicegate_base::text::count;
use sluicegate_pipelines::findings::{
    FileResults, Finding, FindingState, Origin, RuleResult, Severity, Status,
};
use sluicegate_pipelines::pipelines::SubjectKind;
use sluicegate_pipelines::rules;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The state of a file of head at the base.
#[derive(Clone, Copy)]
pub(crate) enum Before<'a> {
    /// The file is missing or is not a pipeline: all findings of head are new.
    Nothing,
    Had(&'a FileResults),
    /// The file could not be evaluated, with the reason.
    Unknown(&'a str),
}

/// The result of a comparison with the base.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownComparison {
    /// Number of findings of the base that are gone, of rules that have a result in the same file of head.
    pub fixed: usize,
    /// Files that could not be evaluated at the base, each with the reason.
    pub unknown: Vec<(String, String)>,
    /// Files whose review failed at every base, by their path in head.
    pub failed_before: BTreeSet<String>,
}

impl KnownComparison {
    /// Returns a note about the files that could not be evaluated at the base, if any.
    pub(crate) fn describe_unknown(&self) -> Option<String> {
        let (path, reason) = self.unknown.first()?;
        Some(format!(
            "it is unknown which findings in {} are new, as the base was not evaluated: {path}: {reason}",
            count(self.unknown.len(), "file")
        ))
    }
}

/// Marks the findings of head that are not waived as new or known; `before` returns the state of a file at each base.
/// With several merge bases, a finding is known only if all of them have it: in a criss-cross merge, one of them may be
/// old.
/// `is_open` returns whether the review of a file of head is incomplete, so that no finding of it is fixed.
pub(crate) fn mark<'b>(
    files: &mut [FileResults],
    is_open: impl Fn(&str) -> bool,
    before: impl Fn(&str) -> Vec<Before<'b>>,
) -> KnownComparison {
    let mut compared = KnownComparison::default();
    for file in files {
        match before(&file.path).into_iter().map(had).collect::<Result<_, _>>() {
            Ok(had) => {
                let fixed = mark_file(file, had);
                compared.fixed += if is_open(&file.path) { 0 } else { fixed };
            }
            Err(why) => compared.unknown.push((file.path.clone(), why.to_owned())),
        }
    }
    compared
}

/// Returns the results of the file at the base, or the reason why they are unknown.
fn had(before: Before<'_>) -> Result<Option<&FileResults>, &str> {
    match before {
        Before::Nothing => Ok(None),
        Before::Had(base) if base.results.iter().any(|result| result.status.is_unreadable()) => Ok(None),
        Before::Had(base) => Ok(Some(base)),
        Before::Unknown(why) => Err(why),
    }
}

/// Marks the findings of one file, and returns the minimum over the bases of the findings that are gone.
fn mark_file(file: &mut FileResults, had: Vec<Option<&FileResults>>) -> usize {
    let mut pasts: Vec<PastFindings> = had.into_iter().map(PastFindings::of).collect();
    for result in &mut file.results {
        let each = pasts.iter_mut().map(|past| past.states(&file.path, result));
        result.states = each.reduce(of_both).unwrap_or_default();
    }
    pasts.iter().map(PastFindings::gone).min().unwrap_or_default()
}

/// Combines the states of the same findings relative to two bases: a finding that is known only at one of them is new.
fn of_both(one: Vec<Option<FindingState>>, other: Vec<Option<FindingState>>) -> Vec<Option<FindingState>> {
    let both = one.into_iter().zip(other);
    both.map(|(one, other)| {
        if one == other {
            one
        } else {
            Some(FindingState::New)
        }
    })
    .collect()
}

/// The rule of a finding, its subject or error type, and the kind of the subject.
type IdentityKey = (String, Option<String>, Option<SubjectKind>);

/// The findings of one file of the base.
#[derive(Default)]
struct PastFindings {
    kinds: HashMap<IdentityKey, SameIdentity>,
    /// The rules with a result on head. Earlier findings of other rules are not gone: the rule may be disabled, or the
    /// reviewer may have left it out. A project check has a result only if it failed, so it is never one of them.
    judged: HashSet<String>,
    /// The rules that could not be evaluated on head.
    unjudged: HashSet<String>,
    /// True if head is unreadable as a pipeline, so that no finding is gone.
    is_unreadable: bool,
}

#[derive(Default)]
struct SameIdentity {
    /// The findings of the base that are not matched with one of head yet.
    left: Vec<PastFinding>,
    base: usize,
    head: usize,
}

/// The properties of a finding of the base that determine whether it got worse.
#[derive(Clone, Copy)]
struct PastFinding {
    size: Option<u64>,
    severity: Severity,
}

impl PastFindings {
    fn of(base: Option<&FileResults>) -> Self {
        let mut past = Self::default();
        for result in base.into_iter().flat_map(|base| &base.results) {
            for finding in result.findings("") {
                if result.status.is_excusable() {
                    let kind = past.kinds.entry(key(&finding)).or_default();
                    kind.left.push(PastFinding {
                        size: finding.size,
                        severity: finding.severity,
                    });
                    kind.base += 1;
                }
            }
        }
        past
    }

    /// Returns the state of each finding of the result; empty if it has no findings.
    fn states(&mut self, path: &str, result: &RuleResult) -> Vec<Option<FindingState>> {
        let may_be_known = result.status.is_excusable();
        if result.origin != Origin::Project {
            self.judged.insert(result.rule.clone());
        }
        if matches!(result.status, Status::Error(_)) {
            self.unjudged.insert(result.rule.clone());
            self.is_unreadable |= result.status.is_unreadable();
        }
        let state = |finding: Finding<'_>| {
            let is_known = may_be_known && self.take(&finding, result.origin);
            // A waived finding stays waived, and its match at the base is not gone.
            let is_waived = finding.state == Some(FindingState::Waived);
            Some(match (is_waived, is_known) {
                (true, _) => FindingState::Waived,
                (false, true) => FindingState::Known,
                (false, false) => FindingState::New,
            })
        };
        let states: Vec<_> = result.findings(path).into_iter().map(state).collect();
        match states.as_slice() {
            // An evaluation error is one finding, regardless of the number of its messages.
            [only] => vec![*only; result.violations.len().max(1)],
            _ => states,
        }
    }

    /// Removes a matching finding of the base, and returns whether there was one that did not get worse in head.
    /// Prefers the finding with the nearest size, so that the order of the findings does not matter. Severities are
    /// compared only for project checks: those of rules come from the same rules file on both sides.
    fn take(&mut self, finding: &Finding<'_>, origin: Origin) -> bool {
        let Some(kind) = self.kinds.get_mut(&key(finding)) else {
            return false;
        };
        kind.head += 1;
        let is_worse = |before: u64, now: u64| rules::is_worse_size(finding.rule, before, now);
        let fits = |(_, before): &(usize, &PastFinding)| match (before.size, finding.size) {
            _ if origin == Origin::Project && before.severity < finding.severity => false,
            (Some(before), Some(now)) => !is_worse(before, now),
            (before, now) => before.is_none() && now.is_none(),
        };
        let nearer =
            |best: (usize, PastFinding), other: (usize, PastFinding)| match (best.1.size, other.1.size) {
                (Some(size), Some(smaller)) if is_worse(smaller, size) => other,
                _ => best,
            };
        let fitting = kind.left.iter().enumerate().filter(fits);
        let found = fitting.map(|(at, before)| (at, *before)).reduce(nearer);
        if let Some((at, _)) = found {
            kind.left.swap_remove(at);
        }
        found.is_some()
    }

    /// Returns the number of findings that head has fewer of. Findings that got worse are not gone, nor are those of
    /// rules that were not evaluated.
    fn gone(&self) -> usize {
        if self.is_unreadable {
            return 0;
        }
        let kinds = self.kinds.iter();
        let is_judged = |rule: &String| self.judged.contains(rule) && !self.unjudged.contains(rule);
        let judged = kinds.filter(|((rule, ..), _)| is_judged(rule));
        judged.map(|(_, kind)| kind.base.saturating_sub(kind.head)).sum()
    }
}

fn key(finding: &Finding<'_>) -> IdentityKey {
    let identity = finding.identity();
    let (about, about_kind) = match finding.error_type {
        Some(error_type) => (Some(error_type), None),
        None => (identity.about, identity.about_kind),
    };
    (finding.rule.to_owned(), about.map(str::to_owned), about_kind)
}

#[cfg(test)]
mod tests;
