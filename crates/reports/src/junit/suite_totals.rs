//! Counts the test cases without creating them.

use super::CaseWithLine;
use super::junit_document::CaseCounts;
use junit_report::TestResult;
use sluicegate_pipelines::findings::{FailOn, FileResults, Report, RuleResult, Status};

/// Counts the cases of all suites in advance, because the document starts with the totals. Excluded files are skipped
/// cases, and unreviewed files are errors.
pub(super) fn count_cases(report: &Report, run_cases: &[CaseWithLine]) -> CaseCounts {
    let results = report.files.iter().flat_map(FileResults::distinct_results);
    let file_outcomes = results.map(|result| CaseOutcome::from_result(result, report.fail_on()));
    let run_outcomes = run_cases.iter().map(|entry| match entry.case.result {
        TestResult::Success => CaseOutcome::Passed,
        TestResult::Skipped | TestResult::SkippedWithCause { .. } => CaseOutcome::Skipped,
        TestResult::Error { .. } => CaseOutcome::Error,
        TestResult::Failure { .. } => CaseOutcome::Failure,
    });
    let mut sums = CaseCounts {
        tests: report.excluded_files.len() + report.unreviewed_files.len(),
        skipped_count: report.excluded_files.len(),
        failures: 0,
        errors: report.unreviewed_files.len(),
    };
    for outcome in file_outcomes.chain(run_outcomes) {
        sums.tests += 1;
        match outcome {
            CaseOutcome::Passed => {}
            CaseOutcome::Skipped => sums.skipped_count += 1,
            CaseOutcome::Failure => sums.failures += 1,
            CaseOutcome::Error => sums.errors += 1,
        }
    }
    sums
}

/// The outcome of a test case.
#[derive(Clone, Copy)]
pub(super) enum CaseOutcome {
    Passed,
    Skipped,
    Failure,
    Error,
}

impl CaseOutcome {
    /// Returns the outcome for the result of a rule. A result that does not fail the gate is skipped.
    pub(super) fn from_result(result: &RuleResult, fail_on: FailOn) -> Self {
        match &result.status {
            Status::Passed => Self::Passed,
            _ if !result.fails_gate(fail_on) => Self::Skipped,
            Status::Failed(_) => Self::Failure,
            Status::Error(_) => Self::Error,
        }
    }
}
