//! A complete review: the request, the results, and the verdict.

use super::{
    ChangeSummary, FailOn, FileResults, Finding, GateChange, GateFault, RulesFileError, Severity, Status,
    UnreviewedFile, VerdictLimit,
};
use crate::interface::Compatibility;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sluicegate_base::words::words;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Remote,
    Local,
}

words!(Engine { Remote => "remote", Local => "local" });

/// The verdict of the gate, in ascending order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Everything was reviewed, and no finding fails the gate.
    Passed,
    /// Undetermined: a file was not reviewed, or the response could not be read.
    Undecided,
    /// A finding fails the gate, or a rule could not be evaluated.
    Failed,
}

words!(Verdict {
    Passed => "passed",
    Undecided => "undecided",
    Failed => "failed",
});

/// The reviewed commit, and how it was determined.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact in the JSON report")]
pub struct ReviewContext {
    /// The CI host's name, or `none`.
    pub ci: String,
    /// The host's event, or `local`.
    pub event: String,
    /// The branch that the commit belongs to.
    pub branch: Option<String>,
    /// The full id of the reviewed commit; `None` for a working tree.
    pub head: Option<String>,
    /// The full id of the commit that head is compared with; `None` if all pipelines were reviewed.
    pub base: Option<String>,
    /// The other merge-bases after criss-cross merges; usually empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_bases: Vec<String>,
    /// The reviewed shard; `None` if all selected files were reviewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The findings that fail the gate; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<FailOn>,
    /// The files and directories that the selection is limited to, from the repository root; empty if it is not
    /// limited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Maximum number of known findings; `None` if there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_known: Option<usize>,
    /// The older report that defines the known findings; `None` for a review, which compares commits at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<ComparedWith>,
    /// True if only new findings fail the gate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_only: bool,
    /// The globs of the reviewed files, sorted; empty in older reports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// The globs of the files that are not reviewed, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// The full id of the commit that the policy was read from; `None` for the policy of the checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The platform that evaluated the files; `None` for a local engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<ReviewPlatform>,
    /// The rules file that the job named, as typed; `None` if the rules of the reviewed files were evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// True if the job turned all project checks off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub project_checks_off: bool,
    /// True if the job, not the policy, turned the team rules off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub team_rules_off: bool,
    /// The path of the team rules file that the job named instead of that of the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_rules: Option<String>,
    /// True if the team rules file that applies to the run cannot be used, so that not all of its rules were evaluated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub team_rules_unusable: bool,
    /// The path of the file that the job named instead of `sluicegate.yaml`; outside the repository, its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// SHA-256 of this file, in hex, if it is outside the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_sha256: Option<String>,
    /// The platform's hidden directory that the job named instead of that of the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_dir: Option<String>,
}

/// The platform that evaluated a review, and the project on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewPlatform {
    /// The normalized base URL, which has no credentials.
    pub url: String,
    pub project: String,
}

impl fmt::Display for ReviewPlatform {
    /// Writes a phrase with the project and the URL, for messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the project {} on {}", self.project, self.url)
    }
}

/// A report that was used for a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparedWith {
    /// The commit of that report; `None` for a working tree.
    pub head: Option<String>,
}

/// A shard: one part of a review that is split over several jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    /// The number of the shard, from 1.
    pub index: u32,
    /// The number of shards, at least `index`.
    pub total: u32,
}

impl FromStr for Shard {
    type Err = &'static str;

