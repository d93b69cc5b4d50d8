//! Writes an execution as JUnit: one suite for the environment, one case for the pipeline.

use super::{
    CaseCounts, CaseWithLine, Dialect, JunitReport, MESSAGE_LIMIT, RUN_SUITE, build_suite, junit_document,
    to_offset_time, truncation,
};
use jiff::Timestamp;
use junit_report::{Duration, TestCaseBuilder};
use sluicegate_pipelines::findings::Verdict;
use std::io;

/// An execution of a pipeline, after waiting for its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionRun {
    pub pipeline: String,
    pub environment: String,
    /// The final status of the platform.
    pub status: String,
    /// The message of the platform.
    pub message: Option<String>,
    /// Passed for a success, failed for another final status, undecided if no final status was seen.
    pub verdict: Verdict,
    /// The reason why the execution did not succeed.
    pub problem: Option<String>,
    pub started_at: Timestamp,
    pub duration: std::time::Duration,
}

/// Writes the execution as JUnit XML. An execution that failed is a `failure`; one whose final status is unknown is an
/// `error`. The platform's message about a success becomes the output of the case.
pub fn write_execution_junit(run: &ExecutionRun, writer: &mut dyn io::Write) -> io::Result<()> {
    let name = &run.pipeline;
    let problem = run.problem.as_deref().unwrap_or(&run.status);
    let short_problem = truncation::truncate(problem, MESSAGE_LIMIT);
    let duration = Duration::try_from(run.duration).unwrap_or(Duration::ZERO);
    let mut case = match run.verdict {
        Verdict::Passed => TestCaseBuilder::success(name, duration),
        Verdict::Failed => TestCaseBuilder::failure(name, duration, &run.status, &short_problem),
        Verdict::Undecided => TestCaseBuilder::error(name, duration, &run.status, &short_problem),
    };
    // The text of the case: the output of a success, otherwise the content of its `failure` or `error`.
    match (run.verdict, &run.message) {
        (Verdict::Passed, Some(message)) => {
            case.set_system_out(message);
        }
        (Verdict::Passed, None) => {}
        _ => {
            case.set_trace(problem);
        }
    }
    case.set_classname(&run.environment);
    let case = CaseWithLine {
        case: case.build(),
        line: None,
    };
    let suite = build_suite(&run.environment, to_offset_time(run.started_at), vec![case]);
    let report = JunitReport {
        dialect: Dialect::Hosts,
        name: RUN_SUITE,
        counts: CaseCounts::from_suite(&suite),
        duration: run.duration,
        properties: &[("status", run.status.clone())],
    };
    junit_document::write_document(writer, [suite], &report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn xml(verdict: Verdict, problem: Option<&str>) -> String {
        let run = ExecutionRun {
            pipeline: "sales/load \"orders\"".to_owned(),
            environment: "production".to_owned(),
            status: "FAILED".to_owned(),
            message: Some("ended ]]> at\n::error::x".to_owned()),
            verdict,
            problem: problem.map(str::to_owned),
            started_at: "2026-11-20T09:30:00Z".parse().unwrap(),
            duration: std::time::Duration::from_millis(1500),
        };
        String::from_utf8(sample::write_to_vec(|out| write_execution_junit(&run, out))).unwrap()
    }

    #[test]
    fn execution_is_one_case() {
        for (verdict, element) in [
            (Verdict::Passed, "system-out"),
            (Verdict::Failed, "failure"),
            (Verdict::Undecided, "error"),
        ] {
            let text = xml(verdict, Some("why\u{1b}"));
            let document = roxmltree::Document::parse(&text).unwrap();
            let cases: Vec<_> = document
                .descendants()
                .filter(|node| node.has_tag_name("testcase"))
                .collect();
            assert_eq!(cases.len(), 1);
            assert_eq!(cases[0].attribute("name"), Some("sales/load \"orders\""));
            assert_eq!(cases[0].attribute("classname"), Some("production"));
            assert_eq!(cases[0].attribute("time"), Some("1.5"));
            let inner = cases[0].first_element_child().unwrap();
            assert!(inner.has_tag_name(element), "{text}");
            assert!(
                !text.lines().any(|line| line.trim_start().starts_with("::")),
                "{text}"
            );
        }
    }
}
