//! Sample reports for the tests of the code that writes, reads and compares reports.

use jiff::Timestamp;
use sluicegate_pipelines::findings::{
    Enforcement, Engine, ExcludedFile, FileResults, Fix, GateChange, Report, ReviewContext, ReviewGap,
    RuleResult, Severity, Status, UnreviewedFile, Verdict, Violation,
};
use std::borrow::Cow;
use std::io;
use std::time::Duration;

/// The characters that end a line.
const LINE_BREAKS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Returns a violation with this text, at this line.
pub fn violation(text: &str, line: Option<u32>) -> Violation {
    Violation {
        line,
        ..Violation::new(text)
    }
}

/// Returns the message of a violation with this text, of a rule that has this text as its name. A name with line breaks
/// is on one line in a message.
pub fn shown_message(text: &str) -> Cow<'_, str> {
    if text.trim().is_empty() {
        Cow::Borrowed("(no text)")
    } else if text.contains(['\n', '\r']) {
        Cow::Owned(text.replace(LINE_BREAKS, " "))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns a fix that was proven for a value in line 9.
pub fn fix() -> Fix {
    Fix {
        old_value: "load".to_owned(),
        new_value: "sales/load".to_owned(),
        start_line: 9,
        start_column: 27,
        end_line: 9,
        end_column: 33,
        text: "'sales/load'".to_owned(),
    }
}

/// Returns the result of a rule, with the level at which the rule has this status.
pub fn result(rule: &str, status: Status, violations: Vec<Violation>) -> RuleResult {
    let enforcement = match status {
        Status::Failed(Severity::Error) => Some(Enforcement::Error),
        Status::Error(_) => None,
        _ => Some(Enforcement::Warn),
    };
    RuleResult::new(rule.to_owned(), status, enforcement, violations)
}

pub fn file(path: &str, results: Vec<RuleResult>) -> FileResults {
    FileResults {
        path: path.to_owned(),
        results,
        is_reviewed: true,
    }
}

/// Returns an excluded file.
pub fn excluded_file(path: &str) -> ExcludedFile {
    ExcludedFile {
        path: path.to_owned(),
        reason: ExcludedFile::UNREVIEWED_TYPE.to_owned(),
    }
}

/// Returns a change to the gate configuration.
pub fn gate_change(path: &str) -> GateChange {
    GateChange {
        path: path.to_owned(),
        descriptions: vec![path.to_owned()],
    }
}

/// Returns a report without files and notes.
pub fn empty(verdict: Verdict) -> Report {
    let context = ReviewContext {
        ci: "github".to_owned(),
        event: "pull_request".to_owned(),
        branch: Some("feature/x".to_owned()),
        head: Some("1f".repeat(20)),
        ..ReviewContext::default()
    };
    let started_at = "2026-11-20T09:30:00Z".parse::<Timestamp>().unwrap();
    Report {
        duration: Duration::from_millis(1_200),
        ..Report::empty(Engine::Remote, verdict, context, started_at)
    }
}

/// Returns a failed report with errors, a warning, an evaluation error, an excluded file, an unreviewed file and a
/// change to the gate configuration.
pub fn report() -> Report {
    let orchestration = file(
        "load/it.orch.yaml",
        vec![
            result("minimum-components", Status::Passed, vec![]),
            result(
                "component-naming-convention",
                Status::Failed(Severity::Error),
                vec![
                    violation("`Run A` is not in the pattern", Some(12)),
                    violation("`Run B` is not", Some(9)),
                ],
            ),
        ],
    );
    let transformation = file(
        "a.tran.yaml",
        vec![
            result(
                "maximum-outputs",
                Status::Failed(Severity::Warning),
                vec![violation("3 outputs", None)],
            ),
            result(
                "unused-components",
                Status::Error(Some("designer/no-start-component".to_owned())),
                vec![],
            ),
        ],
    );
    Report {
        files: vec![transformation, orchestration],
        excluded_files: vec![excluded_file("notes.txt")],
        unreviewed_files: vec![UnreviewedFile {
            path: "late.orch.yaml".to_owned(),
            reason: "the batch timed out".to_owned(),
            next_step: None,
            gap: ReviewGap::Other,
        }],
        gate_changes: vec![GateChange {
            path: "sluicegate.yaml".to_owned(),
            descriptions: vec![
                "exclude: + old.* (relaxed)".to_owned(),
                "review.fail-on: error → never (relaxed)".to_owned(),
            ],
        }],
        ..empty(Verdict::Failed)
    }
}

/// Returns the bytes that `write` writes.
pub fn write_to_vec(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes).unwrap();
    bytes
}
