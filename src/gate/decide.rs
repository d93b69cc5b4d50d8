//! What the findings come to.

use super::Tally;
use crate::findings::{Severity, Status, Verdict};

/// The gate's word, with all that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Findings at or over the limit, or a rule that could not be evaluated.
    pub failed: bool,
    /// Something has no usable answer.
    pub undecided: bool,
}

impl Decision {
    /// A failed gate is failed, whatever else is open.
    pub const fn verdict(self) -> Verdict {
        match (self.failed, self.undecided) {
            (true, _) => Verdict::Failed,
            (false, true) => Verdict::Undecided,
            (false, false) => Verdict::Passed,
        }
    }
}

/// Decides. `limit` is the least severity that fails the gate; none only reports, but what is open stays open.
pub fn decide(tally: &Tally, limit: Option<Severity>) -> Decision {
    let undecided = !tally.unreviewed.is_empty() || !tally.doubts.is_empty();
    let Some(limit) = limit else {
        return Decision {
            failed: false,
            undecided,
        };
    };
    let over = |status: &Status| match status {
        Status::Passed => false,
        Status::Failed(severity) => *severity >= limit,
        Status::Error(_) => true,
    };
    let found = tally
        .files
        .iter()
        .flat_map(|file| &file.results)
        .any(|result| over(&result.status));
    Decision {
        failed: found || tally.platform_failed,
        undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{FileResults, RuleResult, Unreviewed};

    fn tally(status: Status) -> Tally {
        let result = RuleResult {
            rule: "r".into(),
            status,
            enforcement: None,
            violations: vec![],
        };
        Tally {
            files: vec![FileResults {
                path: "a".into(),
                results: vec![result],
            }],
            ..Tally::default()
        }
    }

    #[test]
    fn the_limit_is_the_least_severity_that_fails() {
        let cases = [
            (Status::Passed, Some(Severity::Warning), Verdict::Passed),
            (
                Status::Failed(Severity::Warning),
                Some(Severity::Error),
                Verdict::Passed,
            ),
            (
                Status::Failed(Severity::Warning),
                Some(Severity::Warning),
                Verdict::Failed,
            ),
            (
                Status::Failed(Severity::Error),
                Some(Severity::Error),
                Verdict::Failed,
            ),
            (Status::Failed(Severity::Error), None, Verdict::Passed),
            (Status::Error(None), Some(Severity::Error), Verdict::Failed),
            (Status::Error(None), None, Verdict::Passed),
        ];
        for (status, limit, verdict) in cases {
            assert_eq!(
                decide(&tally(status.clone()), limit).verdict(),
                verdict,
                "{status:?} {limit:?}"
            );
        }
    }

    #[test]
    fn what_is_open_is_never_a_pass() {
        let mut open = tally(Status::Passed);
        open.unreviewed.push(Unreviewed {
            path: "b".into(),
            reason: "no answer".into(),
        });
        assert_eq!(decide(&open, None).verdict(), Verdict::Undecided);
        let doubtful = Tally {
            doubts: vec!["?".into()],
            ..Tally::default()
        };
        assert_eq!(
            decide(&doubtful, Some(Severity::Error)).verdict(),
            Verdict::Undecided
        );
    }

    #[test]
    fn the_platforms_word_fails_the_gate() {
        let failed = Tally {
            platform_failed: true,
            ..tally(Status::Passed)
        };
        assert_eq!(decide(&failed, Some(Severity::Error)).verdict(), Verdict::Failed);
        assert_eq!(decide(&failed, None).verdict(), Verdict::Passed);
    }
}
