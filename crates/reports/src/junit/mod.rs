//! Writes JUnit XML for GitLab, Jenkins, Azure and the reporters on GitHub: a suite for each file, a case for each
//! rule, in the order of the findings.
//!
//! - GitLab's merge request widget shows only the name of a case, so the name contains the pipeline and the rule.
//!   Jenkins uses the part of `classname` after the last dot as the class, and the part before it as the package.
//! - A FAILED rule that fails the gate is a `failure`; a rule below the limit, known or waived is `skipped`, with its
//!   text and the reason. A rule that could not be evaluated is an `error` with the platform's type. A passed gate
//!   therefore never makes a test report red, and a failed one always does. The texts are the elements' content, since
//!   GitLab ignores the `message` attribute (<https://docs.gitlab.com/ci/testing/unit_test_reports/>).
//! - A problem that prevents the evaluation of all rules of a file is one case.
//! - Excluded files are skipped cases, unreviewed files are errors.
//! - Cases about the entire run are in a separate suite, `sluicegate`, so that the document is never all green if the
//!   verdict is not passed. Jenkins fails a build whose reports contain no test, so a review without files has one
//!   skipped case.
//! - If the cases of the passed checks would make the document too large for the hosts, they are omitted with a note.
//! - There are no times for single rules: the total time is divided evenly among the cases, so that the sums that hosts
//!   show are correct.

mod case_names;
mod case_place;
mod escaped_text;
mod execution_report;
mod junit_document;
mod omitted_cases;
mod path_labels;
mod publish_report;
mod result_text;
mod suite_totals;
mod suites;

pub(super) use escaped_text::escape_attribute;

pub(super) use self::junit_document::Dialect;
pub use execution_report::{ExecutionRun, write_execution_junit};
pub use publish_report::{PublishBreak, PublishRun, SmokeCase, write_publish_junit};

use self::case_names::CaseNames;
use self::case_place::{CasePlace, CaseWithLine};
use self::junit_document::{CaseCounts, JunitReport, Suite};
use self::omitted_cases::{count_omitted_cases, describe_omitted_cases};
use self::path_labels::PathLabels;
use self::result_text::{
    build_full_text, build_short_message, error_type_name, explain_skipped_result, find_first_violation_line,
};
use self::suite_totals::{CaseOutcome, count_cases};
use self::suites::build_suites;
use super::next_step::list_request_steps;
use super::remarks::{RemarkKind, find_verdict_remark};
use super::sentences::{describe_gate_change, format_acceptance};
use super::{ReportContext, truncation};
use jiff::Timestamp;
use junit_report::{Duration, OffsetDateTime, TestCaseBuilder, TestResult, TestSuiteBuilder};
use sluicegate_pipelines::findings::{FailOn, FileResults, Report, RuleResult, Status, UNREADABLE_RULE};
use std::io;

/// Maximum length of the `message` attribute, in characters; the content has the complete text.
const MESSAGE_LIMIT: usize = 200;

/// The name of the suite about the entire run.
const RUN_SUITE: &str = "sluicegate";
const VERDICT_CASE: &str = "verdict";
const GATE_CHANGE_CASE: &str = RemarkKind::GateChange.title();
const NOTE_CASE: &str = "note";
const BREAK_CASE: &str = RemarkKind::Break.title();
const UNREVIEWED_CASE: &str = RemarkKind::Unreviewed.title();
const NOTHING_CASE: &str = "nothing to review";

