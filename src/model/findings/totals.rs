//! The numbers of a report by findings: made in one place, shown by every writer.

use super::{Finding, Report, Severity, State};
use serde::{Deserialize, Serialize};

/// How many findings there are. The word "error" means a finding of that level, wherever people read it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Totals {
    /// Findings of level error that are neither known nor waived.
    pub errors: usize,
    /// Findings of level warning that are neither known nor waived.
    pub warnings: usize,
    /// What could not be judged.
    pub not_evaluated: usize,
    /// Findings that the base does not have; none where nothing was compared.
    pub new: Option<usize>,
    /// Findings that the base has too; none where nothing was compared.
    pub known: Option<usize>,
    pub waived: usize,
    /// Findings of the base that are gone; none where nothing was compared.
    pub fixed: Option<usize>,
}

impl Totals {
    /// The numbers of these findings; `fixed` are those of the base that are gone, if there was a comparison.
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
