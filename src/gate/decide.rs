//! What the findings come to.

use super::Tally;
use crate::findings::{FailOn, FileResults, RuleResult, Severity, Verdict};
use std::collections::BTreeSet;

/// The gate's word, with all that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateDecision {
    /// Findings at or over the limit, or a rule that could not be evaluated.
    pub failed: bool,
    /// Something has no usable answer.
    pub undecided: bool,
}

impl GateDecision {
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
pub fn decide(tally: &Tally, fail_on: FailOn) -> GateDecision {
    let unknown = tally.compared.iter().flat_map(|compared| &compared.unknown);
    let unknown: Unknown<'_> = unknown.map(|(path, _)| path.as_str()).collect();
    let counting = tally
        .files
        .iter()
        .filter(|file| file.results.iter().any(|result| result.fails(fail_on)));
    let (open, found): (Vec<_>, Vec<_>) = counting.partition(|file| unknown.contains(file.path.as_str()));
    let word = match fail_on {
        FailOn::Never => Word::Excused,
        _ => tally.word(&unknown),
    };
    let is_open = !open.is_empty() || word == Word::Open;
    GateDecision {
        failed: !found.is_empty() || word == Word::Stands,
        undecided: !tally.unreviewed.is_empty() || !tally.doubts.is_empty() || is_open,
    }
}

/// Files of which it is not known what is new.
type Unknown<'t> = BTreeSet<&'t str>;

/// What the platform's own word, a `reviewStatus` of FAILED, is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    /// It was not said, or all that it is about is known or waived.
    Excused,
    /// It is about findings that may be new.
    Open,
    /// It is about findings that count, or nothing says what it is about.
    Stands,
}

impl Tally {
    /// The worst of all batches.
    fn word(&self, unknown: &Unknown<'_>) -> Word {
        if self.failed_without_finding {
            return Word::Stands;
        }
        let words = self
            .failed_batches
            .iter()
            .map(|batch| self.word_of(batch, unknown));
        words.max().unwrap_or(Word::Excused)
    }

    fn word_of(&self, batch: &BTreeSet<String>, unknown: &Unknown<'_>) -> Word {
        let files = self.files.iter().filter(|file| batch.contains(&file.path));
        let of_file = |file: &FileResults| {
            let is_unknown = unknown.contains(file.path.as_str());
            let found = file
                .results
                .iter()
                .filter_map(|result| result.severity().zip(Some(result)));
            found
                .map(|(severity, result)| (severity, worth(result, is_unknown)))
                .collect::<Vec<_>>()
        };
        let found: Vec<(Severity, Word)> = files.flat_map(of_file).collect();
        let worst = found.iter().map(|(severity, _)| *severity).max();
        let causes = found.iter().filter(|(severity, _)| Some(*severity) == worst);
        causes.map(|(_, word)| *word).max().unwrap_or(Word::Stands)
    }
}

/// What the platform's word is worth if it is about this.
fn worth(result: &RuleResult, is_unknown: bool) -> Word {
    match (result.is_old(), is_unknown) {
        (true, _) => Word::Excused,
        (false, true) => Word::Open,
        (false, false) => Word::Stands,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{State, Status, Unreviewed};

    fn tally(status: Status) -> Tally {
        let result = RuleResult::new("r".into(), status, None, vec![]);
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