/// Writes the review as JUnit XML. The document starts with the totals, so all cases are counted before the suites are
/// created. The strict dialect has no skipped cases; their texts become output of their suite.
pub(super) fn render(
    report: &Report,
    context: &ReportContext,
    dialect: Dialect,
    writer: &mut dyn io::Write,
) -> io::Result<()> {
    let omitted_count = count_omitted_cases(report);
    let mut run_cases = build_run_cases(report, context, omitted_count);
    let mut sums = count_cases(report, &run_cases);
    sums.tests -= omitted_count;
    if dialect == Dialect::Strict {
        sums.tests -= sums.skipped_count;
        // Some readers require a test: add one if there are only skipped cases.
        if sums.tests == 0 {
            let case = TestCaseBuilder::success(VERDICT_CASE, Duration::ZERO);
            run_cases.push(CasePlace::FOR_RUN.build_case(case));
            sums.tests = 1;
        }
    }
    let case_time = time_per_case(report.duration, sums);
    let document = JunitReport {
        dialect,
        name: RUN_SUITE,
        counts: sums,
        duration: report.duration,
        properties: &list_run_properties(report, context),
    };
    let labels = PathLabels::from_report(report);
    let suites = build_suites(report, context, &labels, run_cases, omitted_count).map(|mut suite| {
        if dialect == Dialect::Strict {
            replace_skipped_cases(&mut suite);
        }
        set_case_times(suite, case_time)
    });
    junit_document::write_document(writer, suites, &document)
}

/// Creates a suite of cases, and keeps their lines separately, because `junit-report` does not support lines.
fn build_suite(name: &str, started_at: OffsetDateTime, cases: Vec<CaseWithLine>) -> Suite {
    let lines = cases.iter().map(|entry| entry.line).collect();
    let mut suite = TestSuiteBuilder::new(name);
    suite
        .set_timestamp(started_at)
        .add_testcases(cases.into_iter().map(|entry| entry.case));
    Suite {
        suite: suite.build(),
        lines,
    }
}

/// Creates the cases about the entire run. The first one is an error if there are too many known findings. The next one
/// is an error if the gate configuration is faulty, or if the run does not pass and nothing else explains it. Cases
/// follow for changes to the gate configuration, which have a file only if the gate refuses them, for changes that
/// break consumers, for a review that would otherwise have no case except notes, for the notes that no other case
/// contains, for the instructions about failed requests, and for the `omitted_count` passed checks without a case.
fn build_run_cases(report: &Report, context: &ReportContext, omitted_count: usize) -> Vec<CaseWithLine> {
    let mut cases = Vec::new();
    let mut names = CaseNames::default();
    let known_limit_problem = report.check_known_limit();
    if let Some(sentence) = &known_limit_problem {
        cases.push(CasePlace::FOR_RUN.build_case(build_error_case("known findings", "max-known", sentence)));
    }
    // The case of too many known findings explains the verdict, but not a faulty gate configuration.
    let verdict_remark = find_verdict_remark(report, context)
        .filter(|_| known_limit_problem.is_none() || !report.gate_faults.is_empty());
    if let Some(remark) = &verdict_remark {
        cases.push(CasePlace::FOR_RUN.build_case(build_error_case(
            VERDICT_CASE,
            &report.verdict.to_string(),
            &remark.text,
        )));
    }
    cases.extend(build_gate_change_cases(report, &mut names));
    cases.extend(build_consumer_cases(report, &mut names));
    let has_no_results = report.files.iter().all(|file| file.results.is_empty());
    let is_empty_review = cases.is_empty()
        && has_no_results
        && report.excluded_files.is_empty()
        && report.unreviewed_files.is_empty();
    if is_empty_review {
        let case = build_skipped_case(NOTHING_CASE, NOTHING_CASE, "no rule was checked on any pipeline");
        cases.push(CasePlace::FOR_RUN.build_case(case));
    }
    // The verdict case contains the notes that explain the verdict, and the case of known findings contains its note.
    let notes: Vec<&String> = if verdict_remark.is_some() {
        report.other_notes().collect()
    } else {
        report.notes.iter().collect()
    };
    let remaining_notes = notes
        .into_iter()
        .filter(|note| known_limit_problem.as_ref() != Some(note));
    let instructions = list_request_steps(report)
        .iter()
        .map(|step| format!("To do: {step}"));
    let run_notes = remaining_notes.cloned().chain(instructions);
    cases.extend(
        run_notes
            .chain(describe_omitted_cases(omitted_count))
            .map(|note| {
                CasePlace::FOR_RUN.build_case(build_skipped_case(
                    &names.make_unique(NOTE_CASE),
                    NOTE_CASE,
                    &note,
                ))
            }),
    );
    cases
}

