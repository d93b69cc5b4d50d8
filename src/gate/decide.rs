//! What the findings come to.

use super::Tally;
use crate::findings::{FailOn, RuleResult, Severity, Verdict};
use std::collections::BTreeSet;

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

/// Decides. Where nothing fails the gate, what is open stays open all the same.
pub fn decide(tally: &Tally, fail_on: FailOn) -> Decision {
    let is_unknown = |path: &str| {
        let unknown = tally.compared.iter().flat_map(|compared| &compared.unknown);
        unknown.into_iter().any(|(known, _)| known == path)
    };
    let counting = tally
        .files
        .iter()
        .filter(|file| file.results.iter().any(|result| result.fails(fail_on)));
    let (open, found): (Vec<_>, Vec<_>) = counting.partition(|file| is_unknown(&file.path));
    // Where only new findings count, the platform's own word is about the known ones too.
    let platform_failed = match tally.compared {
        Some(_) => tally.failed_without_finding,
        None => tally.is_failed_by_platform(),
    };
    Decision {
        failed: !found.is_empty() || (platform_failed && fail_on != FailOn::Never),
        undecided: !tally.unreviewed.is_empty() || !tally.doubts.is_empty() || !open.is_empty(),
    }
}

impl Tally {
    /// Whether the platform said so of a batch, and no finding that is known or waived explains it.
    fn is_failed_by_platform(&self) -> bool {
        self.failed_batches.iter().any(|batch| self.stands(batch))
    }

    fn stands(&self, batch: &BTreeSet<String>) -> bool {
        let files = self.files.iter().filter(|file| batch.contains(&file.path));
        let found: Vec<&RuleResult> = files
            .flat_map(|file| &file.results)
            .filter(|result| result.severity().is_some())
            .collect();
        let is_severe = |result: &&&RuleResult| result.severity() == Some(Severity::Error);
        let severe: Vec<&RuleResult> = found.iter().filter(is_severe).copied().collect();
        let causes = if severe.is_empty() { found } else { severe };
        causes.is_empty() || causes.iter().any(|result| !result.is_old())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{FileResults, State, Status, Unreviewed};

    fn tally(status: Status) -> Tally {
        let result = RuleResult {
            rule: "r".into(),
            status,
            enforcement: None,
            violations: vec![],
            states: vec![],
            waivers: vec![],
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
            (Status::Passed, FailOn::Warn, Verdict::Passed),
            (Status::Failed(Severity::Warning), FailOn::Error, Verdict::Passed),
            (Status::Failed(Severity::Warning), FailOn::Warn, Verdict::Failed),
            (Status::Failed(Severity::Error), FailOn::Error, Verdict::Failed),
            (Status::Failed(Severity::Error), FailOn::Never, Verdict::Passed),
            (Status::Error(None), FailOn::Error, Verdict::Failed),
            (Status::Error(None), FailOn::Never, Verdict::Passed),
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
        assert_eq!(decide(&open, FailOn::Never).verdict(), Verdict::Undecided);
        let doubtful = Tally {
            doubts: vec!["?".into()],
            ..Tally::default()
        };
        assert_eq!(decide(&doubtful, FailOn::Error).verdict(), Verdict::Undecided);
    }

    #[test]
    fn the_platforms_word_fails_the_gate() {
        let failed = |status| Tally {
            failed_batches: vec![BTreeSet::from(["a".to_owned()])],
            ..tally(status)
        };
        let nothing = failed(Status::Passed);
        assert_eq!(decide(&nothing, FailOn::Error).verdict(), Verdict::Failed);
        assert_eq!(decide(&nothing, FailOn::Never).verdict(), Verdict::Passed);
        for severity in [Severity::Error, Severity::Warning] {
            let mut found = failed(Status::Failed(severity));
            assert_eq!(decide(&found, FailOn::Error).verdict(), Verdict::Failed);
            found.files[0].results[0].states = vec![Some(State::Waived)];
            assert_eq!(decide(&found, FailOn::Error).verdict(), Verdict::Passed);
        }
    }
}
