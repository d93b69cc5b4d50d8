//! The setting that selects which findings fail the gate.

use super::{RuleResult, Severity, Status};
use sluicegate_base::words::words;

/// The findings that fail the gate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum FailOn {
    /// Fail on violations of rules with the level error.
    #[default]
    Error,
    /// Fail on any violation.
    Warn,
    /// Do not fail on any finding; findings are only reported.
    Never,
}

words!(FailOn { Error => "error", Warn => "warn", Never => "never" });

impl FailOn {
    /// Returns whether a result with this status fails the gate. A rule that could not be evaluated fails the gate,
    /// regardless of the level of the rule, except with [`Self::Never`].
    pub fn is_failure(self, status: &Status) -> bool {
        let min_severity = match self {
            Self::Error => Severity::Error,
            Self::Warn => Severity::Warning,
            Self::Never => return false,
        };
        match status {
            Status::Passed => false,
            Status::Failed(severity) => *severity >= min_severity,
            Status::Error(_) => true,
        }
    }
}

impl RuleResult {
    /// Returns whether the result fails the gate: it is severe enough for this setting, and at least one of its
    /// findings is neither known nor waived.
    pub fn fails_gate(&self, fail_on: FailOn) -> bool {
        fail_on.is_failure(&self.status) && !self.is_excused()
    }
}
