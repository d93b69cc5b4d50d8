//! JUnit XML, as GitLab, Jenkins, Azure and the reporters on GitHub read it: a suite for each file, a case for each
//! rule.
//!
//! - A FAILED rule is a `failure`, whatever it weighs; one that could not be evaluated is an `error` whose type is the
//!   platform's. The texts are the elements' content, since GitLab ignores the `message` attribute
//!   (<https://docs.gitlab.com/ci/testing/unit_test_reports/>).
//! - Excluded files are skipped cases, files without an answer are errors.
//! - What concerns the whole run is in a suite of its own, `sluicegate`: so the document is never all green when the
//!   verdict is not passed. Jenkins fails a build whose reports hold no test at all, so a review of nothing has one
//!   skipped case.
//! - The reviewer tells no time for a single rule: the time of the whole is shared out evenly, so that the sums which
//!   hosts show are true.

mod complete;
mod execution;
mod text;

pub use self::complete::Dialect;
pub use execution::{ExecutionRun, execution_junit};

use self::complete::{Additions, complete};
use self::text::{attribute, content};
use super::wording::{gate_change, has_finding, run_problem, unreviewed};
use super::{About, ReportError, shorten};
use crate::findings::{FileResults, NO_ERROR_TYPE, Report, RuleResult, Status, Verdict};
use jiff::Timestamp;
use junit_report::{
    Duration, OffsetDateTime, TestCase, TestCaseBuilder, TestResult, TestSuite, TestSuiteBuilder,
};
use std::collections::{HashMap, HashSet};

/// The longest `message` attribute, in characters; the content has everything.
const MESSAGE_LIMIT: usize = 200;

/// The name of the suite about the run as a whole.
const RUN: &str = "sluicegate";

/// The report as JUnit XML.
pub fn render(report: &Report, about: &About, dialect: Dialect) -> Result<Vec<u8>, ReportError> {
    let mut suites = suites(report);
    if dialect == Dialect::Strict {
        suites.iter_mut().for_each(tell_skipped);
    }
    share_time(&mut suites, report.elapsed);
    document(suites, report.elapsed, &properties(report, about), dialect)
}

