//! The program's own JSON report, for tools: schema `sluicegate.report/v1`.
//!
//! The structs are frozen for the schema: an internal type may change without a reader noticing. Keys keep their
//! order; new ones come after the old. What follows `notes`, and `severity` and `lines` of a result, are there so that
//! any report can be made again from this one.

mod merge;
mod read;

pub use merge::{MergeError, merge};
pub use read::{ReadError, read};

use super::ReportError;
use crate::findings::{Counts, FileResults, Report, ReviewContext, RuleResult, Status};
use crate::text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema that is written and read.
const SCHEMA: &str = "sluicegate.report/v1";

/// The document.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    engine: String,
    verdict: String,
    context: Context<'a>,
    counts: CountsV1,
    files: Vec<File<'a>>,
    excluded: &'a [String],
    unreviewed: Vec<&'a str>,
    #[serde(rename = "gateChanges")]
    gate_changes: &'a [String],
    notes: &'a [String],
    #[serde(rename = "unreviewedReasons")]
    unreviewed_reasons: BTreeMap<&'a str, &'a str>,
    #[serde(rename = "startedAt")]
    started_at: String,
    #[serde(rename = "elapsedNanos")]
    elapsed_nanos: u64,
}

#[derive(Serialize)]
struct Context<'a> {
    ci: &'a str,
    event: &'a str,
    branch: Option<&'a str>,
    head: Option<&'a str>,
    base: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CountsV1 {
    files: usize,
    passed: usize,
    failed: usize,
    errors: usize,
    warnings: usize,
    excluded: usize,
    unreviewed: usize,
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    results: Vec<RuleV1<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RuleV1<'a> {
    rule: &'a str,
    status: &'static str,
    enforcement: Option<String>,
    error_type: Option<&'a str>,
    violations: Vec<&'a str>,
    line: u32,
    severity: Option<String>,
    lines: Vec<Option<u32>>,
}

/// The report as JSON, indented, with a line break at its end.
pub fn render(report: &Report) -> Result<Vec<u8>, ReportError> {
    let document = Document {
        schema: SCHEMA,
        engine: report.engine.to_string(),
        verdict: report.verdict.to_string(),
        context: context(&report.context),
        counts: counts(report.counts()),
        files: report.files.iter().map(file).collect(),
        excluded: &report.excluded,
        unreviewed: report.unreviewed.iter().map(|file| file.path.as_str()).collect(),
        gate_changes: &report.gate_changes,
        notes: &report.notes,
        unreviewed_reasons: report
            .unreviewed
            .iter()
            .map(|file| (file.path.as_str(), file.reason.as_str()))
            .collect(),
        started_at: report.started_at.to_string(),
        elapsed_nanos: u64::try_from(report.elapsed.as_nanos()).unwrap_or(u64::MAX),
    };
    let mut json = text::json(serde_json::to_string_pretty(&document)?);
    json.push('\n');
    Ok(json.into_bytes())
}

fn context(context: &ReviewContext) -> Context<'_> {
    Context {
        ci: &context.ci,
        event: &context.event,
        branch: context.branch.as_deref(),
        head: context.head.as_deref(),
        base: context.base.as_deref(),
        shard: context.shard.map(|shard| shard.to_string()),
    }
}

const fn counts(counts: Counts) -> CountsV1 {
    CountsV1 {
        files: counts.files,
        passed: counts.passed,
        failed: counts.failed,
        errors: counts.errors,
        warnings: counts.warnings,
        excluded: counts.excluded,
        unreviewed: counts.unreviewed,
    }
}

fn file(file: &FileResults) -> File<'_> {
    File {
        path: &file.path,
        results: file.results.iter().map(rule).collect(),
    }
}