    /// Parses the form `index/total`, such as `1/3`. The error is the expected form.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED_FORM: &str = "expected I/N: two integers, with I from 1 to N";
        let (index, total) = text.trim().split_once('/').ok_or(EXPECTED_FORM)?;
        let parse_number = |text: &str| text.trim().parse::<u32>().map_err(|_| EXPECTED_FORM);
        let (index, total) = (parse_number(index)?, parse_number(total)?);
        if (1..=total).contains(&index) {
            Ok(Self { index, total })
        } else {
            Err(EXPECTED_FORM)
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = &'static str;

    /// Parses a shard of a saved report.
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Shard> for String {
    /// Returns the shard as it is saved in a report.
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl Shard {
    /// Returns whether the file at this path belongs to the shard. A hash of the path determines its shard, so each
    /// file is in exactly one shard, whichever other files are selected.
    pub fn contains(self, path: &str) -> bool {
        let digest = Sha256::digest(path.as_bytes());
        let hash = digest[..8]
            .iter()
            .fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let shard_index = hash % u64::from(self.total.max(1)) + 1;
        shard_index == u64::from(self.index)
    }
}

impl fmt::Display for Shard {
    /// Writes the form `index/total`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.total)
    }
}

/// A file that is intentionally not reviewed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExcludedFile {
    /// The path from the repository root, with `/`.
    pub path: String,
    /// The reason why it is not reviewed.
    pub reason: String,
}

impl ExcludedFile {
    /// The reason why a file is not reviewed whose type is never reviewed.
    pub const UNREVIEWED_TYPE: &str = "not a file that is reviewed";
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultCounts {
    pub files: usize,
    pub passed: usize,
    pub failed: usize,
    pub errors: usize,
    /// The part of `failed` that has the severity warning.
    pub warnings: usize,
    /// Files that are intentionally not reviewed.
    pub excluded: usize,
    /// Files without a result.
    pub unreviewed: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub engine: Engine,
    pub verdict: Verdict,
    pub context: ReviewContext,
    /// The files with results, by path.
    pub files: Vec<FileResults>,
    /// Files that are not reviewed, because of their type or because of include and exclude settings; by path.
    pub excluded_files: Vec<ExcludedFile>,
    /// Files without a result, by path.
    pub unreviewed_files: Vec<UnreviewedFile>,
    /// The changes to the gate configuration, by path.
    pub gate_changes: Vec<GateChange>,
    /// Whether the gate failed because the change edits the gate configuration and other files, which the job forbids.
    pub gate_refused: bool,
    /// The faults of the gate configuration that fail the gate, without duplicates.
    pub gate_faults: Vec<GateFault>,
    /// The first file of the gate configuration that has such a fault, if the reviewed commit has the file.
    pub faulty_gate_file: Option<String>,
    /// True if the platform reported a batch as failed, and no finding of level error explains it.
    pub failed_without_finding: bool,
    /// The files of each batch that the platform reported as failed.
    pub failed_batches: Vec<BTreeSet<String>>,
    /// Whether something is undetermined, regardless of the verdict.
    pub is_open: bool,
    /// The changes in the pipelines, by path; `None` if no comparison was made.
    pub changes: Option<Vec<ChangeSummary>>,
    /// The effects on consumers of shared pipelines; `None` if they were not compared or nothing changed.
    pub compat: Option<Compatibility>,
    /// Further notes, above all the reasons for an undecided verdict; each is a sentence.
    pub notes: Vec<String>,
    /// The notes that explain a verdict other than passed.
    pub reasons: Vec<String>,
    /// The notes that limit the verdict.
    pub limits: Vec<VerdictLimit>,
    /// What to do about the failed requests that leave the verdict open; each is an instruction without a period.
    pub next_steps: Vec<String>,
    /// The instruction that a saved report has for a missing rules file.
    pub missing_rules_hint: Option<String>,
    /// The errors in the rules file that kept pipelines from being evaluated.
    pub rules_file_errors: Vec<RulesFileError>,
    /// The number of findings at the base that no longer exist; `None` without a comparison with the base.
    pub fixed_count: Option<usize>,
    pub started_at: Timestamp,
    pub duration: Duration,
}

impl Report {
    /// Returns a report without files, findings and reasons.
    pub const fn empty(
        engine: Engine,
        verdict: Verdict,
        context: ReviewContext,
        started_at: Timestamp,
    ) -> Self {
        Self {
            engine,
            verdict,
            context,
            files: Vec::new(),
            excluded_files: Vec::new(),
            unreviewed_files: Vec::new(),
            gate_changes: Vec::new(),
            gate_refused: false,
            gate_faults: Vec::new(),
            faulty_gate_file: None,
            failed_without_finding: false,
            failed_batches: Vec::new(),
            is_open: false,
            changes: None,
            compat: None,
            notes: Vec::new(),
            reasons: Vec::new(),
            limits: Vec::new(),
            next_steps: Vec::new(),
            missing_rules_hint: None,
            rules_file_errors: Vec::new(),
            fixed_count: None,
            started_at,
            duration: Duration::ZERO,
        }
    }

