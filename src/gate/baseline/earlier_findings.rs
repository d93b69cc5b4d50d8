//! Decides which findings of a file are the same in an earlier and in a later version.
//!
//! A comparison with the base and a comparison with the fix of an agent both decide it here. Findings are matched by
//! their identity, never by their line. Each earlier finding matches only one later finding.

use sluicegate_pipelines::findings::{Finding, Origin, Severity};
use sluicegate_pipelines::pipelines::SubjectKind;
use sluicegate_pipelines::rules;
use std::collections::HashMap;

/// The rule that decides whether two findings with the same identity match.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchRule {
    Any,
    /// The later finding must not be worse: its size, or a reference that is broken only now.
    NotWorse,
}

/// The rule of a finding, its subject or error type, and the kind of the subject.
type IdentityKey = (String, Option<String>, Option<SubjectKind>);

/// The earlier findings of one file, to be matched with the later ones.
#[derive(Default)]
pub(crate) struct EarlierFindings {
    groups: HashMap<IdentityKey, IdentityGroup>,
}

/// The findings of a file with the same identity.
#[derive(Default)]
struct IdentityGroup {
    /// The earlier findings that are not matched with a later one yet.
    unmatched_findings: Vec<EarlierFinding>,
    earlier_count: usize,
    later_count: usize,
}

/// The properties of an earlier finding that determine whether it got worse.
#[derive(Clone, Copy)]
struct EarlierFinding {
    size: Option<u64>,
    severity: Severity,
    is_minor: bool,
}

impl EarlierFindings {
    /// Adds an earlier finding. The path is not part of its identity, because all findings are those of one file.
    pub(crate) fn add(&mut self, finding: &Finding<'_>) {
        let group = self.groups.entry(build_identity_key(finding)).or_default();
        group.unmatched_findings.push(EarlierFinding {
            size: finding.size,
            severity: finding.severity,
            is_minor: finding.is_minor,
        });
        group.earlier_count += 1;
    }

    /// Finds the earlier finding that is the same as the later one, and removes it, because it matches only one
    /// finding. Returns `false` if there is no such finding, or if the finding got worse and the rule does not allow
    /// that. Of several candidates, removes the nearest one: of the same kind, or with the nearest size. The result
    /// then does not depend on the order of the findings.
    pub(crate) fn take_match(&mut self, finding: &Finding<'_>, match_rule: MatchRule) -> bool {
        let Some(group) = self.groups.get_mut(&build_identity_key(finding)) else {
            return false;
        };
        // A finding that got worse has no match, but it is not fixed, so it is counted, too.
        group.later_count += 1;
        let mut nearest_match: Option<(usize, EarlierFinding)> = None;
        for (index, earlier_finding) in group.unmatched_findings.iter().enumerate() {
            if match_rule == MatchRule::NotWorse && earlier_finding.is_less_bad_than(finding) {
                continue;
            }
            // The later finding is not worse than any match, so the least bad match is the nearest.
            if nearest_match.is_none_or(|(_, nearest)| earlier_finding.is_better_than(&nearest, finding.rule))
            {
                nearest_match = Some((index, *earlier_finding));
            }
        }
        if let Some((index, _)) = nearest_match {
            group.unmatched_findings.swap_remove(index);
        }
        nearest_match.is_some()
    }

    /// Returns the number of earlier findings that no longer exist, for the rules that `counts_rule` accepts. Findings
    /// that got worse still exist.
    pub(crate) fn count_unmatched(&self, counts_rule: impl Fn(&str) -> bool) -> usize {
        let mut unmatched_count = 0;
        for ((rule, ..), group) in &self.groups {
            if counts_rule(rule) {
                unmatched_count += group.earlier_count.saturating_sub(group.later_count);
            }
        }
        unmatched_count
    }
}

impl EarlierFinding {
    /// Returns whether the later `finding`, which has the same identity, is or may be worse than this finding. A
    /// reference that was resolved before and is broken now is worse, even if both are warnings. Severities are
    /// compared only for project checks: the severities of rules cannot differ, because both versions are evaluated
    /// with the same rules file.
    fn is_less_bad_than(&self, finding: &Finding<'_>) -> bool {
        let is_broken_now = self.is_minor && !finding.is_minor;
        if finding.origin == Origin::Project && (is_broken_now || self.severity < finding.severity) {
            return true;
        }
        match (self.size, finding.size) {
            (Some(old_size), Some(new_size)) => rules::is_worse_size(finding.rule, old_size, new_size),
            (None, None) => false,
            // With only one size, it is not known whether the finding got worse.
            (Some(_), None) | (None, Some(_)) => true,
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

/// Returns the key that identifies the same finding in both versions: its rule and its subject. For an evaluation
/// error, the error type replaces the subject, because the message of the same error can differ.
fn build_identity_key(finding: &Finding<'_>) -> IdentityKey {
    let identity = finding.identity();
    let (about, about_kind) = match finding.error_type {
        Some(error_type) => (Some(error_type), None),
        None => (identity.about, identity.about_kind),
    };
    (finding.rule.to_owned(), about.map(str::to_owned), about_kind)
}
