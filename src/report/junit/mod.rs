//! Writes JUnit XML for GitLab, Jenkins, Azure and the reporters on GitHub: a suite for each file, a case for each
//! rule, in the order of the findings.
//!
//! - GitLab's merge request widget shows only the name of a case, so the name contains the pipeline and the rule.
//!   Jenkins
//!   uses the part of `classname` after the last dot as the class, and the part before it as the package.
//! - A FAILED rule that fails the gate is a `failure`; a rule below the limit, known or waived is `skipped`, with its
//!   text
//!   and the reason. A rule that could not be evaluated is an `error` with the platform's type. So a passed gate never
//!   makes a test report red, and a failed one always does. The texts are the elements' content, since GitLab ignores
//!   the `message` attribute (<https://docs.gitlab.com/ci/testing/unit_test_reports/>).
//! - A problem that prevents the evaluation of all rules of a file is one case.
//! - Excluded files are skipped cases, unreviewed files are errors.
//! - Cases about the entire run are in a separate suite, `sluicegate`, so that the document is never all green if the
//!   verdict is not passed. Jenkins fails a build whose reports contain no test, so a review without files has one
//!   skipped case.
//! - There are no times for single rules: the total time is divided evenly among the cases, so that the sums that hosts
//!   show are correct.

mod count;
mod execution;
mod labels;
mod publish;
mod text;
mod words;
mod write;

pub(super) use self::write::Dialect;
pub(crate) use execution::{ExecutionRun, execution_junit};
pub(crate) use publish::{PublishBreak, PublishRun, publish_junit};

use self::count::{CaseOutcome, sums};
use self::labels::{Labels, classname};
use self::words::{error_type, line, message, texts, why_skipped};
use self::write::{Suite, Sums, Whole};
use super::view::Order;
use super::wording::{gate_change, run_problem, unreviewed};
use super::{About, shorten};
use jiff::Timestamp;
use junit_report::{Duration, OffsetDateTime, TestCase, TestCaseBuilder, TestResult, TestSuiteBuilder};
use sluicegate_pipelines::findings::{
    FailOn, FileResults, Report, RuleResult, Status, UNREADABLE_RULE, Verdict,
};
use sluicegate_pipelines::interface::InterfaceChange;
use std::collections::{HashMap, HashSet};
use std::io;

/// Maximum length of the `message` attribute, in characters; the content has the complete text.
const MESSAGE_LIMIT: usize = 200;

/// The name of the suite about the entire run.
const RUN: &str = "sluicegate";
const VERDICT: &str = "verdict";
const GATE_CHANGE: &str = "gate change";
const NOTE: &str = "note";
const BREAK: &str = "breaks consumers";
const NOTHING: &str = "nothing to review";

/// Writes the report as JUnit XML.
pub(super) fn render(
    report: &Report,
    about: &About,
    dialect: Dialect,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut run = run_cases(report);
    let mut sums = sums(report, &run);
    if dialect == Dialect::Strict {
        sums.tests -= sums.skipped;
        // Some readers require a test: add one if there are only skipped cases.
        if sums.tests == 0 {
            let case = TestCaseBuilder::success(VERDICT, Duration::ZERO);
            run.push(CasePlace::RUN.put(case));
            sums.tests = 1;
        }
    }
    let share = share(report.duration, sums);
    let whole = Whole {
        dialect,
        name: RUN,
        sums,
        elapsed: report.duration,
        properties: &properties(report, about),
    };
    let labels = Labels::of(report);
    let suites = suites(report, about, &labels, run).map(|mut suite| {
        if dialect == Dialect::Strict {
            tell_skipped(&mut suite);
        }
        timed(suite, share)
    });
    write::document(out, suites, &whole)
}

/// A case with its line.
type PlacedCase = (TestCase, Option<u32>);

fn suite(name: &str, started: OffsetDateTime, cases: Vec<PlacedCase>) -> Suite {
    let (cases, lines): (Vec<TestCase>, _) = cases.into_iter().unzip();
    let mut suite = TestSuiteBuilder::new(name);
    suite.set_timestamp(started).add_testcases(cases);
    Suite {
        suite: suite.build(),
        lines,
    }
}

