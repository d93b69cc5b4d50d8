//! Writes GitLab's Code Quality report: a JSON array, shown in the merge request widget and beside the lines.
//!
//! <https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format>. GitLab reads entry by entry and stops
//! silently at the first incomplete one, so each entry has all keys, and no value is empty. GitLab merges entries with
//! equal fingerprints, so equal findings have different ones.

use super::remark::{Remark, RemarkKind, limits, remarks, verdict_remark};
use super::{About, shorten, write_json};
use serde::Serialize;
use sluicegate_pipelines::findings::{Finding, Fingerprint, Report, Severity};
use std::io::{self, Write};

/// Maximum length of a description, in characters; the widget shows one line.
const DESCRIPTION_LIMIT: usize = 2_000;

#[derive(Serialize)]
struct QualityIssue<'a> {
    description: String,
    check_name: &'a str,
    fingerprint: String,
    severity: &'static str,
    location: IssueLocation<'a>,
}

#[derive(Serialize)]
struct IssueLocation<'a> {
    path: &'a str,
    lines: IssueLines,
}

#[derive(Serialize)]
struct IssueLines {
    begin: u32,
}

/// Writes the report as a Code Quality array: the findings, the unreviewed files, the gate changes, the reason for the
/// verdict if none of these fails the gate, and the notes that limit the verdict. Other notes are not problems in code.
pub(super) fn render(report: &Report, about: &About, out: &mut dyn Write) -> io::Result<()> {
    let findings = report.findings();
    let prints = Fingerprint::for_findings(&findings);
    let mut entries: Vec<QualityIssue<'_>> = findings
        .iter()
        .zip(prints)
        .map(|(finding, print)| entry(about_finding(finding), print))
        .collect();
    let remarks = remarks(report);
    let is_explained = remarks.iter().any(|remark| remark.weighs);
    entries.extend(remarks.into_iter().map(about_remark));
    let verdict = verdict_remark(report, about).filter(|_| !is_explained);
    entries.extend(verdict.into_iter().chain(limits(report, about)).map(about_remark));
    write_json(out, |json| serde_json::to_writer(json, &entries))
}

/// Rule, path, line, severity and description.
type IssueText<'a> = (&'a str, &'a str, u32, &'static str, String);

fn about_finding<'a>(finding: &Finding<'a>) -> IssueText<'a> {
    let severity = match (finding.error_type, finding.severity) {
        (Some(_), _) => "critical",
        (None, Severity::Error) => "major",
        (None, Severity::Warning) => "minor",
    };
    (
        finding.rule,
        finding.path,
        finding.line,
        severity,
        finding.message(),
    )
}

fn about_remark(remark: Remark<'_>) -> QualityIssue<'_> {
    let (rule, severity) = match (remark.kind, remark.weighs) {
        (RemarkKind::Unreviewed, _) => ("unreviewed", "critical"),
        (RemarkKind::GateChange, true) => ("gate-change", "major"),
        (RemarkKind::GateChange, false) => ("gate-change", "info"),
        (RemarkKind::Break, true) => ("breaks-consumers", "major"),
        (RemarkKind::Break, false) => ("breaks-consumers", "minor"),
        (RemarkKind::Verdict, _) => ("verdict", "critical"),
        (RemarkKind::Limit, _) => ("note", "info"),
    };
    let what = (rule, remark.path, remark.line.unwrap_or(1), severity, remark.text);
    entry(what, remark.print)
}

fn entry((rule, path, line, severity, words): IssueText<'_>, print: Fingerprint) -> QualityIssue<'_> {
    QualityIssue {
        description: full(&shorten::to_chars(&words, DESCRIPTION_LIMIT)).to_owned(),
        check_name: full(rule),
        fingerprint: print.to_string(),
        severity,
        location: IssueLocation {
            path: full(path),
            lines: IssueLines { begin: line.max(1) },
        },
    }
}

/// Returns the text, or a placeholder if the text has no visible characters.
fn full(text: &str) -> &str {
    if text.trim().is_empty() { "(no text)" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use crate::schema::hold;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use sluicegate_pipelines::findings::{Status, Verdict};
    use std::collections::HashSet;

    fn read(report: &Report) -> Vec<Value> {
        let written = sample::written(|out| render(report, &About::default(), out));
        assert_eq!(written[0], b'[', "no byte order mark");
        serde_json::from_slice(&written).unwrap()
    }

    /// Returns GitLab's requirements for the entries as a schema.
    fn schema() -> Value {
        let text = json!({ "type": "string", "pattern": "\\S" });
        let severity = json!({ "enum": ["info", "minor", "major", "critical", "blocker"] });
        let lines =
            json!({ "required": ["begin"], "properties": { "begin": { "type": "integer", "minimum": 1 } } });
        json!({ "type": "array", "items": {
            "required": ["description", "check_name", "fingerprint", "severity", "location"],
            "properties": {
                "description": text, "check_name": text, "severity": severity,
                "fingerprint": { "type": "string", "pattern": "^[0-9a-f]{64}$" },
                "location": { "required": ["path", "lines"], "properties": { "path": text, "lines": lines } }
            }
        } })
    }

    #[test]
    fn one_of_everything() {
        let entries = read(&sample::report());
        let line = |e: &Value| {
            let place = &e["location"];
            format!(
                "{} {} {}:{} {}",
                e["severity"], e["check_name"], place["path"], place["lines"]["begin"], e["description"]
            )
        };
        insta::assert_snapshot!(entries.iter().map(line).collect::<Vec<_>>().join("\n"), @r#"
        "minor" "maximum-outputs" "a.tran.yaml":1 "3 outputs"
        "critical" "unused-components" "a.tran.yaml":1 "the rule could not be evaluated: designer/no-start-component"
        "major" "component-naming-convention" "load/it.orch.yaml":12 "`Run A` is not in the pattern"
        "major" "component-naming-convention" "load/it.orch.yaml":9 "`Run B` is not"
        "critical" "unreviewed" "late.orch.yaml":1 "The file was not reviewed: the batch timed out"
        "info" "gate-change" "sluicegate.yaml":1 "This change edits the gate configuration: sluicegate.yaml: exclude: + old.* (relaxed); review.fail-on: error → never (relaxed)"
        "#);
    }

    #[test]
    fn a_passed_review_is_an_empty_array() {
        assert_eq!(
            sample::written(|out| render(&sample::empty(Verdict::Passed), &About::default(), out)),
            b"[]\n"
        );
    }

    proptest! {
        #[test]
        fn every_entry_is_complete_and_unique(raw in "(\\PC|[\\x00-\\x20]|##\\[|##vso\\[|::){0,12}") {
            let twins = vec![sample::violation(&raw, Some(3)), sample::violation(&raw, Some(0))];
            let results = vec![
                sample::result(&raw, Status::Failed(Severity::Error), twins),
                sample::result(&raw, Status::Error(Some(raw.clone())), vec![]),
            ];
            let mut report = sample::report();
            report.files = vec![sample::file(&raw, results)];
            let written = String::from_utf8(sample::written(|out| render(&report, &About::default(), out))).unwrap();
            prop_assert!(!written.contains("##[") && !written.contains("##vso["));
            let read: Value = serde_json::from_str(&written).unwrap();
            prop_assert_eq!(hold(&schema(), &read), Ok(()));
            let entries = read.as_array().unwrap();
            let prints: HashSet<&str> = entries.iter().map(|e| e["fingerprint"].as_str().unwrap()).collect();
            prop_assert_eq!(prints.len(), entries.len());
            prop_assert_eq!(entries[0]["description"].as_str().unwrap(), full(&raw));
        }
    }
}
