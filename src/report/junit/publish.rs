//! Writes a publish run as JUnit: one suite, `publish`, with a case for the version and one for each break of
//! consumers.

use super::{
    CaseNames, CasePlace, Dialect, MESSAGE_LIMIT, PlacedCase, RUN, Sums, Whole, share, shorten, suite, timed,
    timestamp, write,
};
use jiff::Timestamp;
use junit_report::{Duration, TestCaseBuilder};
use sluicegate_pipelines::findings::Verdict;
use std::io;

/// The name of the suite.
const SUITE: &str = "publish";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublishRun {
    /// The version and its outcome.
    pub version: String,
    /// Passed if the version is published, undecided if that is unknown.
    pub verdict: Verdict,
    /// The reasons why the run did not succeed, a sentence each.
    pub problems: Vec<String>,
    /// The changes that require action by consumers.
    pub breaks: Vec<PublishBreak>,
    pub started_at: Timestamp,
    pub elapsed: std::time::Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublishBreak {
    pub name: String,
    /// A description with places and the required action of consumers.
    pub words: String,
    pub place: Option<(String, Option<u32>)>,
    pub is_refused: bool,
    pub accepted: Option<String>,
}

/// Writes the publish run as JUnit XML: a problem that stopped it is a `failure`, other breaks are `skipped` with their
/// text.
pub(crate) fn publish_junit(run: &PublishRun, out: &mut dyn io::Write) -> io::Result<()> {
    let mut names = CaseNames::default();
    let mut cases = vec![version(run, &names.unique(&run.version))];
    cases.extend(run.breaks.iter().map(|it| {
        let name = names.unique(&shorten::to_chars(&it.name, MESSAGE_LIMIT));
        broken(it, &name)
    }));
    let suite = suite(SUITE, timestamp(run.started_at), cases);
    let sums = Sums::of(&suite);
    let whole = Whole {
        dialect: Dialect::Hosts,
        name: RUN,
        sums,
        elapsed: run.elapsed,
        properties: &[("verdict", run.verdict.to_string())],
    };
    write::document(out, [timed(suite, share(run.elapsed, sums))], &whole)
}

fn version(run: &PublishRun, name: &str) -> PlacedCase {
    let problem = run.problems.join("\n");
    let short = shorten::to_chars(&problem, MESSAGE_LIMIT);
    let mut case = match run.verdict {
        Verdict::Passed => TestCaseBuilder::success(name, Duration::ZERO),
        Verdict::Failed => TestCaseBuilder::failure(name, Duration::ZERO, SUITE, &short),
        Verdict::Undecided => TestCaseBuilder::error(name, Duration::ZERO, SUITE, &short),
    };
    if !problem.is_empty() {
        case.set_trace(&problem);
    }
    case.set_classname(SUITE);
    (case.build(), None)
}

fn broken(it: &PublishBreak, name: &str) -> PlacedCase {
    let short = shorten::to_chars(&it.words, MESSAGE_LIMIT);
    let mut case = match (&it.accepted, it.is_refused) {
        (_, true) => TestCaseBuilder::failure(name, Duration::ZERO, "breaking", &short),
        (Some(reason), false) => {
            let why = shorten::to_chars(&format!("accepted: {reason}"), MESSAGE_LIMIT);
            TestCaseBuilder::skipped_with_cause(name, "breaking", &why)
        }
        (None, false) => TestCaseBuilder::skipped_with_cause(name, "breaking", &short),
    };
    case.set_trace(&it.words);
    match &it.place {
        Some((path, line)) => CasePlace::of_run(path, *line).put(case),
        None => CasePlace::RUN.put(case),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn junit_of_publish_fails_for_blockers_and_skips_the_rest() {
        let broken = |is_refused, accepted: Option<&str>| PublishBreak {
            name: "load: \u{1b} gone".to_owned(),
            words: "a.yaml:3: `load`: ]]> gone\n::error::x".to_owned(),
            place: Some((".platform/shared-pipelines.yaml".to_owned(), Some(3))),
            is_refused,
            accepted: accepted.map(str::to_owned),
        };
        let run = PublishRun {
            version: "version 1.0.1 of sales".to_owned(),
            verdict: Verdict::Failed,
            problems: vec!["nothing was sent".to_owned()],
            breaks: vec![
                broken(true, None),
                broken(false, Some("agreed")),
                broken(false, None),
            ],
            started_at: "2026-11-20T09:30:00Z".parse().unwrap(),
            elapsed: std::time::Duration::from_millis(1500),
        };
        let text = String::from_utf8(sample::written(|out| publish_junit(&run, out))).unwrap();
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
        assert_eq!(outcomes, ["failure", "failure", "skipped", "skipped"], "{text}");
        assert!(text.contains("accepted: agreed") && !text.contains('\u{1b}'));
        assert!(
            !text.lines().any(|line| line.trim_start().starts_with("::")),
            "{text}"
        );
    }
}
