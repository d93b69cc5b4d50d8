//! Compares the review of the fix with the review before it: which findings are fixed, left and new.
//!
//! Findings are matched by rule, file and subject, never by line or state: a finding that a waiver allows after the fix
//! is still a new one. A finding is fixed only if its rule was evaluated again.

use super::task_findings::{ReviewFinding, TaskFindings};
use crate::gate::baseline::earlier_findings::{EarlierFindings, MatchRule};
use crate::gate::{Cause, find_report_causes};
use sluicegate_pipelines::findings::{FileResults, Finding, GateFault, Report, RuleResult, Status, Verdict};
use std::collections::BTreeMap;

/// The findings before and after the fix.
#[derive(Debug)]
pub(super) struct FixComparison {
    pub(super) fixed_findings: Vec<ReviewFinding>,
    pub(super) remaining_findings: Vec<ReviewFinding>,
    pub(super) new_findings: Vec<ReviewFinding>,
    /// The reasons why the review of the fix fails, apart from findings.
    pub(super) other_failures: Vec<String>,
    /// The reasons why the review of the fix is undecided; empty if it is not.
    pub(super) doubts: Vec<String>,
    /// The verdict of the review of the fix.
    pub(super) verdict: Verdict,
}

impl FixComparison {
    /// Compares the reports of the same pipelines before and after the fix. `task_findings` are the findings of the
    /// earlier report that the agent was to fix. A finding that the later review could not evaluate again remains.
    pub(super) fn new(earlier_report: &Report, later_report: &Report, task_findings: &TaskFindings) -> Self {
        let later_files = index_files(later_report);
        let mut unmatched_files: BTreeMap<&str, EarlierFindings> = later_files
            .iter()
            .map(|(path, file)| (*path, collect_findings(file)))
            .collect();
        // Of several equal findings, those outside the task are matched first, because they were not to be fixed.
        for finding in task_findings.list_other_findings() {
            if let Some(later_findings) = unmatched_files.get_mut(finding.path) {
                later_findings.take_match(&finding, MatchRule::Any);
            }
        }
        let (mut fixed_findings, mut remaining_findings) = (Vec::new(), Vec::new());
        for finding in task_findings.list_findings() {
            let file = later_files.get(finding.path);
            let is_evaluated = file.is_some_and(|file| is_evaluated(file, &finding, earlier_report));
            let has_match = unmatched_files
                .get_mut(finding.path)
                .is_some_and(|later_findings| later_findings.take_match(&finding, MatchRule::Any));
            if is_evaluated && !has_match {
                fixed_findings.push(ReviewFinding::from(&finding));
            } else {
                remaining_findings.push(ReviewFinding::from(&finding));
            }
        }
        let new_findings = list_new_findings(earlier_report, later_report);
        Self {
            other_failures: list_failures_without_findings(earlier_report, later_report),
            doubts: list_doubts(later_report),
            verdict: later_report.verdict,
            fixed_findings,
            remaining_findings,
            new_findings,
        }
    }

    /// Returns whether the fix can be used: all findings of the task are fixed, and the review found no other problem.
    pub(super) fn is_success(&self) -> bool {
        !self.is_failure() && self.doubts.is_empty()
    }

    /// Returns whether the fix certainly cannot be used: a finding remains or is new, or the review fails for another
    /// reason.
    pub(super) fn is_failure(&self) -> bool {
        !self.remaining_findings.is_empty()
            || !self.new_findings.is_empty()
            || !self.other_failures.is_empty()
    }
}

/// Returns the files of the report, by path.
fn index_files(report: &Report) -> BTreeMap<&str, &FileResults> {
    report
        .files
        .iter()
        .map(|file| (file.path.as_str(), file))
        .collect()
}

/// Returns the findings of the file, to be matched with those of the other report.
fn collect_findings(file: &FileResults) -> EarlierFindings {
    let mut findings = EarlierFindings::default();
    for finding in file.findings() {
        findings.add(&finding);
    }
    findings
}

/// Returns whether the later review could have found the finding again: the file is readable, and the rule was
/// evaluated. If the file has no result of the rule, a rule of the rules file was not evaluated. A team rule or a
/// project check passed, because it has a result only if it failed.
fn is_evaluated(file: &FileResults, finding: &Finding<'_>, earlier_report: &Report) -> bool {
    let is_readable = file.is_reviewed && !file.results.iter().any(|result| result.status.is_unreadable());
    if !is_readable {
        return false;
    }
    let has_rule = |result: &&RuleResult| result.rule == finding.rule;
    if let Some(result) = file.results.iter().find(has_rule) {
        return !matches!(result.status, Status::Error(_));
    }
    let mut earlier_results = earlier_report.files.iter().flat_map(|file| &file.results);
    let is_from_rules_file =
        earlier_results.any(|result| has_rule(&result) && result.origin.is_from_rules_file());
    !is_from_rules_file
}