/// The suites as a document, with the sums and properties that hosts show.
fn document(
    suites: Vec<TestSuite>,
    elapsed: std::time::Duration,
    properties: &[(&'static str, String)],
    dialect: Dialect,
) -> Result<Vec<u8>, ReportError> {
    let skipped: Vec<usize> = suites.iter().map(TestSuite::skipped).collect();
    let totals = match dialect {
        Dialect::Hosts => totals(&suites, elapsed).into(),
        Dialect::Strict => Vec::new(),
    };
    let additions = Additions {
        dialect,
        totals: &totals,
        skipped: &skipped,
        properties,
    };
    let mut document = junit_report::Report::new();
    document.add_testsuites(suites);
    let mut xml = Vec::new();
    document.write_xml(&mut xml)?;
    let mut xml = without_commands(&complete(&String::from_utf8_lossy(&xml), &additions)?);
    xml.push('\n');
    Ok(xml.into_bytes())
}

/// Outside the sections, whose text has none, the marks of a host's command can stand only in attributes, where the
/// reference reads the same.
fn without_commands(xml: &str) -> String {
    xml.replace("##[", "#&#35;[").replace("##vso[", "#&#35;vso[")
}

fn suites(report: &Report) -> Vec<TestSuite> {
    let mut suites: Vec<TestSuite> = Vec::new();
    let mut names = Names::default();
    let started = timestamp(report.started_at);
    let mut add = |path: &str, cases: Vec<TestCase>| {
        let mut suite = TestSuiteBuilder::new(&names.unique(path));
        suite.set_timestamp(started).add_testcases(cases);
        suites.push(suite.build());
    };
    let run = run_cases(report);
    if !run.is_empty() {
        add(RUN, run);
    }
    for file in &report.files {
        add(&file.path, cases(file));
    }
    for path in &report.excluded {
        let why = "not a file that is reviewed";
        add(
            path,
            vec![placed(
                TestCaseBuilder::skipped_with_cause("excluded", "excluded", why),
                path,
            )],
        );
    }
    for file in &report.unreviewed {
        add(
            &file.path,
            vec![problem(
                "unreviewed",
                "unreviewed",
                &unreviewed(&file.reason),
                &file.path,
            )],
        );
    }
    suites
}

/// Cases about the run as a whole: why it is no pass where no finding says so, changes to the gate, and a review of
/// nothing.
fn run_cases(report: &Report) -> Vec<TestCase> {
    let mut cases = Vec::new();
    let needed = report.verdict == Verdict::Undecided || !has_finding(report);
    if let Some(why) = run_problem(report).filter(|_| needed) {
        cases.push(problem("verdict", &report.verdict.to_string(), &why, RUN));
    }
    let paths: Vec<&str> = report.gate_changes.iter().map(String::as_str).collect();
    if !paths.is_empty() {
        cases.push(skipped("gate change", &gate_change(&paths.join(", "))));
    }
    let nothing = report.files.iter().all(|file| file.results.is_empty());
    if cases.is_empty() && nothing && report.excluded.is_empty() && report.unreviewed.is_empty() {
        cases.push(skipped("nothing to review", "no rule was to be evaluated"));
    }
    cases
}

/// Turns the skipped cases of a suite, which strict schemas may not know, into words in its output.
fn tell_skipped(suite: &mut TestSuite) {
    let mut words = Vec::new();
    suite.testcases.retain(|case| {
        if let TestResult::SkippedWithCause { message, .. } = &case.result {
            words.push(format!("skipped: {}: {message}", case.name));
        }
        !case.is_skipped()
    });
    suite.set_system_out(&content(&words.join("\n")));
}

fn skipped(name: &str, why: &str) -> TestCase {
    let why = attribute(&shorten::to_chars(why, MESSAGE_LIMIT));
    let mut case = TestCaseBuilder::skipped_with_cause(name, name, &why);
    case.set_classname(RUN);
    case.build()
}

/// An `error` case.
fn problem(name: &str, kind: &str, why: &str, path: &str) -> TestCase {
    let message = attribute(&shorten::to_chars(why, MESSAGE_LIMIT));
    let mut case = TestCaseBuilder::error(name, Duration::ZERO, &attribute(kind), &message);
    case.set_trace(&content(why));
    placed(case, path)
}

/// The case in its file: as class name, by which hosts group, and as `file`, which GitLab links.
fn placed(mut case: TestCaseBuilder, path: &str) -> TestCase {
    let path = attribute(path);
    case.set_classname(&path);
    if path != RUN {
        case.set_filepath(&path);
    }
    case.build()
}

fn cases(file: &FileResults) -> Vec<TestCase> {
    let mut names = Names::default();
    let results = file.results.iter();
    results
        .map(|result| case(result, &names.unique(&result.rule), &file.path))
        .collect()
}

fn case(result: &RuleResult, name: &str, path: &str) -> TestCase {
    let message = attribute(&message(result));
    let case = match &result.status {
        Status::Passed => TestCaseBuilder::success(name, Duration::ZERO),
        Status::Failed(severity) => {
            let mut case = TestCaseBuilder::failure(name, Duration::ZERO, &severity.to_string(), &message);
            case.set_trace(&content(&texts(result, path)));
            case
        }
        Status::Error(error_type) => {
            let mut case = TestCaseBuilder::error(
                name,
                Duration::ZERO,
                &attribute(shown(error_type.as_deref())),
                &message,
            );
            case.set_trace(&content(&texts(result, path)));
            case
        }
    };
    placed(case, path)
}

fn shown(error_type: Option<&str>) -> &str {
    error_type.unwrap_or(NO_ERROR_TYPE)
}

/// The first violation in short, and how many more there are.
fn message(result: &RuleResult) -> String {
    let first = match (&result.status, result.violations.first()) {
        (_, Some(violation)) => violation.text.as_str(),
        (Status::Error(error_type), None) => shown(error_type.as_deref()),
        (_, None) => "the rule does not hold",
    };
    let short = shorten::to_chars(first, MESSAGE_LIMIT);
    match result.violations.len() {
        0 | 1 => short,
        several => format!("{short} (and {} more)", several - 1),
    }
}

/// Everything that the result says, each violation with its place.
fn texts(result: &RuleResult, path: &str) -> String {
    let mut lines = Vec::new();
    if let Status::Error(error_type) = &result.status {
        lines.push(format!(
            "the rule could not be evaluated: {}",
            shown(error_type.as_deref())
        ));
    } else if result.violations.is_empty() {
        lines.push("the rule does not hold".to_owned());
    }
    let violations = result.violations.iter();
    lines.extend(violations.map(|v| format!("{path}:{}: {}", v.line.unwrap_or(1), v.text)));
    lines.join("\n")
}

/// Gives each name once: GitLab takes the first of equal ones and drops the rest.
#[derive(Default)]
struct Names {
    given: HashSet<String>,
    twins: HashMap<String, usize>,
}

impl Names {
    /// The name as an attribute; a further one of the same name gets an ordinal.
    fn unique(&mut self, name: &str) -> String {
        let name = attribute(name);
        let mut unique = name.clone();
        let ordinal = self.twins.entry(name.clone()).or_insert(1);
        while !self.given.insert(unique.clone()) {
            *ordinal += 1;
            unique = format!("{name} ({ordinal})");
        }
        unique
    }
}

fn share_time(suites: &mut [TestSuite], elapsed: std::time::Duration) {
    let cases = suites.iter().map(TestSuite::tests).sum::<usize>().max(1);
    let share = elapsed.as_micros() / cases as u128;
    let share = Duration::microseconds(i64::try_from(share).unwrap_or(i64::MAX));
    suites
        .iter_mut()
        .flat_map(|suite| &mut suite.testcases)
        .for_each(|case| case.time = share);
}

fn totals(suites: &[TestSuite], elapsed: std::time::Duration) -> [(&'static str, String); 5] {
    let sum = |number: fn(&TestSuite) -> usize| suites.iter().map(number).sum::<usize>().to_string();
    [
        ("name", RUN.to_owned()),
        ("tests", sum(TestSuite::tests)),
        ("failures", sum(TestSuite::failures)),
        ("errors", sum(TestSuite::errors)),
        ("time", format!("{:.6}", elapsed.as_secs_f64())),
    ]
}

fn properties(report: &Report, about: &About) -> Vec<(&'static str, String)> {
    let mut properties = vec![
        ("tool", format!("sluicegate {}", about.tool_version)),
        ("engine", report.engine.to_string()),
        ("verdict", report.verdict.to_string()),
    ];
    let context = [
        ("commit", &report.context.head),
        ("branch", &report.context.branch),
    ];
    for (name, value) in context {
        properties.extend(value.as_ref().map(|value| (name, attribute(value))));
    }
    properties
}

/// The start; a clock outside of what JUnit's time form can say counts as 1970.
fn timestamp(started_at: Timestamp) -> OffsetDateTime {
    let started =
        OffsetDateTime::from_unix_timestamp(started_at.as_second()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    if (1970..=9999).contains(&started.year()) {
        started
    } else {
        OffsetDateTime::UNIX_EPOCH
    }
}

#[cfg(test)]
mod tests;
