//! The whole of a review: what was asked, what was answered, and what it comes to.

use super::{Changed, FailOn, FileResults, Finding, Severity, Status};
use crate::base::words::words;
use crate::model::interface::Compat;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Remote,
    Local,
}

words!(Engine { Remote => "remote", Local => "local" });

/// What the gate says, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Everything was reviewed, and nothing is at or over the limit.
    Passed,
    /// It is not known: something was not reviewed, or the answer could not be read.
    Undecided,
    /// Something is at or over the limit, or a rule could not be evaluated.
    Failed,
}

words!(Verdict {
    Passed => "passed",
    Undecided => "undecided",
    Failed => "failed",
});

/// Which commit was reviewed, and how it was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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
    /// The other merge-bases, which criss-cross merges leave; mostly empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_bases: Vec<String>,
    /// Which part of the selected files was reviewed; none for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// What failed the gate; none where it is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<FailOn>,
    /// Files and folders that the selection was restricted to, from the repository root; none for no restriction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The most findings that may be known; none for any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_known: Option<usize>,
    /// The older report whose findings are the known ones; none for a review, which compares commits at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<ComparedWith>,
}

/// A report that another one was compared with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparedWith {
    /// The commit that it is of, as it says; none for a working tree.
    pub head: Option<String>,
}

/// One part of a review that is split over several jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    /// From 1.
    pub index: u32,
    /// How many parts there are, at least `index`.
    pub total: u32,
}

impl FromStr for Shard {
    type Err = &'static str;

    /// `index/total`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "a shard is I/N, two whole numbers with I from 1 to N";
        let (index, total) = text.trim().split_once('/').ok_or(FORM)?;
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| FORM);
        let (index, total) = (number(index)?, number(total)?);
        if (1..=total).contains(&index) {
            Ok(Self { index, total })
        } else {
            Err(FORM)
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl Shard {
    /// Whether the path belongs to this part. It depends on nothing but the path, so a file is in exactly one part,
    /// and in the same one whatever else is selected.
    pub fn holds(self, path: &str) -> bool {
        let digest = Sha256::digest(path.as_bytes());
        let spread = digest[..8]
            .iter()
            .fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        spread % u64::from(self.total.max(1)) + 1 == u64::from(self.index)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.total)
    }
}

/// A file that was to be reviewed and was not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreviewed {
    /// The path from the repository root, with `/`.
    pub path: String,
    /// Why there is no result.
    pub reason: String,
}

/// A file that is not reviewed, for a reason that is no fault.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Excluded {
    /// The path from the repository root, with `/`.
    pub path: String,
    /// Why it is not reviewed.
    pub reason: String,
}

/// A changed file of the gate itself: the configuration or the rules file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GateChange {
    /// The path from the repository root, with `/`.
    pub path: String,
    /// What changed in it, a bounded sentence each; empty where that is not told.
    pub words: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    pub files: usize,
    pub passed: usize,
    pub failed: usize,
    pub errors: usize,
    /// Those of `failed` that count as warnings.
    pub warnings: usize,
    /// Files that are not reviewed, for a reason that is no fault.
    pub excluded: usize,
    /// Files without an answer.
    pub unreviewed: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub engine: Engine,
    pub verdict: Verdict,
    pub context: ReviewContext,
    /// The files with results, by path.
    pub files: Vec<FileResults>,
    /// Files that are not reviewed: of a type that the reviewer does not review, or left out by include and exclude;
    /// by path.
    pub excluded: Vec<Excluded>,
    /// Files without an answer, by path.
    pub unreviewed: Vec<Unreviewed>,
    /// What the change does to the gate itself, by path.
    pub gate_changes: Vec<GateChange>,
    /// The gate failed because the change touches the gate and more, which the job does not allow.
    pub gate_refused: bool,
    /// The platform called a batch failed in which nothing was found, so that no finding can excuse it.
    pub failed_without_finding: bool,
    /// Something is not known, whatever the verdict is.
    pub is_open: bool,
    /// What changed in the pipelines, by path; none where nothing was compared.
    pub changes: Option<Vec<Changed>>,
    /// What the change does to consumers of shared pipelines; none where that was not compared, or nothing changed.
    pub compat: Option<Compat>,
    /// What else is to be known, above all why the verdict is undecided; each a sentence.
    pub notes: Vec<String>,
    /// Findings of the base that are gone; none where nothing was compared with the base.
    pub fixed: Option<usize>,
    pub started_at: Timestamp,
    pub elapsed: Duration,
}

impl Report {
    /// What fails the gate; the default where the report does not say.
    pub fn fail_on(&self) -> FailOn {
        self.context.fail_on.unwrap_or_default()
    }

    /// Whether it does to consumers what the job does not allow.
    pub fn breaks_consumers(&self) -> bool {
        self.compat.as_ref().is_some_and(|found| found.refused)
    }

    /// The files that were reviewed.
    pub fn reviewed(&self) -> impl Iterator<Item = &FileResults> {
        self.files.iter().filter(|file| file.is_reviewed())
    }

    pub fn counts(&self) -> Counts {
        let mut counts = Counts {
            files: self.reviewed().count(),
            excluded: self.excluded.len(),
            unreviewed: self.unreviewed.len(),
            ..Counts::default()
        };
        for result in self.files.iter().flat_map(FileResults::rule_results) {
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
    use crate::model::findings::{RuleResult, Violation};

    fn result(status: Status, violations: Vec<Violation>) -> RuleResult {
        RuleResult::new("r".into(), status, None, violations)
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
            excluded: vec![Excluded {
                path: "x.txt".into(),
                reason: "r".into(),
            }],
            unreviewed: Vec::new(),
            gate_changes: Vec::new(),
            gate_refused: false,
            failed_without_finding: false,
            compat: None,
            is_open: false,
            changes: None,
            notes: Vec::new(),
            fixed: None,
            started_at: Timestamp::UNIX_EPOCH,
            elapsed: Duration::ZERO,
        }
    }

    #[test]
    fn shards_together_are_the_whole_each_path_once() {
        let paths: Vec<String> = (0..500).map(|n| format!("folder {n}/ü{n}.orch.yaml")).collect();
        for total in [1, 2, 3, 7] {
            let mut sizes = Vec::new();
            for path in &paths {
                let holders = (1..=total).filter(|index| Shard { index: *index, total }.holds(path));
                sizes.push(holders.clone().next());
                assert_eq!(holders.count(), 1, "{path} of {total}");
            }
            let least = (1..=total)
                .map(|index| sizes.iter().filter(|s| **s == Some(index)).count())
                .min();
            assert!(least.unwrap() > 500 / total as usize / 2, "{total}: {least:?}");
        }
    }

    #[test]
    fn a_shard_reads_back_and_nothing_else_is_one() {
        let shard = Shard { index: 2, total: 3 };
        assert_eq!(shard.to_string().parse(), Ok(shard));
        for wrong in ["", "1", "0/3", "4/3", "1/0", "-1/3", "1/2/3", "a/b"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong:?}");
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
            line,
            ..Violation::new("t")
        };
        let found = result(
            Status::Failed(Severity::Error),
            vec![violation(Some(9)), violation(Some(4)), violation(None)],
        );
        assert_eq!(found.line(), 4);
        assert_eq!(result(Status::Passed, vec![]).line(), 1);
    }
}
