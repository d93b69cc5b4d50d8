//! Which findings were there before: the base has them too.
//!
//! A finding is the same one at another commit by its identity, never by its line, and findings of one identity are
//! counted: where the base has one and head has two, one is new. What counts something is known only while it did not
//! get worse. What cannot be judged at the base is neither known nor new.

use crate::model::findings::{FileResults, Finding, Origin, RuleResult, Severity, State, Status};
use crate::model::rules;
use std::collections::{HashMap, HashSet};

/// What the base has of a file of head.
#[derive(Clone, Copy)]
pub(crate) enum Before<'a> {
    /// No such file, or one that is no pipeline: whatever head has is new.
    Nothing,
    Had(&'a FileResults),
    /// It could not be judged: why.
    Unknown(&'a str),
}

/// What a comparison with the base showed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownComparison {
    /// Findings of the base that are gone, in the files that were compared.
    pub fixed: usize,
    /// Files whose base could not be judged, with why.
    pub unknown: Vec<(String, String)>,
}

/// Marks the findings of head that are not waived as new or known, by what each base has of each file. With several
/// merge-bases a finding is known only if all of them have it: a criss-cross merge can choose one of them from the past.
pub(crate) fn mark<'b>(
    files: &mut [FileResults],
    before: impl Fn(&str) -> Vec<Before<'b>>,
) -> KnownComparison {
    let mut compared = KnownComparison::default();
    for file in files {
        match before(&file.path).into_iter().map(had).collect::<Result<_, _>>() {
            Ok(had) => compared.fixed += mark_file(file, had),
            Err(why) => compared.unknown.push((file.path.clone(), why.to_owned())),
        }
    }
    compared
}

/// Returns the results of the file at the base, or why they are unknown.
fn had(before: Before<'_>) -> Result<Option<&FileResults>, &str> {
    match before {
        Before::Nothing => Ok(None),
        Before::Had(base) if base.results.iter().any(|result| result.status.is_unreadable()) => Ok(None),
        Before::Had(base) => Ok(Some(base)),
        Before::Unknown(why) => Err(why),
    }
}

/// Marks the findings of one file, and returns the number that every base had and head does not have.
fn mark_file(file: &mut FileResults, had: Vec<Option<&FileResults>>) -> usize {
    let mut pasts: Vec<PastFindings> = had.into_iter().map(PastFindings::of).collect();
    for result in &mut file.results {
        let each = pasts.iter_mut().map(|past| past.states(&file.path, result));
        result.states = each.reduce(of_both).unwrap_or_default();
    }
    pasts.iter().map(PastFindings::gone).min().unwrap_or_default()
}

/// Combines the states of the same findings against two bases: known in one alone is new.
fn of_both(one: Vec<Option<State>>, other: Vec<Option<State>>) -> Vec<Option<State>> {
    let both = one.into_iter().zip(other);
    both.map(|(one, other)| if one == other { one } else { Some(State::New) })
        .collect()
}

/// The rule, and what it is about.
type IdentityKey = (String, Option<String>);

/// The findings of one file of the base.
#[derive(Default)]
struct PastFindings {
    kinds: HashMap<IdentityKey, SameIdentity>,
    /// The rules that head could not evaluate: what they found before is not gone.
    unjudged: HashSet<String>,
    /// Head is no pipeline any more, so nothing is gone.
    is_unreadable: bool,
}

#[derive(Default)]
struct SameIdentity {
    /// Those of the base that none of head was matched with yet, with what was counted.
    left: Vec<PastFinding>,
    base: usize,
    head: usize,
}

/// What of a finding of the base tells whether it got worse.
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
                if result.status.can_be_old() {
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

    /// The state of each finding of the result; none for a result without one.
    fn states(&mut self, path: &str, result: &RuleResult) -> Vec<Option<State>> {
        let may_be_known = result.status.can_be_old();
        if matches!(result.status, Status::Error(_)) {
            self.unjudged.insert(result.rule.clone());
            self.is_unreadable |= result.status.is_unreadable();
        }
        let state = |finding: Finding<'_>| {
            let is_known = may_be_known && self.take(&finding, result.origin);
            // What is waived stays so, and is not gone either.
            let is_waived = finding.state == Some(State::Waived);
            Some(match (is_waived, is_known) {
                (true, _) => State::Waived,
                (false, true) => State::Known,
                (false, false) => State::New,
            })
        };
        let states: Vec<_> = result.findings(path).into_iter().map(state).collect();
        match states.as_slice() {
            // An evaluation error is one finding, whatever its words are.
            [only] => vec![*only; result.violations.len().max(1)],
            _ => states,
        }
    }

    /// Whether the base has one such finding left that head did not make worse. The nearest one is taken, so that the
    /// order of the findings does not matter. The levels of the rules are those of the rules file on both sides; what a check of the
    /// project found may weigh more than it did.
    fn take(&mut self, finding: &Finding<'_>, origin: Origin) -> bool {
        let Some(kind) = self.kinds.get_mut(&key(finding)) else {
            return false;
        };
        kind.head += 1;
        let is_worse = |before: u64, now: u64| rules::got_worse(finding.rule, before, now);
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

    /// How many are gone: those that head has fewer of. What got worse is not gone, nor what was not looked for.
    fn gone(&self) -> usize {
        if self.is_unreadable {
            return 0;
        }
        let kinds = self.kinds.iter();
        let judged = kinds.filter(|((rule, _), _)| !self.unjudged.contains(rule));
        judged.map(|(_, kind)| kind.base.saturating_sub(kind.head)).sum()
    }
}

fn key(finding: &Finding<'_>) -> IdentityKey {
    let about = match finding.error_type {
        Some(error_type) => Some(error_type.to_owned()),
        None => finding.identity().about.map(str::to_owned),
    };
    (finding.rule.to_owned(), about)
}

#[cfg(test)]
mod tests;