    /// Returns the setting that selects which findings fail the gate; the default if it is unknown.
    pub fn fail_on(&self) -> FailOn {
        self.context.fail_on.unwrap_or_default()
    }

    /// Returns the notes that explain why the verdict is not "passed".
    pub fn verdict_reasons(&self) -> impl Iterator<Item = &String> {
        let reasons = self.collect_reasons();
        self.notes
            .iter()
            .filter(move |note| reasons.contains(note.as_str()))
    }

    /// Returns the notes that do not explain the verdict.
    pub fn other_notes(&self) -> impl Iterator<Item = &String> {
        let reasons = self.collect_reasons();
        self.notes
            .iter()
            .filter(move |note| !reasons.contains(note.as_str()))
    }

    /// Returns the texts that explain why the verdict is not "passed": the recorded reasons, and that there are too
    /// many known findings.
    fn collect_reasons(&self) -> BTreeSet<Cow<'_, str>> {
        if self.verdict == Verdict::Passed {
            return BTreeSet::new();
        }
        let recorded_reasons = self.reasons.iter().map(|reason| Cow::Borrowed(reason.as_str()));
        recorded_reasons
            .chain(self.check_known_limit().map(Cow::Owned))
            .collect()
    }

    /// Returns whether the change breaks consumers of shared pipelines, and the settings make that fail the gate.
    pub fn breaks_consumers(&self) -> bool {
        self.compat.as_ref().is_some_and(|compat| compat.refused)
    }

    /// Returns the files that the rules file was applied to.
    pub fn reviewed_files(&self) -> impl Iterator<Item = &FileResults> {
        self.files.iter().filter(|file| file.is_reviewed)
    }