/// Creates a case for each change to the gate configuration: an error at the changed file if the gate refuses such
/// changes, otherwise a skipped case without a file.
fn build_gate_change_cases(report: &Report, names: &mut CaseNames) -> Vec<CaseWithLine> {
    let mut cases = Vec::new();
    for change in &report.gate_changes {
        let (name, description) = (names.make_unique(GATE_CHANGE_CASE), describe_gate_change(change));
        if report.gate_refused {
            let unknown_line = None;
            let case = build_error_case(&name, "gate-change", &description);
            cases.push(CasePlace::for_run(&change.path, unknown_line).build_case(case));
        } else {
            let case = build_skipped_case(&name, GATE_CHANGE_CASE, &description);
            cases.push(CasePlace::FOR_RUN.build_case(case));
        }
    }
    cases
}

/// Creates a case for each change that breaks consumers: a failure at the place of the change if the gate refuses such
/// changes, otherwise a skipped case without a file.
fn build_consumer_cases(report: &Report, names: &mut CaseNames) -> Vec<CaseWithLine> {
    let Some(compat) = &report.compat else {
        return Vec::new();
    };
    let acceptance = format_acceptance(compat);
    let mut cases = Vec::new();
    for change in compat.breaking_changes() {
        let name = names.make_unique(BREAK_CASE);
        let description = format!("{}{acceptance}", change.describe_fully());
        if compat.refused {
            let (path, line) = change.shown_location();
            let mut case = TestCaseBuilder::failure(
                &name,
                Duration::ZERO,
                BREAK_CASE,
                &truncation::truncate(&description, MESSAGE_LIMIT),
            );
            case.set_trace(&description);
            cases.push(CasePlace::for_run(path, line).build_case(case));
        } else {
            cases.push(CasePlace::FOR_RUN.build_case(build_skipped_case(&name, BREAK_CASE, &description)));
        }
    }
    cases
}

/// Removes the skipped cases of a suite, because old strict schemas do not have them, and puts their texts into the
/// suite's output. The line numbers in `suite.lines` are not removed: the strict dialect does not write them.
fn replace_skipped_cases(suite: &mut Suite) {
    let mut descriptions = Vec::new();
    suite.suite.testcases.retain(|case| {
        if let TestResult::SkippedWithCause { message, cause, .. } = &case.result {
            descriptions.push(format!(
                "skipped: {}: {}",
                case.name,
                cause.as_ref().unwrap_or(message)
            ));
        }
        !case.is_skipped()
    });
    suite.suite.set_system_out(&descriptions.join("\n"));
}

/// Creates a skipped case with a reason, which is truncated in the attribute `message` and complete in the content.
fn build_skipped_case(name: &str, result_type: &str, reason: &str) -> TestCaseBuilder {
    let short = truncation::truncate(reason, MESSAGE_LIMIT);
    let mut case = TestCaseBuilder::skipped_with_cause(name, result_type, &short);
    set_case_text(&mut case, reason);
    case
}

/// Sets the content of the case's result element. `junit-report` supports this only for failures and errors, so the
/// field of a skipped case is set directly.
fn set_case_text(case: &mut TestCaseBuilder, text: &str) {
    if let TestResult::SkippedWithCause { cause, .. } = &mut case.testcase.result {
        *cause = Some(text.to_owned());
    } else {
        case.set_trace(text);
    }
}

/// Creates a case with an `error` element for a problem that is not a finding of a rule.
fn build_error_case(name: &str, result_type: &str, reason: &str) -> TestCaseBuilder {
    let message = truncation::truncate(reason, MESSAGE_LIMIT);
    let mut case = TestCaseBuilder::error(name, Duration::ZERO, result_type, &message);
    case.set_trace(reason);
    case
}

