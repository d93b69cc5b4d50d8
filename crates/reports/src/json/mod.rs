//! Reads and writes the program's own JSON report, schema `sluicegate.report/v2`.

mod finding_help;
mod report_error;
mod report_reader;
mod schema_v2;

pub use report_reader::parse_json_report;

use super::write_json;
use crate::ReportContext;
use schema_v2::DocumentV2;
use sluicegate_pipelines::findings::Report;
use std::io::{self, Write};

/// Writes the report as indented JSON of the schema `sluicegate.report/v2`, with a final line break.
pub fn render(report: &Report, context: &ReportContext, writer: &mut dyn Write) -> io::Result<()> {
    write_json(writer, |json| {
        serde_json::to_writer_pretty(json, &DocumentV2::from_report(report, context))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use proptest::prelude::*;
    use serde_json::Value;
    use sluicegate_pipelines::findings::{Severity, Status, Verdict};

    #[test]
    #[expect(clippy::too_many_lines, reason = "the whole document is shown")]
    fn document_of_contract() {
        let json = String::from_utf8(sample::write_to_vec(|out| {
            render(&sample::report(), &ReportContext::default(), out)
        }))
        .unwrap();
        insta::assert_snapshot!(json, @r#"
        {
          "schema": "sluicegate.report/v2",
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
                  "origin": "local",
                  "status": "FAILED",
                  "enforcement": "warn",
                  "errorType": null,
                  "severity": "warning",
                  "findings": [
                    {
                      "message": "3 outputs",
                      "state": null,
                      "fingerprint": "3c14df94c6cbf8ed8437b375aef93dc335f83f3b4792ffd2642bd96c31e9f2ff"
                    }
                  ]
                },
                {
                  "rule": "unused-components",
                  "origin": "local",
                  "status": "ERROR",
                  "enforcement": null,
                  "errorType": "designer/no-start-component",
                  "severity": "error",
                  "findings": [
                    {
                      "message": null,
                      "state": null,
                      "fingerprint": "1526f3919c8952c63e58d64fae7ebfb3e7bd8a705da20f15f0fbe4ab0e3108ff"
                    }
                  ],
                  "help": "Add a Start component, and connect it to the first component."
                }
              ]
            },
            {
              "path": "load/it.orch.yaml",
              "results": [
                {
                  "rule": "minimum-components",
                  "origin": "local",
                  "status": "PASSED",
                  "enforcement": "warn",
                  "errorType": null,
                  "severity": null,
                  "findings": []
                },
                {
                  "rule": "component-naming-convention",
                  "origin": "local",
                  "status": "FAILED",
                  "enforcement": "error",
                  "errorType": null,
                  "severity": "error",
                  "findings": [
                    {
                      "message": "`Run A` is not in the pattern",
                      "line": 12,
                      "state": null,
                      "fingerprint": "03ce3a9072ea96b4e6adce6453a2dc778e2459b9404074cdbf7c42654357e317"
                    },
                    {
                      "message": "`Run B` is not",
                      "line": 9,
                      "state": null,
                      "fingerprint": "e34d9de2e7a09848c642c0bcb2be0e42f325a721524bd8d5fa6c18bda277e5d9"
                    }
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
          "elapsedNanos": 1200000000,
          "findings": {
            "errors": 2,
            "warnings": 1,
            "notEvaluated": 1,
            "new": null,
            "known": null,
            "waived": 0,
            "fixed": null
          },
          "gateChangesInWords": {
            "sluicegate.yaml": [
              "exclude: + old.* (relaxed)",
              "review.fail-on: error → never (relaxed)"
            ]
          },
          "excludedReasons": {
            "notes.txt": "not a file that is reviewed"
          },
          "changes": null
        }
        "#);
    }

    #[test]
    fn empty_report_has_every_key() {
        let json: Value = serde_json::from_slice(&sample::write_to_vec(|out| {
            render(&sample::empty(Verdict::Passed), &ReportContext::default(), out)
        }))
        .unwrap();
        assert_eq!(json["files"], serde_json::json!([]));
        assert_eq!(json["counts"]["files"], 0);
        assert_eq!(json["context"]["base"], Value::Null);
    }

    proptest! {
        #[test]
        fn any_text_reads_back_and_is_no_command(text in "(\\PC|\\PC*|##\\[|##vso\\[|##teamcity\\[|\\\\|[\\x00-\\x1f]|::){0,12}") {
            let mut report = sample::empty(Verdict::Failed);
            let status = Status::Error(Some(text.clone()));
            report.files = vec![sample::file(&text, vec![sample::result(&text, status, vec![sample::violation(&text, None)])])];
            report.notes = vec![text.clone()];
            let written = String::from_utf8(sample::write_to_vec(|out| render(&report, &ReportContext::default(), out))).unwrap();
            prop_assert!(!written.contains("##[") && !written.contains("##vso[") && !written.contains("##teamcity["));
            prop_assert!(written.lines().all(|line| !line.trim_start().starts_with("::")));
            let read: Value = serde_json::from_str(&written).unwrap();
            prop_assert_eq!(&read["files"][0]["path"], &text);
            let result = &read["files"][0]["results"][0];
            prop_assert_eq!(&result["rule"], &text);
            prop_assert_eq!(&result["errorType"], &text);
            prop_assert_eq!(&result["findings"][0]["message"], &text);
            prop_assert_eq!(&read["notes"][0], &text);
        }
    }

    #[test]
    fn warning_is_a_failed_result() {
        let mut report = sample::empty(Verdict::Passed);
        report.files = vec![sample::file(
            "a",
            vec![sample::result("r", Status::Failed(Severity::Warning), vec![])],
        )];
        let json: Value = serde_json::from_slice(&sample::write_to_vec(|out| {
            render(&report, &ReportContext::default(), out)
        }))
        .unwrap();
        assert_eq!(json["files"][0]["results"][0]["status"], "FAILED");
        assert_eq!(json["files"][0]["results"][0]["enforcement"], "warn");
        assert_eq!(
            (&json["counts"]["failed"], &json["counts"]["warnings"]),
            (&1.into(), &1.into())
        );
    }
}
