//! Derives the causes of the verdict from the findings.

use super::verdict::of_results;
use super::{Cause, Tally};
use crate::model::findings::{FailOn, FileResults, RuleResult, Severity};
use std::collections::BTreeSet;

/// Returns the causes of the verdict. With `--fail-on never`, unreviewed files and doubts are still causes.
pub(crate) fn decide(tally: &Tally, fail_on: FailOn) -> Vec<Cause> {
    let unknown = tally.compared.iter().flat_map(|compared| &compared.unknown);
    let unknown: Unknown<'_> = unknown.map(|(path, _)| path.as_str()).collect();
    let word = match fail_on {
        FailOn::Never => Word::Excused,
        _ => tally.word(&unknown),
    };
    let mut causes = of_results(tally.all_files(), fail_on, tally.compared.is_some());
    causes.extend(match word {
        Word::Excused => None,
        Word::Open => Some(Cause::Doubt),
        Word::Stands => Some(Cause::PlatformWord),
    });
    causes.extend((!tally.unreviewed.is_empty()).then_some(Cause::Unreviewed));
    causes.extend((!tally.doubts.is_empty()).then_some(Cause::Doubt));
    causes
}

/// Files for which it is unknown which findings are new.
type Unknown<'t> = BTreeSet<&'t str>;

/// The effect of the platform's own `reviewStatus` FAILED on the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    /// The platform did not report FAILED, or all findings that explain it are known or waived.
    Excused,
    /// Findings that may be new explain it.
    Open,
    /// New findings explain it, or no finding does.
    Stands,
}

impl Tally {
    /// Returns the strongest effect of all batches.
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

/// Returns the effect of the platform's status if this result explains it.
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
    use crate::gate::verdict;
    use crate::model::findings::{State, Status, Unreviewed, Verdict};

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
        for (status, limit, expected) in cases {
            assert_eq!(
                verdict(&decide(&tally(status.clone()), limit)),
                expected,
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
        assert_eq!(verdict(&decide(&open, FailOn::Never)), Verdict::Undecided);
        let doubtful = Tally {
            doubts: vec!["?".into()],
            ..Tally::default()
        };
        assert_eq!(verdict(&decide(&doubtful, FailOn::Error)), Verdict::Undecided);
    }

    #[test]
    fn the_platforms_word_fails_the_gate() {
        let failed = |status| Tally {
            failed_batches: vec![BTreeSet::from(["a".to_owned()])],
            ..tally(status)
        };
        let nothing = failed(Status::Passed);
        assert_eq!(verdict(&decide(&nothing, FailOn::Error)), Verdict::Failed);
        assert_eq!(verdict(&decide(&nothing, FailOn::Never)), Verdict::Passed);
        for severity in [Severity::Error, Severity::Warning] {
            let mut found = failed(Status::Failed(severity));
            assert_eq!(verdict(&decide(&found, FailOn::Error)), Verdict::Failed);
            found.files[0].results[0].states = vec![Some(State::Waived)];
            assert_eq!(verdict(&decide(&found, FailOn::Error)), Verdict::Passed);
        }
    }
}
