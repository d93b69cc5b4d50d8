//! Writes a publish run as JUnit: one suite, `publish`, with a case for the version, one for each smoke run, and
//! one for each change that breaks consumers.

use super::{
    CaseCounts, CaseNames, CasePlace, CaseWithLine, Dialect, JunitReport, MESSAGE_LIMIT, RUN_SUITE,
    build_suite, junit_document, set_case_text, to_offset_time, truncation,
};
use jiff::Timestamp;
use junit_report::{Duration, TestCaseBuilder};
use sluicegate_pipelines::findings::Verdict;
use std::io;

/// The name of the suite.
const SUITE: &str = "publish";

/// The type of the result of a smoke run.
const SMOKE_TYPE: &str = "smoke run";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishRun {
    /// The version and its outcome.
    pub version: String,
    /// Passed if the version is published, undecided if that is unknown.
    pub verdict: Verdict,
    /// The reasons why the run did not succeed, a sentence each.
    pub problems: Vec<String>,
    /// Warnings about the version, a line each.
    pub notes: Vec<String>,
    /// The changes that require action by consumers.
    pub breaks: Vec<PublishBreak>,
    /// The smoke runs of the version.
    pub smoke_runs: Vec<SmokeCase>,
    pub started_at: Timestamp,
    pub duration: std::time::Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishBreak {
    pub name: String,
    /// A description with places and the required action of consumers.
    pub description: String,
    pub location: Option<(String, Option<u32>)>,
    pub is_refused: bool,
    pub accepted_reason: Option<String>,
}

/// A smoke run of the version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmokeCase {
    pub name: String,
    /// `None` if the run did not take place.
    pub verdict: Option<Verdict>,
    /// The result, with the platform's message.
    pub description: String,
    /// The duration of the execution; `None` if it is unknown.
    pub duration: Option<std::time::Duration>,
}

/// Writes the publish run as JUnit XML: a case for the version, one for each smoke run, and one for each change that
/// breaks consumers. The time of the version's case is that of the run without its smoke runs.
pub fn write_publish_junit(run: &PublishRun, writer: &mut dyn io::Write) -> io::Result<()> {
    let mut names = CaseNames::default();
    let mut cases = vec![build_version_case(run, &names.make_unique(&run.version))];
    cases.extend(run.smoke_runs.iter().map(|smoke_run| {
        let name = names.make_unique(&truncation::truncate(&smoke_run.name, MESSAGE_LIMIT));
        build_smoke_case(smoke_run, &name)
    }));
    cases.extend(run.breaks.iter().map(|change| {
        let name = names.make_unique(&truncation::truncate(&change.name, MESSAGE_LIMIT));
        build_break_case(change, &name)
    }));
    let suite = build_suite(SUITE, to_offset_time(run.started_at), cases);
    let sums = CaseCounts::from_suite(&suite);
    let report = JunitReport {
        dialect: Dialect::Hosts,
        name: RUN_SUITE,
        counts: sums,
        duration: run.duration,
        properties: &[("verdict", run.verdict.to_string())],
    };
    junit_document::write_document(writer, [suite], &report)
}

/// Converts a duration to the time of a case. A duration that is too long for JUnit becomes zero.
fn to_case_time(duration: std::time::Duration) -> Duration {
    Duration::try_from(duration).unwrap_or(Duration::ZERO)
}

/// Creates the case of the published version. It is an `error` if the outcome is unknown.
fn build_version_case(run: &PublishRun, name: &str) -> CaseWithLine {
    let problem = run.problems.join("\n");
    let short = truncation::truncate(&problem, MESSAGE_LIMIT);
    let smoke_durations = run.smoke_runs.iter().filter_map(|run| run.duration);
    let time = to_case_time(run.duration.saturating_sub(smoke_durations.sum()));
    let mut case = match run.verdict {
        Verdict::Passed => TestCaseBuilder::success(name, time),
        Verdict::Failed => TestCaseBuilder::failure(name, time, SUITE, &short),
        Verdict::Undecided => TestCaseBuilder::error(name, time, SUITE, &short),
    };
    if !problem.is_empty() {
        case.set_trace(&problem);
    }
    if !run.notes.is_empty() {
        case.set_system_out(&run.notes.join("\n"));
    }
    case.set_classname(SUITE);
    CaseWithLine {
        case: case.build(),
        line: None,
    }
}

/// Creates the case of a smoke run; it is skipped if the run did not take place.
fn build_smoke_case(run: &SmokeCase, name: &str) -> CaseWithLine {
    let short = truncation::truncate(&run.description, MESSAGE_LIMIT);
    let time = to_case_time(run.duration.unwrap_or_default());
    let mut case = match run.verdict {
        Some(Verdict::Passed) => TestCaseBuilder::success(name, time),
        Some(Verdict::Failed) => TestCaseBuilder::failure(name, time, SMOKE_TYPE, &short),
        Some(Verdict::Undecided) => TestCaseBuilder::error(name, time, SMOKE_TYPE, &short),
        None => TestCaseBuilder::skipped_with_cause(name, SMOKE_TYPE, &short),
    };
    if run.verdict == Some(Verdict::Passed) {
        case.set_system_out(&run.description);
    } else {
        set_case_text(&mut case, &run.description);
    }
    case.set_classname(SUITE);
    CaseWithLine {
        case: case.build(),
        line: None,
    }
}

