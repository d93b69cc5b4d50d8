//! Defines the exit codes.
//!
//! A CI job acts differently on "the gate failed" and "the change could not be evaluated", so each outcome has its
//! own code, and the meaning of a code never changes.

use std::process::ExitCode;

/// The outcome of a run. The numbers are part of the public contract (`docs/book/exit-codes.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitStatus {
    /// Passed, done, or nothing to do.
    Success = 0,
    /// The gate failed: findings at or above `--fail-on`, or a rule that could not be evaluated.
    GateFailed = 1,
    Usage = 2,
    /// The platform could not be reached or gave no usable response, even after the retries.
    Undecided = 3,
    /// Not authenticated (401) or not allowed (403).
    Denied = 4,
    /// The artifact version, or a running execution tag, already exists (409).
    AlreadyExists = 5,
    /// The published artifact is incomplete or could not be verified.
    Incomplete = 6,
    /// The git or CI context could not be determined.
    Context = 7,
    RemoteFailed = 8,
    Interrupted = 130,
    Terminated = 143,
}

impl ExitStatus {
    /// Returns the process exit code, 0 to 255.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the status to report if two apply. In order of priority: ended by a signal, denied (4), gate failed
    /// (1), undecided (3), any other failure, success.
    #[must_use]
    pub fn worse(self, other_status: Self) -> Self {
        if self.rank() >= other_status.rank() {
            self
        } else {
            other_status
        }
    }

    /// Returns how bad the status is, to choose the worst of several.
    const fn rank(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Usage | Self::AlreadyExists | Self::Incomplete | Self::Context | Self::RemoteFailed => 1,
            Self::Undecided => 2,
            Self::GateFailed => 3,
            Self::Denied => 4,
            Self::Interrupted | Self::Terminated => 5,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}

#[cfg(test)]
mod tests {
    use super::ExitStatus::{Denied, GateFailed, Success, Undecided};

    #[test]
    fn denied_wins_over_failed_wins_over_undecided() {
        assert_eq!(Undecided.worse(GateFailed), GateFailed);
        assert_eq!(GateFailed.worse(Denied), Denied);
        assert_eq!(Denied.worse(Undecided), Denied);
        assert_eq!(Success.worse(Undecided), Undecided);
    }
}
