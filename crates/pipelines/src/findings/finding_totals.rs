//! The numbers of findings in a report, computed in one place for all writers.

use super::{Finding, FindingState, Report, Severity};
use serde::{Deserialize, Serialize};

/// The numbers of findings. In all output, "error" means a finding of that level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindingTotals {
    /// Findings of level error that are neither known nor waived.
    pub errors: usize,
    /// Findings of level warning that are neither known nor waived.
    pub warnings: usize,
    /// Rules that could not be evaluated.
    pub not_evaluated: usize,
    /// New findings, which are missing at the base; `None` without a comparison.
    pub new: Option<usize>,
    /// Findings that the base also has; `None` without a comparison.
    pub known: Option<usize>,
    pub waived: usize,
    /// Findings at the base that no longer exist; `None` without a comparison.
    pub fixed: Option<usize>,
}

impl FindingTotals {
    /// Counts findings by severity and state. Known and waived findings are not counted as errors or warnings, nor as
    /// rules that could not be evaluated. Other rules that could not be evaluated are only counted in `not_evaluated`,
    /// even if they are new. `fixed_count` is the number of findings at the
    /// base that no longer exist; without a comparison it is `None`, and so are the numbers of new and known findings.
    pub fn from_findings(findings: &[Finding<'_>], fixed_count: Option<usize>) -> Self {
        let mut totals = Self {
            new: fixed_count.map(|_| 0),
            known: fixed_count.map(|_| 0),
            fixed: fixed_count,
            ..Self::default()
        };
        for finding in findings {
            match finding.state {
                Some(FindingState::Known) => totals.known = totals.known.map(|count| count + 1),
                Some(FindingState::Waived) => totals.waived += 1,
                _ if finding.error_type.is_some() => totals.not_evaluated += 1,
                Some(FindingState::New) => totals.new = totals.new.map(|count| count + 1),
                None => {}
            }
            if finding.is_counted() && finding.error_type.is_none() {
                match finding.severity {
                    Severity::Error => totals.errors += 1,
                    Severity::Warning => totals.warnings += 1,
                }
            }
        }
        totals
    }
}

impl Report {
    /// Counts all findings of the report.
    pub fn finding_totals(&self) -> FindingTotals {
        FindingTotals::from_findings(&self.findings(), self.fixed_count)
    }

    /// Counts all findings of the report as earlier versions of this program did: a rule that could not be evaluated is
    /// counted as such, even if it is known or waived.
    pub fn older_finding_totals(&self) -> FindingTotals {
        let mut totals = self.finding_totals();
        for finding in self.findings() {
            match (finding.error_type, finding.state) {
                (Some(_), Some(FindingState::Known)) => totals.known = totals.known.map(|count| count - 1),
                (Some(_), Some(FindingState::Waived)) => totals.waived -= 1,
                _ => continue,
            }
            totals.not_evaluated += 1;
        }
        totals
    }
}