/// Returns the suites. Each is created when it is written, as all together use more memory than the report itself.
fn suites<'r>(
    report: &'r Report,
    about: &'r About,
    labels: &'r Labels<'r>,
    run: Vec<PlacedCase>,
) -> impl Iterator<Item = Suite> {
    let order = Order::of(report, about);
    let mut names = CaseNames::default();
    let started = timestamp(report.started_at);
    let run = Some((RUN, run)).filter(|(_, cases)| !cases.is_empty());
    let files = order.files(report).into_iter();
    let files = files.map(move |file| {
        let label = labels.label(&file.path);
        let cases = cases(file, label, &order.results(file), report.fail_on());
        (file.path.as_str(), cases)
    });
    let excluded = report.excluded_files.iter().map(move |file| {
        let place = CasePlace::new(&file.path, labels.label(&file.path), None);
        let case = skipped(&place.name("excluded"), "excluded", &file.reason);
        (file.path.as_str(), vec![place.put(case)])
    });
    let unreviewed = report.unreviewed_files.iter().map(move |file| {
        let place = CasePlace::new(&file.path, labels.label(&file.path), None);
        let name = place.name("unreviewed");
        let case = problem(&name, "unreviewed", &unreviewed(&file.reason));
        (file.path.as_str(), vec![place.put(case)])
    });
    let all = run.into_iter().chain(files).chain(excluded).chain(unreviewed);
    all.map(move |(path, cases)| suite(&names.unique(path), started, cases))
}

/// Returns the cases about the entire run: the reason why it does not pass if no finding explains it, gate changes,
/// breaks of consumers, a review without rules, and the notes that no other case contains.
fn run_cases(report: &Report) -> Vec<PlacedCase> {
    let mut cases = Vec::new();
    let mut results = report.files.iter().flat_map(|file| &file.results);
    let needed =
        report.verdict == Verdict::Undecided || !results.any(|result| result.fails(report.fail_on()));
    let mut names = CaseNames::default();
    let too_many_known = report.check_known_limit();
    let mut has_reasons = false;
    if let Some(told) = &too_many_known {
        cases.push(CasePlace::RUN.put(problem("known findings", "max-known", told)));
    } else if let Some(why) = run_problem(report).filter(|_| needed) {
        cases.push(CasePlace::RUN.put(problem(VERDICT, &report.verdict.to_string(), &why)));
        has_reasons = true;
    }
    cases.extend(report.gate_changes.iter().map(|change| {
        let (name, said) = (names.unique(GATE_CHANGE), gate_change(change));
        if report.gate_refused {
            CasePlace::of_run(&change.path, None).put(problem(&name, "gate-change", &said))
        } else {
            CasePlace::RUN.put(skipped(&name, GATE_CHANGE, &said))
        }
    }));
    cases.extend(consumers(report, &mut names));
    let nothing = report.files.iter().all(|file| file.results.is_empty());
    if cases.is_empty() && nothing && report.excluded_files.is_empty() && report.unreviewed_files.is_empty() {
        let case = skipped(NOTHING, NOTHING, "there was no rule to evaluate");
        cases.push(CasePlace::RUN.put(case));
    }
    let notes: Vec<&String> = if has_reasons {
        report.other_notes().collect()
    } else {
        report.notes.iter().collect()
    };
    let notes = notes
        .into_iter()
        .filter(|note| too_many_known.as_ref() != Some(note));
    cases.extend(notes.map(|note| CasePlace::RUN.put(skipped(&names.unique(NOTE), NOTE, note))));
    cases
}

fn consumers(report: &Report, names: &mut CaseNames) -> Vec<PlacedCase> {
    let Some(found) = &report.compat else {
        return Vec::new();
    };
    let case = |change: &InterfaceChange| {
        let (name, said) = (names.unique(BREAK), change.describe_fully());
        let (path, line) = change.shown_location();
        if found.refused {
            let mut case = TestCaseBuilder::failure(
                &name,
                Duration::ZERO,
                BREAK,
                &shorten::to_chars(&said, MESSAGE_LIMIT),
            );
            case.set_trace(&said);
            return CasePlace::of_run(path, Some(line)).put(case);
        }
        CasePlace::RUN.put(skipped(&name, BREAK, &said))
    };
    found.breaking_changes().map(case).collect()
}

/// Replaces the skipped cases of a suite, which strict schemas may not allow, by text in its output.
fn tell_skipped(suite: &mut Suite) {
    let mut words = Vec::new();
    suite.suite.testcases.retain(|case| {
        if let TestResult::SkippedWithCause { message, cause, .. } = &case.result {
            words.push(format!(
                "skipped: {}: {}",
                case.name,
                cause.as_ref().unwrap_or(message)
            ));
        }
        !case.is_skipped()
    });
    suite.suite.set_system_out(&words.join("\n"));
}

fn skipped(name: &str, kind: &str, why: &str) -> TestCaseBuilder {
    let short = shorten::to_chars(why, MESSAGE_LIMIT);
    let mut case = TestCaseBuilder::skipped_with_cause(name, kind, &short);
    say(&mut case, why);
    case
}

/// Sets the text of the case. The library does not support this for skipped cases.
fn say(case: &mut TestCaseBuilder, words: &str) {
    if let TestResult::SkippedWithCause { cause, .. } = &mut case.testcase.result {
        *cause = Some(words.to_owned());
    } else {
        case.set_trace(words);
    }
}

