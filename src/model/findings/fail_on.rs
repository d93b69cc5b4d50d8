//! What fails the gate.

use super::{RuleResult, Severity, Status};
use crate::base::words::words;
use clap::ValueEnum;

/// What fails the gate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Violations of rules with error enforcement.
    #[default]
    Error,
    /// Any violation.
    Warn,
    /// Nothing; findings are only reported.
    Never,
}

words!(FailOn { Error => "error", Warn => "warn", Never => "never" });

impl FailOn {
    /// Whether such a result fails the gate. A rule that could not be evaluated is never a pass.
    pub fn fails(self, status: &Status) -> bool {
        let limit = match self {
            Self::Error => Severity::Error,
            Self::Warn => Severity::Warning,
            Self::Never => return false,
        };
        match status {
            Status::Passed => false,
            Status::Failed(severity) => *severity >= limit,
            Status::Error(_) => true,
        }
    }
}

impl RuleResult {
    /// Whether it fails the gate: by what it weighs, and unless all of it is known or waived.
    pub fn fails(&self, fail_on: FailOn) -> bool {
        fail_on.fails(&self.status) && !self.is_old()
    }
}