/// Returns the findings after the fix that match no earlier finding. A finding whose size became worse matches none.
fn list_new_findings(earlier_report: &Report, later_report: &Report) -> Vec<ReviewFinding> {
    let earlier_files = index_files(earlier_report);
    let mut new_findings = Vec::new();
    for file in &later_report.files {
        let mut earlier_findings = earlier_files
            .get(file.path.as_str())
            .map(|file| collect_findings(file))
            .unwrap_or_default();
        let findings = file.findings();
        let unmatched_findings = findings
            .iter()
            .filter(|finding| !earlier_findings.take_match(finding, MatchRule::NotWorse));
        new_findings.extend(unmatched_findings.map(ReviewFinding::from));
    }
    new_findings
}

/// Returns the reasons other than findings for which the review of the fix fails: for example, the fix breaks
/// consumers, or the verdict is failed without an explanation. A cause that the earlier report has, too, is ignored,
/// because the agent does not have to repair it.
fn list_failures_without_findings(earlier_report: &Report, later_report: &Report) -> Vec<String> {
    let (earlier_causes, later_causes) = (
        find_report_causes(earlier_report),
        find_report_causes(later_report),
    );
    let mut failures = Vec::new();
    for cause in [
        Cause::BreakingChange,
        Cause::GateChange,
        Cause::GateFault(GateFault::UnusableFile),
        Cause::GateFault(GateFault::FailedExample),
        Cause::TooManyKnown,
    ] {
        if later_causes.contains(&cause) && !earlier_causes.contains(&cause) {
            failures.push(match cause {
                Cause::BreakingChange => "the fix breaks consumers of shared pipelines".to_owned(),
                _ => cause.reason().to_owned(),
            });
        }
    }
    let is_unexplained = later_report.verdict == Verdict::Failed
        && !later_causes
            .iter()
            .any(|cause| *cause != Cause::PlatformFailure && cause.verdict() == Verdict::Failed);
    // The report sets `failed_without_finding` if no finding explains one of the platform's batches. Findings in files
    // of other batches do not change that.
    if failures.is_empty() && (later_report.failed_without_finding || is_unexplained) {
        failures.push("the fix did not pass its review, but no finding explains why".to_owned());
    }
    failures
}