    /// Counts the files, and the results of the rules in the rules file by status. A failed result with the severity
    /// warning is in `failed` and in `warnings`. Results of project checks and of team rules are not counted.
    pub fn count_results(&self) -> ResultCounts {
        let mut counts = ResultCounts {
            files: self.reviewed_files().count(),
            excluded: self.excluded_files.len(),
            unreviewed: self.unreviewed_files.len(),
            ..ResultCounts::default()
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

    /// Returns all findings, in the order of the files and of the results in each file.
    pub fn findings(&self) -> Vec<Finding<'_>> {
        self.files.iter().flat_map(FileResults::findings).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::known_limit::{describe_too_many_known, suggest_lower_known_limit};
    use crate::findings::{FindingState, RuleResult, Violation};
    use crate::interface::{ComparedVersion, Compatibility};

    fn result(status: Status, violations: Vec<Violation>) -> RuleResult {
        RuleResult::new("r".into(), status, None, violations)
    }

    fn report(results: Vec<RuleResult>) -> Report {
        Report {
            files: vec![FileResults {
                path: "a.orch.yaml".into(),
                results,
                is_reviewed: true,
            }],
            excluded_files: vec![ExcludedFile {
                path: "x.txt".into(),
                reason: "r".into(),
            }],
            ..Report::empty(
                Engine::Remote,
                Verdict::Failed,
                ReviewContext::default(),
                Timestamp::UNIX_EPOCH,
            )
        }
    }

    #[test]
    fn note_that_is_a_recorded_reason_explains_the_verdict() {
        let mut report = report(Vec::new());
        report.notes = vec!["the reason".to_owned(), "a note".to_owned()];
        report.reasons = vec!["the reason".to_owned()];
        for max_known in [None, Some(5)] {
            report.context.max_known = max_known;
            assert_eq!(report.verdict_reasons().collect::<Vec<_>>(), ["the reason"]);
            assert_eq!(report.other_notes().collect::<Vec<_>>(), ["a note"]);
        }
        report.verdict = Verdict::Passed;
        assert_eq!(report.verdict_reasons().count(), 0);
    }

    /// The jobs of one review may have different versions of the program.
    #[test]
    fn shard_of_path_is_the_same_in_each_version() {
        for (path, index) in [("sales/load.orch.yaml", 26), ("a.orch.yaml", 693)] {
            assert!(Shard { index, total: 1000 }.contains(path), "{path}");
        }
    }

    #[test]
    fn each_path_is_in_exactly_one_shard() {
        let paths: Vec<String> = (0..500).map(|n| format!("folder {n}/ü{n}.orch.yaml")).collect();
        for total in [1, 2, 3, 7] {
            let mut sizes = Vec::new();
            for path in &paths {
                let holders = (1..=total).filter(|index| Shard { index: *index, total }.contains(path));
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
    fn shard_is_parsed_back_and_other_text_is_rejected() {
        let shard = Shard { index: 2, total: 3 };
        assert_eq!(shard.to_string().parse(), Ok(shard));
        for wrong in ["", "1", "0/3", "4/3", "1/0", "-1/3", "1/2/3", "a/b"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn results_are_counted_by_status_and_severity() {
        let report = report(vec![
            result(Status::Passed, vec![]),
            result(Status::Failed(Severity::Warning), vec![]),
            result(Status::Failed(Severity::Error), vec![]),
            result(Status::Error(Some("designer/x".into())), vec![]),
        ]);
        let expected = ResultCounts {
            files: 1,
            passed: 1,
            failed: 2,
            errors: 1,
            warnings: 1,
            excluded: 1,
            unreviewed: 0,
        };
        assert_eq!(report.count_results(), expected);
    }

    #[test]
    fn failed_rule_without_violations_is_one_finding() {
        let report = report(vec![result(Status::Failed(Severity::Error), vec![])]);
        let findings = report.findings();
        assert_eq!(findings.len(), 1);
        assert_eq!(
            (findings[0].line, findings[0].message().as_str()),
            (1, "the rule is violated")
        );
    }

    #[test]
    fn result_line_is_that_of_first_component() {
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

    /// Returns a report with known findings and a limit for them.
    fn report_with_known_findings(known_count: usize, max_known: usize) -> Report {
        let violations = (0..known_count).map(|number| Violation::new(format!("violation {number}")));
        let mut known_result = result(Status::Failed(Severity::Warning), violations.collect());
        known_result.set_states(vec![Some(FindingState::Known); known_count]);
        let mut report = report(vec![known_result]);
        report.fixed_count = Some(0);
        report.context.max_known = Some(max_known);
        report
    }

    #[test]
    fn limit_of_known_findings_is_reported_above_and_below_it() {
        let too_many = report_with_known_findings(3, 2).check_known_limit();
        assert_eq!(too_many, Some(describe_too_many_known(3, 2)));
        assert_eq!(report_with_known_findings(2, 2).check_known_limit(), None);
        let notes =
            [3, 2, 1].map(|known_count| report_with_known_findings(known_count, 2).known_limit_note());
        let lower_limit = Some(suggest_lower_known_limit(1, 2));
        assert_eq!(notes, [too_many, None, lower_limit]);
    }

    #[test]
    fn note_about_known_limit_is_removed_and_others_stay() {
        let mut report = report_with_known_findings(1, 2);
        report.notes = vec![
            "first".to_owned(),
            suggest_lower_known_limit(1, 2),
            "last".to_owned(),
        ];
        report.remove_known_limit_note();
        assert_eq!(report.notes, ["first", "last"]);
    }

    #[test]
    fn report_breaks_consumers_only_if_break_is_refused() {
        let mut report = report(Vec::new());
        assert!(!report.breaks_consumers());
        let against = ComparedVersion {
            version: Some("1.0.0".to_owned()),
            commit: None,
        };
        let mut compat = Compatibility::new(against, Vec::new());
        report.compat = Some(compat.clone());
        assert!(!report.breaks_consumers());
        compat.refused = true;
        report.compat = Some(compat);
        assert!(report.breaks_consumers());
    }

    #[test]
    fn report_of_missing_shards_is_recognized_by_its_reason() {
        let mut report = report(Vec::new());
        report.reasons = vec!["another reason".to_owned()];
        assert!(!report.has_missing_shards());
        report
            .reasons
            .push("reports of shards are missing: 2/3".to_owned());
        assert!(report.has_missing_shards());
    }
}