/// Creates the cases of a file, one for each rule. If the file could not be read, the case has the name for unreadable
/// files instead of the rule's name.
fn build_file_cases(
    file: &FileResults,
    label: &str,
    results: &[&RuleResult],
    fail_on: FailOn,
) -> Vec<CaseWithLine> {
    let mut names = CaseNames::default();
    let mut cases = Vec::new();
    for result in results {
        let place = CasePlace::new(&file.path, label, Some(find_first_violation_line(result)));
        let findings = result.findings(&file.path);
        let is_unreadable = findings.iter().any(|finding| finding.rule == UNREADABLE_RULE);
        let rule = if is_unreadable {
            UNREADABLE_RULE
        } else {
            &result.rule
        };
        let name = place.name_case(&names.make_unique(rule));
        cases.push(place.build_case(build_result_case(result, &name, &file.path, fail_on)));
    }
    cases
}

/// Creates the case of a rule's result: a success, a skipped case if the result does not fail the gate, a failure, or
/// an error if the rule could not be evaluated.
fn build_result_case(result: &RuleResult, name: &str, path: &str, fail_on: FailOn) -> TestCaseBuilder {
    let is_skipped = matches!(CaseOutcome::from_result(result, fail_on), CaseOutcome::Skipped);
    let message = build_short_message(result);
    let (mut case, text) = match &result.status {
        Status::Passed => return TestCaseBuilder::success(name, Duration::ZERO),
        status if is_skipped => {
            let skip_reason = explain_skipped_result(result);
            let result_type = match status {
                Status::Error(error_type) => error_type_name(error_type.as_deref()),
                _ => skip_reason,
            };
            let case =
                TestCaseBuilder::skipped_with_cause(name, result_type, &format!("{skip_reason}: {message}"));
            (case, format!("{skip_reason}:\n{}", build_full_text(result, path)))
        }
        Status::Failed(severity) => {
            let case = TestCaseBuilder::failure(name, Duration::ZERO, &severity.to_string(), &message);
            (case, build_full_text(result, path))
        }
        Status::Error(error_type) => {
            let result_type = error_type_name(error_type.as_deref());
            let case = TestCaseBuilder::error(name, Duration::ZERO, result_type, &message);
            (case, build_full_text(result, path))
        }
    };
    set_case_text(&mut case, &text);
    case
}

/// Divides the duration of the run evenly among its cases, because the times of single rules are unknown.
fn time_per_case(duration: std::time::Duration, sums: CaseCounts) -> Duration {
    let case_micros = duration.as_micros() / sums.tests.max(1) as u128;
    Duration::microseconds(i64::try_from(case_micros).unwrap_or(i64::MAX))
}

/// Sets the time of each case of a suite.
fn set_case_times(mut suite: Suite, case_time: Duration) -> Suite {
    for case in &mut suite.suite.testcases {
        case.time = case_time;
    }
    suite
}

/// Lists facts about the run for the properties of each suite; the commit and the branch only if they are known.
fn list_run_properties(report: &Report, context: &ReportContext) -> Vec<(&'static str, String)> {
    let mut properties = vec![
        ("tool", format!("sluicegate {}", context.tool_version)),
        ("engine", report.engine.to_string()),
        ("verdict", report.verdict.to_string()),
    ];
    let revision = [
        ("commit", &report.context.head),
        ("branch", &report.context.branch),
    ];
    for (name, value) in revision {
        properties.extend(value.clone().map(|value| (name, value)));
    }
    properties
}

/// Converts the start time of a run. A time before 1970 or after 9999 becomes the start of 1970: it cannot be real, and
/// a timestamp in JUnit has four digits for the year.
fn to_offset_time(started_at: Timestamp) -> OffsetDateTime {
    let started_at =
        OffsetDateTime::from_unix_timestamp(started_at.as_second()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    if (1970..=9999).contains(&started_at.year()) {
        started_at
    } else {
        OffsetDateTime::UNIX_EPOCH
    }
}

#[cfg(test)]
mod tests;