/// Returns the reasons why the review of the fix is undecided; empty if the review is complete and has a verdict.
fn list_doubts(later_report: &Report) -> Vec<String> {
    let is_complete = !later_report.is_open && later_report.unreviewed_files.is_empty();
    if is_complete && later_report.verdict != Verdict::Undecided {
        return Vec::new();
    }
    let mut doubts: Vec<String> = later_report.verdict_reasons().cloned().collect();
    doubts.extend(
        later_report
            .unreviewed_files
            .iter()
            .map(|file| format!("{}: {}", file.path, file.reason)),
    );
    if doubts.is_empty() {
        doubts.push("the review of the fix is incomplete".to_owned());
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_pipelines::findings::{FindingState, Origin, Severity, Violation};
    use sluicegate_test_support::sample_report::{empty, file, result, violation};

    const PATH: &str = "a.orch.yaml";
    const FAILED: Status = Status::Failed(Severity::Error);

    fn report(verdict: Verdict, results: Vec<RuleResult>) -> Report {
        let mut report = empty(verdict);
        report.files = vec![file(PATH, results)];
        report
    }

    fn failed(texts: &[&str]) -> RuleResult {
        result(
            "r",
            FAILED,
            texts.iter().map(|text| violation(text, None)).collect(),
        )
    }

    fn passed() -> RuleResult {
        result("r", Status::Passed, vec![])
    }

    /// Compares the reports, and returns the number of fixed, left and new findings.
    fn compare(before: &Report, after: &Report) -> (FixComparison, [usize; 3]) {
        let task_findings = TaskFindings::from_report(before, &[]);
        let comparison = FixComparison::new(before, after, &task_findings);
        let counts = [
            &comparison.fixed_findings,
            &comparison.remaining_findings,
            &comparison.new_findings,
        ]
        .map(Vec::len);
        (comparison, counts)
    }

    #[test]
    fn findings_are_matched_by_subject() {
        let before = report(Verdict::Failed, vec![failed(&["x", "y", "y"])]);
        for (texts, counts) in [
            (&["y"][..], [2, 1, 0]),
            (&["x", "y", "y"], [0, 3, 0]),
            (&["z"], [3, 0, 1]),
            (&["y", "y", "y"], [1, 2, 1]),
        ] {
            let after = report(Verdict::Failed, vec![failed(texts)]);
            assert_eq!(compare(&before, &after).1, counts, "{texts:?}");
        }
        let (comparison, counts) = compare(&before, &report(Verdict::Passed, vec![passed()]));
        assert_eq!(counts, [3, 0, 0]);
        assert!(comparison.is_success());
    }

    #[test]
    fn finding_of_a_rule_without_a_result_is_left() {
        let before = report(Verdict::Failed, vec![failed(&["x"])]);
        let unevaluated = result("r", Status::Error(None), vec![]);
        let unreadable = Status::Error(Some("designer/document-parse-error".to_owned()));
        for results in [
            vec![result("other", Status::Passed, vec![])],
            vec![unevaluated],
            vec![result("r", unreadable, vec![])],
        ] {
            let (comparison, counts) = compare(&before, &report(Verdict::Passed, results));
            assert_eq!(counts[..2], [0, 1]);
            assert!(comparison.is_failure());
        }
        assert_eq!(compare(&before, &empty(Verdict::Passed)).1, [0, 1, 0]);
    }

    #[test]
    fn waived_finding_and_worse_size_are_new() {
        let before = report(Verdict::Failed, vec![failed(&["x"])]);
        let mut waived = failed(&["z"]);
        waived.set_states([Some(FindingState::Waived)]);
        assert_eq!(
            compare(&before, &report(Verdict::Passed, vec![waived])).1,
            [1, 0, 1]
        );
        let counted = |size| {
            let violation = Violation {
                size: Some(size),
                ..violation("too many", None)
            };
            report(
                Verdict::Failed,
                vec![result("maximum-components", FAILED, vec![violation])],
            )
        };
        assert_eq!(compare(&counted(20), &counted(25)).1, [0, 1, 1]);
        assert_eq!(compare(&counted(20), &counted(15)).1, [0, 1, 0]);
    }

    /// Returns the report of a reference that is broken, or only ambiguous if `is_minor`.
    fn broken_references(minor_flags: &[bool], severity: Severity) -> Report {
        let violations = minor_flags.iter().map(|is_minor| Violation {
            about: Some("Call".to_owned()),
            is_minor: *is_minor,
            ..violation("words", None)
        });
        let results = vec![RuleResult {
            origin: Origin::Project,
            ..result("project/call", Status::Failed(severity), violations.collect())
        }];
        report(Verdict::Failed, results)
    }

    /// The comparison decides as that with the base does.
    #[test]
    fn finding_whose_severity_or_size_got_worse_is_new_in_any_order() {
        use Severity::{Error, Warning};
        let warning = broken_references(&[false], Warning);
        let error = broken_references(&[false], Error);
        assert_eq!(compare(&warning, &error).1[2], 1);
        assert_eq!(compare(&error, &warning).1[2], 0);
        for flags in [[true, false], [false, true]] {
            let before = broken_references(&[false, true], Error);
            assert_eq!(
                compare(&before, &broken_references(&flags, Error)).1[2],
                0,
                "{flags:?}"
            );
        }
        let counted = |size| {
            let violation = Violation {
                size,
                ..violation("many", None)
            };
            report(
                Verdict::Failed,
                vec![result("maximum-components", FAILED, vec![violation])],
            )
        };
        assert_eq!(compare(&counted(Some(20)), &counted(None)).1[2], 1);
    }

    #[test]
    fn reference_that_fix_breaks_is_new() {
        let call = |is_minor| broken_references(&[is_minor], Severity::Error);
        assert_eq!(compare(&call(true), &call(false)).1, [0, 1, 1]);
        assert_eq!(compare(&call(false), &call(true)).1, [0, 1, 0]);
    }

    #[test]
    fn cause_from_before_the_fix_is_no_failure_of_the_fix() {
        let mut before = report(Verdict::Failed, vec![failed(&["x"])]);
        let warning = result("w", Status::Failed(Severity::Warning), vec![violation("y", None)]);
        for results in [vec![passed()], vec![passed(), warning]] {
            before.files = vec![file(PATH, [vec![failed(&["x"])], results[1..].to_vec()].concat())];
            let mut after = report(Verdict::Failed, results);
            after.gate_refused = true;
            before.gate_refused = true;
            assert!(compare(&before, &after).0.is_success());
            // A warning does not explain a failed review.
            after.gate_refused = false;
            assert!(compare(&before, &after).0.is_failure());
        }
    }

    #[test]
    fn failure_without_finding_and_open_review_are_no_success() {
        let before = report(Verdict::Failed, vec![failed(&["x"])]);
        let (comparison, _) = compare(&before, &report(Verdict::Failed, vec![passed()]));
        assert!(comparison.is_failure() && comparison.other_failures.len() == 1);
        let (comparison, _) = compare(&before, &report(Verdict::Undecided, vec![passed()]));
        assert!(!comparison.is_failure() && !comparison.is_success());
    }
}
