//! What fails the gate.

use super::{RuleResult, Severity, Status};
use clap::ValueEnum;
use std::fmt;

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

impl FailOn {
    /// The word for it on the command line and in the report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Never => "never",
        }
    }

    /// The value with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Error, Self::Warn, Self::Never]
            .into_iter()
            .find(|value| value.name() == name)
    }

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

impl fmt::Display for FailOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
