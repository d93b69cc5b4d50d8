//! The numbers of findings in a report, computed in one place for all writers.

use super::{Finding, Report, Severity, State};
use serde::{Deserialize, Serialize};

/// The numbers of findings. In all output, "error" means a finding of that level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Totals {
    /// Findings of level error that are neither known nor waived.
    pub errors: usize,
    /// Findings of level warning that are neither known nor waived.
    pub warnings: usize,
    /// Rules that could not be evaluated.
    pub not_evaluated: usize,
    /// Findings that the base does not have; `None` without a comparison.
    pub new: Option<usize>,
    /// Findings that the base also has; `None` without a comparison.
    pub known: Option<usize>,
    pub waived: usize,
    /// Findings of the base that no longer exist; `None` without a comparison.
    pub fixed: Option<usize>,
}

impl Totals {
    /// Counts these findings. `fixed` is the number of findings of the base that no longer exist, if a comparison was
    /// made.
    pub fn of(findings: &[Finding<'_>], fixed: Option<usize>) -> Self {
        let evaluated = || findings.iter().filter(|finding| finding.error_type.is_none());
        let level = |severity| {
            let counting = evaluated().filter(|finding| finding.counts() && finding.severity == severity);
            counting.count()
        };
        let state = |state| evaluated().filter(|finding| finding.state == Some(state)).count();
        Self {
            errors: level(Severity::Error),
            warnings: level(Severity::Warning),
            not_evaluated: findings.len() - evaluated().count(),
            new: fixed.map(|_| state(State::New)),
            known: fixed.map(|_| state(State::Known)),
            waived: state(State::Waived),
            fixed,
        }
    }
}

impl Report {
    pub fn totals(&self) -> Totals {
        Totals::of(&self.findings(), self.fixed)
    }
}
