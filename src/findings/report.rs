//! The whole of a review: what was asked, what was answered, and what it comes to.

use super::{FileResults, Finding, Severity, Status};
use jiff::Timestamp;
use std::fmt;
use std::time::Duration;

/// Who evaluated the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// The platform's review endpoint.
    Remote,
    /// This program.
    Local,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Remote => "remote",
            Self::Local => "local",
        })
    }
}

/// What the gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Everything was reviewed, and nothing is at or over the limit.
    Passed,
    /// Something is at or over the limit, or a rule could not be evaluated.
    Failed,
    /// It is not known: something was not reviewed, or the answer could not be read.
    Undecided,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Undecided => "undecided",
        })
    }
}

/// Which commit was reviewed, and how it was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewContext {
    /// The CI host's name, or `none`.
    pub ci: String,
    /// The host's event, or `local`.
    pub event: String,
    /// The branch that the commit belongs to.
    pub branch: Option<String>,
    /// The reviewed commit, in full; none for a working tree.
    pub head: Option<String>,
    /// The commit that was compared with, in full; none where all pipelines were taken.
    pub base: Option<String>,
}

/// A file that was to be reviewed and was not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreviewed {
    /// The path from the repository root, with `/`.
    pub path: String,
    /// Why there is no result.
    pub reason: String,
}

/// The numbers of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files with results.
    pub files: usize,
    /// Rule results with status PASSED.
    pub passed: usize,
    /// Rule results with status FAILED.
    pub failed: usize,
    /// Rule results with status ERROR.
    pub errors: usize,
    /// Those of `failed` that count as warnings.
    pub warnings: usize,
    /// Files that the reviewer does not review.
    pub excluded: usize,
    /// Files without an answer.
    pub unreviewed: usize,
}

/// A review, complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Who evaluated the rules.
    pub engine: Engine,
    /// What the gate says.
    pub verdict: Verdict,
    /// Which commit was reviewed.
    pub context: ReviewContext,
    /// The files with results, by path.
    pub files: Vec<FileResults>,
    /// Files of a type that the reviewer does not review, by path.
    pub excluded: Vec<String>,
    /// Files without an answer, by path.
    pub unreviewed: Vec<Unreviewed>,
    /// Changed files that change the gate itself: the configuration and the rules file.
    pub gate_changes: Vec<String>,
    /// What else is to be known, above all why the verdict is undecided; each a sentence.
    pub notes: Vec<String>,
    /// When the review began.
    pub started_at: Timestamp,
    /// How long it took.
    pub elapsed: Duration,
}

impl Report {
    /// The numbers.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts {
            files: self.files.len(),
            excluded: self.excluded.len(),
            unreviewed: self.unreviewed.len(),
            ..Counts::default()
        };
        for result in self.files.iter().flat_map(|file| &file.results) {
            match &result.status {
                Status::Passed => counts.passed += 1,
                Status::Failed(severity) => {
                    counts.failed += 1;
                    counts.warnings += usize::from(*severity == Severity::Warning);
                }
                Status::Error(_) => counts.errors += 1,
            }
        }
        counts
    }

    /// All findings, by file and in the order of the results.
    pub fn findings(&self) -> Vec<Finding<'_>> {
        self.files.iter().flat_map(FileResults::findings).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{RuleResult, Violation};

    fn result(status: Status, violations: Vec<Violation>) -> RuleResult {
        RuleResult {
            rule: "r".into(),
            status,
            enforcement: None,
            violations,
        }
    }

    fn report(results: Vec<RuleResult>) -> Report {
        Report {
            engine: Engine::Remote,
            verdict: Verdict::Failed,
            context: ReviewContext::default(),
            files: vec![FileResults {
                path: "a.orch.yaml".into(),
                results,
            }],
            excluded: vec!["x.txt".into()],
            unreviewed: Vec::new(),
            gate_changes: Vec::new(),
            notes: Vec::new(),
            started_at: Timestamp::UNIX_EPOCH,
            elapsed: Duration::ZERO,
        }
    }

    #[test]
    fn counts_are_by_status_and_weight() {
        let report = report(vec![
            result(Status::Passed, vec![]),
            result(Status::Failed(Severity::Warning), vec![]),
            result(Status::Failed(Severity::Error), vec![]),
            result(Status::Error(Some("designer/x".into())), vec![]),
        ]);
        let expected = Counts {
            files: 1,
            passed: 1,
            failed: 2,
            errors: 1,
            warnings: 1,
            excluded: 1,
            unreviewed: 0,
        };
        assert_eq!(report.counts(), expected);
    }

    #[test]
    fn a_failed_rule_without_violations_is_still_a_finding() {
        let report = report(vec![result(Status::Failed(Severity::Error), vec![])]);
        let findings = report.findings();
        assert_eq!(findings.len(), 1);
        assert_eq!(
            (findings[0].line, findings[0].message().as_str()),
            (1, "the rule does not hold")
        );
    }

    #[test]
    fn the_line_is_that_of_the_first_concerned_component() {
        let violation = |line| Violation {
            text: "t".into(),
            line,
        };
        let found = result(
            Status::Failed(Severity::Error),
            vec![violation(Some(9)), violation(Some(4)), violation(None)],
        );
        assert_eq!(found.line(), 4);
        assert_eq!(result(Status::Passed, vec![]).line(), 1);
    }
}