fn rule(result: &RuleResult) -> RuleV1<'_> {
    RuleV1 {
        rule: &result.rule,
        status: result.status.name(),
        enforcement: result.enforcement.map(|level| level.to_string()),
        error_type: match &result.status {
            Status::Error(error_type) => error_type.as_deref(),
            Status::Passed | Status::Failed(_) => None,
        },
        violations: result
            .violations
            .iter()
            .map(|violation| violation.text.as_str())
            .collect(),
        line: result.line(),
        severity: result.severity().map(|severity| severity.to_string()),
        lines: result.violations.iter().map(|violation| violation.line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Severity, Verdict};
    use crate::report::sample;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    #[expect(clippy::too_many_lines, reason = "the whole document is shown")]
    fn the_document_of_the_contract() {
        let json = String::from_utf8(render(&sample::report()).unwrap()).unwrap();
        insta::assert_snapshot!(json, @r#"
        {
          "schema": "sluicegate.report/v1",
          "engine": "remote",
          "verdict": "failed",
          "context": {
            "ci": "github",
            "event": "pull_request",
            "branch": "feature/x",
            "head": "1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f",
            "base": null
          },
          "counts": {
            "files": 2,
            "passed": 1,
            "failed": 2,
            "errors": 1,
            "warnings": 1,
            "excluded": 1,
            "unreviewed": 1
          },
          "files": [
            {
              "path": "a.tran.yaml",
              "results": [
                {
                  "rule": "maximum-outputs",
                  "status": "FAILED",
                  "enforcement": "warn",
                  "errorType": null,
                  "violations": [
                    "3 outputs"
                  ],
                  "line": 1,
                  "severity": "warning",
                  "lines": [
                    null
                  ]
                },
                {
                  "rule": "unused-components",
                  "status": "ERROR",
                  "enforcement": null,
                  "errorType": "designer/no-start-component",
                  "violations": [],
                  "line": 1,
                  "severity": "error",
                  "lines": []
                }
              ]
            },
            {
              "path": "load/it.orch.yaml",
              "results": [
                {
                  "rule": "minimum-components",
                  "status": "PASSED",
                  "enforcement": "warn",
                  "errorType": null,
                  "violations": [],
                  "line": 1,
                  "severity": null,
                  "lines": []
                },
                {
                  "rule": "component-naming-convention",
                  "status": "FAILED",
                  "enforcement": "error",
                  "errorType": null,
                  "violations": [
                    "`Run A` is not in the pattern",
                    "`Run B` is not"
                  ],
                  "line": 9,
                  "severity": "error",
                  "lines": [
                    12,
                    9
                  ]
                }
              ]
            }
          ],
          "excluded": [
            "notes.txt"
          ],
          "unreviewed": [
            "late.orch.yaml"
          ],
          "gateChanges": [
            "sluicegate.yaml"
          ],
          "notes": [],
          "unreviewedReasons": {
            "late.orch.yaml": "the batch timed out"
          },
          "startedAt": "2026-11-20T09:30:00Z",
          "elapsedNanos": 1200000000
        }
        "#);
    }

    #[test]
    fn an_empty_report_has_every_key() {
        let json: Value = serde_json::from_slice(&render(&sample::empty(Verdict::Passed)).unwrap()).unwrap();
        assert_eq!(json["files"], serde_json::json!([]));
        assert_eq!(json["counts"]["files"], 0);
        assert_eq!(json["context"]["base"], Value::Null);
    }

    proptest! {
        #[test]
        fn any_text_reads_back_and_is_no_command(text in "(\\PC|\\PC*|##\\[|##vso\\[|\\\\|[\\x00-\\x1f]|::){0,12}") {
            let mut report = sample::empty(Verdict::Failed);
            let status = Status::Error(Some(text.clone()));
            report.files = vec![sample::file(&text, vec![sample::result(&text, status, vec![sample::violation(&text, None)])])];
            report.notes = vec![text.clone()];
            let written = String::from_utf8(render(&report).unwrap()).unwrap();
            prop_assert!(!written.contains("##[") && !written.contains("##vso["));
            prop_assert!(written.lines().all(|line| !line.trim_start().starts_with("::")));
            let read: Value = serde_json::from_str(&written).unwrap();
            prop_assert_eq!(&read["files"][0]["path"], &text);
            let result = &read["files"][0]["results"][0];
            prop_assert_eq!(&result["rule"], &text);
            prop_assert_eq!(&result["errorType"], &text);
            prop_assert_eq!(&result["violations"][0], &text);
            prop_assert_eq!(&read["notes"][0], &text);
        }
    }

    #[test]
    fn a_warning_is_a_failed_result() {
        let mut report = sample::empty(Verdict::Passed);
        report.files = vec![sample::file(
            "a",
            vec![sample::result("r", Status::Failed(Severity::Warning), vec![])],
        )];
        let json: Value = serde_json::from_slice(&render(&report).unwrap()).unwrap();
        assert_eq!(json["files"][0]["results"][0]["status"], "FAILED");
        assert_eq!(json["files"][0]["results"][0]["enforcement"], "warn");
        assert_eq!(
            (&json["counts"]["failed"], &json["counts"]["warnings"]),
            (&1.into(), &1.into())
        );
    }
}
