//! Writes GitLab's Code Quality report: a JSON array, shown in the merge request widget and next to the lines.
//!
//! <https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format>. GitLab reads entry by entry and stops
//! silently at the first incomplete one, so each entry has all keys, and no value is empty. GitLab merges entries with
//! equal fingerprints, so equal findings have different ones.

use super::remarks::{Remark, RemarkKind, collect_limit_remarks, collect_remarks, find_unexplained_verdict};
use super::{ReportContext, truncation, write_json};
use serde::Serialize;
use sluicegate_base::text::escape_controls;
use sluicegate_pipelines::findings::{Finding, Fingerprint, Report, Severity, text_or_placeholder};
use std::io::{self, Write};

/// Maximum length of a description, in characters; the widget shows one line.
const DESCRIPTION_LIMIT: usize = 2_000;

#[derive(Serialize)]
struct QualityIssue<'a> {
    description: String,
    check_name: String,
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

/// Writes the report as a Code Quality array: the findings, the remarks of [`collect_remarks`], the reason for the
/// verdict if neither findings nor remarks explain all of it, and the notes that limit the verdict. Other notes are
/// omitted, because they are not problems in code.
pub(super) fn render(report: &Report, context: &ReportContext, writer: &mut dyn Write) -> io::Result<()> {
    let findings = report.findings();
    let fingerprints = Fingerprint::for_findings(&findings);
    let mut issues: Vec<QualityIssue<'_>> = findings
        .iter()
        .zip(fingerprints)
        .map(|(finding, fingerprint)| build_finding_issue(finding, fingerprint))
        .collect();
    let remarks = collect_remarks(report, context);
    issues.extend(remarks.iter().map(build_remark_issue));
    issues.extend(
        find_unexplained_verdict(report, context)
            .into_iter()
            .chain(collect_limit_remarks(report, context))
            .map(|remark| build_remark_issue(&remark)),
    );
    write_json(writer, |json| serde_json::to_writer(json, &issues))
}

/// Returns a finding as a Code Quality issue. A rule that could not be evaluated is more severe than any finding,
/// unless it is known or waived.
fn build_finding_issue<'a>(finding: &Finding<'a>, fingerprint: Fingerprint) -> QualityIssue<'a> {
    let severity = match (finding.error_type, finding.severity) {
        (Some(_), _) if finding.is_counted() => "critical",
        (_, Severity::Error) => "major",
        (_, Severity::Warning) => "minor",
    };
    QualityIssue {
        description: shorten_description(&finding.message()),
        check_name: text_or_placeholder(&escape_controls(finding.rule)).to_owned(),
        fingerprint: fingerprint.to_string(),
        severity,
        location: IssueLocation::new(finding.path, finding.line),
    }
}

/// Returns a remark as a Code Quality issue, at the first line of the file if the remark has no line.
fn build_remark_issue<'r>(remark: &Remark<'r>) -> QualityIssue<'r> {
    let (check_name, severity) = match (remark.kind, remark.affects_verdict) {
        (RemarkKind::Unreviewed, _) => ("unreviewed", "critical"),
        (RemarkKind::GateChange, true) => ("gate-change", "major"),
        (RemarkKind::GateChange, false) => ("gate-change", "info"),
        (RemarkKind::Break, true) => ("breaks-consumers", "major"),
        (RemarkKind::Break, false) => ("breaks-consumers", "minor"),
        (RemarkKind::Verdict, _) => ("verdict", "critical"),
        (RemarkKind::Limit, _) => ("note", "info"),
    };
    QualityIssue {
        description: shorten_description(&remark.text),
        check_name: check_name.to_owned(),
        fingerprint: remark.fingerprint.to_string(),
        severity,
        location: IssueLocation::new(remark.path, remark.line.unwrap_or(1)),
    }
}

impl<'a> IssueLocation<'a> {
    /// Creates the location of an issue. GitLab requires a path that is not empty and a line number from 1.
    fn new(path: &'a str, line: u32) -> Self {
        Self {
            path: text_or_placeholder(path),
            lines: IssueLines { begin: line.max(1) },
        }
    }
}

/// Truncates a description to its maximum length, and makes control characters visible. A text without visible
/// characters becomes a placeholder, because GitLab stops reading at an empty value.
fn shorten_description(text: &str) -> String {
    let short_text = truncation::escape_controls_and_truncate(text, DESCRIPTION_LIMIT);
    text_or_placeholder(&short_text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use sluicegate_pipelines::findings::{Status, Verdict};
    use sluicegate_test_support::json_schema::validate;
    use std::collections::HashSet;

    fn read(report: &Report) -> Vec<Value> {
        let written = sample::write_to_vec(|out| render(report, &ReportContext::default(), out));
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
    fn passed_review_is_an_empty_array() {
        assert_eq!(
            sample::write_to_vec(|out| render(
                &sample::empty(Verdict::Passed),
                &ReportContext::default(),
                out
            )),
            b"[]\n"
        );
    }

    #[test]
    fn control_character_in_rule_is_visible() {
        let mut report = sample::empty(Verdict::Failed);
        let result = sample::result("r\u{202e}", Status::Failed(Severity::Error), vec![]);
        report.files = vec![sample::file("a", vec![result])];
        assert_eq!(read(&report)[0]["check_name"], "r\\u{202e}");
    }

    proptest! {
        #[test]
        fn every_entry_is_complete_and_unique(raw in "(\\PC|[\\x00-\\x20]|##\\[|##vso\\[|##teamcity\\[|::){0,12}") {
            let twins = vec![sample::violation(&raw, Some(3)), sample::violation(&raw, Some(0))];
            let results = vec![
                sample::result(&raw, Status::Failed(Severity::Error), twins),
                sample::result(&raw, Status::Error(Some(raw.clone())), vec![]),
            ];
            let mut report = sample::report();
            report.files = vec![sample::file(&raw, results)];
            let written = String::from_utf8(sample::write_to_vec(|out| render(&report, &ReportContext::default(), out))).unwrap();
            prop_assert!(!written.contains("##[") && !written.contains("##vso[") && !written.contains("##teamcity["));
            let read: Value = serde_json::from_str(&written).unwrap();
            prop_assert_eq!(validate(&schema(), &read), Ok(()));
            let entries = read.as_array().unwrap();
            let prints: HashSet<&str> = entries.iter().map(|e| e["fingerprint"].as_str().unwrap()).collect();
            prop_assert_eq!(prints.len(), entries.len());
            let description = escape_controls(&sample::shown_message(&raw));
            prop_assert_eq!(entries[0]["description"].as_str().unwrap(), text_or_placeholder(&description));
        }
    }
}
