//! The statuses in the responses of the platform.

use sluicegate_platform::api::RuleResponse;

/// The status of a review or of a rule result in a response. Only a rule result can have the status `ERROR`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseStatus {
    Passed,
    Failed,
    Error,
}

impl ResponseStatus {
    /// Parses the platform's name of a status. Returns `None` for an unknown name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "PASSED" => Some(Self::Passed),
            "FAILED" => Some(Self::Failed),
            "ERROR" => Some(Self::Error),
            _ => None,
        }
    }

    /// Returns the status that the rest of the result proves: a result with an error is an error, and one with
    /// violations has not passed.
    pub(crate) const fn correct(self, response: &RuleResponse) -> Self {
        match self {
            Self::Passed | Self::Failed if response.error_type.is_some() => Self::Error,
            Self::Passed if !response.violations.is_empty() => Self::Failed,
            Self::Passed | Self::Failed | Self::Error => self,
        }
    }
}