/// Returns an `error` case.
fn problem(name: &str, kind: &str, why: &str) -> TestCaseBuilder {
    let message = shorten::to_chars(why, MESSAGE_LIMIT);
    let mut case = TestCaseBuilder::error(name, Duration::ZERO, kind, &message);
    case.set_trace(why);
    case
}

/// The place of a case: a file, which GitLab links, and a class, by which hosts group cases.
#[derive(Clone, Copy)]
struct CasePlace<'p> {
    path: Option<&'p str>,
    label: &'p str,
    /// The line; without it, some readers guess one from the text.
    line: u32,
}

impl<'p> CasePlace<'p> {
    /// The place of cases about the entire run.
    const RUN: CasePlace<'static> = CasePlace {
        path: None,
        label: RUN,
        line: 1,
    };

    fn new(path: &'p str, label: &'p str, line: Option<u32>) -> Self {
        Self {
            path: Some(path),
            label,
            line: line.unwrap_or(1),
        }
    }

    /// Creates the place of a case about the run that names a file.
    fn of_run(path: &'p str, line: Option<u32>) -> Self {
        Self::new(path, path, line)
    }

    /// Returns the name of a case, which includes the label, as readers may not show the class.
    fn name(self, case: &str) -> String {
        format!("{}: {case}", self.label)
    }

    fn put(self, mut case: TestCaseBuilder) -> PlacedCase {
        case.set_classname(&classname(self.label));
        if let Some(path) = self.path {
            case.set_filepath(path);
        }
        (case.build(), self.path.map(|_| self.line))
    }
}

fn cases(file: &FileResults, label: &str, results: &[&RuleResult], fail_on: FailOn) -> Vec<PlacedCase> {
    let mut names = CaseNames::default();
    let one = |result: &&RuleResult| {
        let place = CasePlace::new(&file.path, label, Some(line(result)));
        let findings = result.findings(&file.path);
        let is_unreadable = findings.iter().any(|finding| finding.rule == UNREADABLE_RULE);
        let rule = if is_unreadable {
            UNREADABLE_RULE
        } else {
            &result.rule
        };
        let name = place.name(&names.unique(rule));
        place.put(case(result, &name, &file.path, fail_on))
    };
    results.iter().map(one).collect()
}

fn case(result: &RuleResult, name: &str, path: &str, fail_on: FailOn) -> TestCaseBuilder {
    let message = message(result);
    let (mut case, words) = match (CaseOutcome::of(result, fail_on), &result.status) {
        (_, Status::Passed) => (TestCaseBuilder::success(name, Duration::ZERO), String::new()),
        (CaseOutcome::Skipped, _) => {
            let why = why_skipped(result);
            let kind = match &result.status {
                Status::Error(told) => error_type(told.as_deref()),
                _ => why,
            };
            let case = TestCaseBuilder::skipped_with_cause(name, kind, &format!("{why}: {message}"));
            (case, format!("{why}:\n{}", texts(result, path)))
        }
        (_, Status::Failed(severity)) => {
            let case = TestCaseBuilder::failure(name, Duration::ZERO, &severity.to_string(), &message);
            (case, texts(result, path))
        }
        (_, Status::Error(told)) => {
            let kind = error_type(told.as_deref());
            let case = TestCaseBuilder::error(name, Duration::ZERO, kind, &message);
            (case, texts(result, path))
        }
    };
    if !words.is_empty() {
        say(&mut case, &words);
    }
    case
}

/// Creates unique names: GitLab keeps the first case of a name and drops the others.
#[derive(Default)]
struct CaseNames {
    given: HashSet<String>,
    twins: HashMap<String, usize>,
}

impl CaseNames {
    /// Returns the name, with an ordinal if it was used before.
    fn unique(&mut self, name: &str) -> String {
        let mut unique = name.to_owned();
        let ordinal = self.twins.entry(name.to_owned()).or_insert(1);
        while !self.given.insert(unique.clone()) {
            *ordinal += 1;
            unique = format!("{name} ({ordinal})");
        }
        unique
    }
}

/// Returns the time of each case.
fn share(elapsed: std::time::Duration, sums: Sums) -> Duration {
    let share = elapsed.as_micros() / sums.tests.max(1) as u128;
    Duration::microseconds(i64::try_from(share).unwrap_or(i64::MAX))
}

fn timed(mut suite: Suite, share: Duration) -> Suite {
    for case in &mut suite.suite.testcases {
        case.time = share;
    }
    suite
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
        properties.extend(value.clone().map(|value| (name, value)));
    }
    properties
}

/// Returns the start time; a time that JUnit's format cannot express becomes 1970.
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