/// Creates the case of a change that breaks consumers: a failure if the change is refused, otherwise a skipped case.
/// Its message is the reason if somebody accepted the change, otherwise the truncated description. Its text is the
/// complete description.
fn build_break_case(change: &PublishBreak, name: &str) -> CaseWithLine {
    let short = truncation::truncate(&change.description, MESSAGE_LIMIT);
    let mut case = match (&change.accepted_reason, change.is_refused) {
        (_, true) => TestCaseBuilder::failure(name, Duration::ZERO, "breaking", &short),
        (Some(reason), false) => {
            let skip_reason = truncation::truncate(&format!("accepted: {reason}"), MESSAGE_LIMIT);
            TestCaseBuilder::skipped_with_cause(name, "breaking", &skip_reason)
        }
        (None, false) => TestCaseBuilder::skipped_with_cause(name, "breaking", &short),
    };
    set_case_text(&mut case, &change.description);
    match &change.location {
        Some((path, line)) => CasePlace::for_run(path, *line).build_case(case),
        None => CasePlace::FOR_RUN.build_case(case),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// Returns a change that breaks consumers, with hostile text.
    fn breaking_change(is_refused: bool, accepted_reason: Option<&str>) -> PublishBreak {
        PublishBreak {
            name: "load: \u{1b} gone".to_owned(),
            description: "a.yaml:3: `load`: ]]> gone\n::error::x".to_owned(),
            location: Some((".platform/shared-pipelines.yaml".to_owned(), Some(3))),
            is_refused,
            accepted_reason: accepted_reason.map(str::to_owned),
        }
    }

    /// Returns the report of a failed publish with every kind of case.
    fn render_failed_publish() -> String {
        let run = PublishRun {
            version: "version 1.0.1 of sales".to_owned(),
            verdict: Verdict::Failed,
            problems: vec!["nothing was sent".to_owned()],
            notes: Vec::new(),
            breaks: vec![
                breaking_change(true, None),
                breaking_change(false, Some("agreed")),
                breaking_change(false, None),
            ],
            smoke_runs: [
                Some(Verdict::Passed),
                Some(Verdict::Failed),
                Some(Verdict::Undecided),
                None,
            ]
            .map(|verdict| SmokeCase {
                name: "smoke run of `load` in `test`".to_owned(),
                verdict,
                description: "ended ]]> \u{1b}\n::error::x".to_owned(),
                duration: verdict.map(|_| std::time::Duration::from_millis(400)),
            })
            .to_vec(),
            started_at: "2026-11-20T09:30:00Z".parse().unwrap(),
            duration: std::time::Duration::from_millis(1500),
        };
        String::from_utf8(sample::write_to_vec(|out| write_publish_junit(&run, out))).unwrap()
    }

    #[test]
    fn junit_of_publish_fails_for_blockers_and_skips_the_rest() {
        let text = render_failed_publish();
        let document = roxmltree::Document::parse(&text).unwrap();
        let suite = document
            .descendants()
            .find(|node| node.has_tag_name("testsuite"))
            .unwrap();
        assert_eq!(suite.attribute("name"), Some("publish"));
        let outcomes: Vec<_> = suite
            .children()
            .filter(|node| node.has_tag_name("testcase"))
            .map(|case| case.first_element_child().unwrap().tag_name().name().to_owned())
            .collect();
        let expected = [
            "failure",
            "system-out",
            "failure",
            "error",
            "skipped",
            "failure",
            "skipped",
            "skipped",
        ];
        assert_eq!(outcomes, expected, "{text}");
        assert!(text.contains("accepted: agreed") && !text.contains('\u{1b}'));
        assert!(
            !text.lines().any(|line| line.trim_start().starts_with("::")),
            "{text}"
        );
    }

    #[test]
    fn smoke_runs_of_publish_have_their_own_times() {
        let text = render_failed_publish();
        let document = roxmltree::Document::parse(&text).unwrap();
        let times: Vec<&str> = document
            .descendants()
            .filter_map(|node| node.attribute("time").filter(|_| node.has_tag_name("testcase")))
            .collect();
        let seconds: Vec<f64> = times.iter().map(|time| time.parse().unwrap()).collect();
        assert_eq!(seconds, [0.3, 0.4, 0.4, 0.4, 0.0, 0.0, 0.0, 0.0], "{text}");
    }

    #[test]
    fn skipped_case_of_publish_has_message_and_complete_description() {
        let text = render_failed_publish();
        let document = roxmltree::Document::parse(&text).unwrap();
        let skipped_cases = document.descendants().filter(|node| node.has_tag_name("skipped"));
        let texts: Vec<_> = skipped_cases
            .map(|node| (node.attribute("message"), node.text().unwrap_or_default()))
            .collect();
        let [smoke_run, accepted_change, other_change] = texts.as_slice() else {
            panic!("{text}");
        };
        assert!(smoke_run.1.contains("ended ]]>"), "{text}");
        assert_eq!(accepted_change.0, Some("accepted: agreed"));
        for (_, description) in [accepted_change, other_change] {
            assert!(description.contains("`load`: ]]> gone"), "{text}");
        }
    }
}
