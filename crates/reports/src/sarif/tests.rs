use super::*;
use crate::{RuleText, sample};
use proptest::prelude::*;
use serde_json::{Value, json};
use sluicegate_pipelines::findings::{ReviewGap, Severity, Shard, Status, UnreviewedFile, Waiver};
use sluicegate_test_support::json_schema::validate;
use std::collections::BTreeSet;

fn about() -> ReportContext {
    let mut about = ReportContext {
        tool_version: "1.0.0",
        rules: vec![RuleText {
            fix: String::new(),
            blocks: Vec::new(),
            id: "maximum-outputs".to_owned(),
            summary: "A transformation has few outputs.".to_owned(),
            help: vec!["Because.".to_owned(), "So it is checked.".to_owned()],
        }],
        ..ReportContext::default()
    };
    about.sources.keep_lines_near(
        "load/it.orch.yaml",
        b"\n\n\n\n\n\n\n\n    Run B:\n",
        &BTreeSet::from([9]),
    );
    about
}

fn on_github() -> ReportContext {
    ReportContext {
        sarif_limits: Some(SarifLimits::GITHUB),
        ..ReportContext::default()
    }
}

fn read(report: &Report, about: &ReportContext) -> Value {
    serde_json::from_slice(&sample::write_to_vec(|out| render(report, about, out))).unwrap()
}

/// Returns the requirements of SARIF 2.1.0 for the written objects as a schema.
fn schema() -> Value {
    let text = json!({ "required": ["text"], "properties": { "text": { "type": "string" } }, "additionalProperties": false });
    let level = json!({ "enum": ["none", "note", "warning", "error"] });
    let region = json!({ "required": ["startLine"], "properties": { "startLine": { "type": "integer", "minimum": 1 }, "snippet": text } });
    let artifact = json!({ "required": ["uri"], "properties": { "uri": { "type": "string", "pattern": "^[A-Za-z0-9/._~%-]*$" }, "uriBaseId": { "const": "%SRCROOT%" } } });
    let physical = json!({ "required": ["artifactLocation"], "properties": { "artifactLocation": artifact, "region": region } });
    let locations = json!({ "type": "array", "items": { "required": ["physicalLocation"], "properties": { "physicalLocation": physical } } });
    let rule = json!({ "required": ["id", "help", "shortDescription"], "properties": { "id": { "type": "string" }, "shortDescription": text } });
    let replacement = json!({ "required": ["deletedRegion"], "properties": { "deletedRegion": region, "insertedContent": text }, "additionalProperties": false });
    let change = json!({ "required": ["artifactLocation", "replacements"], "additionalProperties": false,
        "properties": { "artifactLocation": artifact, "replacements": { "type": "array", "minItems": 1, "items": replacement } } });
    let fix = json!({ "required": ["artifactChanges"], "additionalProperties": false,
        "properties": { "description": text, "artifactChanges": { "type": "array", "minItems": 1, "uniqueItems": true, "items": change } } });
    let result = json!({ "required": ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
        "properties": { "level": level, "message": text, "locations": locations, "ruleIndex": { "type": "integer", "minimum": 0 },
            "fixes": { "type": "array", "minItems": 1, "uniqueItems": true, "items": fix } } });
    let notification = json!({ "required": ["descriptor", "level", "message"], "properties": { "level": level, "message": text, "locations": locations } });
    let invocation = json!({ "required": ["executionSuccessful"], "properties": { "executionSuccessful": { "type": "boolean" },
        "toolExecutionNotifications": { "type": "array", "items": notification } } });
    json!({ "required": ["version", "runs"], "properties": { "version": { "const": "2.1.0" }, "runs": { "type": "array", "items": {
        "required": ["tool", "automationDetails", "invocations", "results"],
        "properties": {
            "tool": { "properties": { "driver": { "required": ["name", "rules"], "properties": { "rules": { "type": "array", "items": rule, "uniqueItems": true } } } } },
            "automationDetails": { "properties": { "id": { "type": "string", "pattern": "/$" } } },
            "invocations": { "type": "array", "items": invocation },
            "results": { "type": "array", "items": result }
        } } } } })
}

#[test]
#[expect(clippy::too_many_lines, reason = "the whole document is shown")]
fn violations_are_results() {
    let log = read(&sample::report(), &about());
    assert_eq!(validate(&schema(), &log), Ok(()));
    insta::assert_snapshot!(serde_json::to_string_pretty(&log["runs"][0]["results"]).unwrap(), @r#"
    [
      {
        "ruleId": "component-naming-convention",
        "ruleIndex": 3,
        "level": "error",
        "message": {
          "text": "`Run B` is not"
        },
        "locations": [
          {
            "physicalLocation": {
              "artifactLocation": {
                "uri": "load/it.orch.yaml",
                "uriBaseId": "%SRCROOT%"
              },
              "region": {
                "startLine": 9,
                "startColumn": 5,
                "endLine": 9,
                "endColumn": 11,
                "snippet": {
                  "text": "    Run B:"
                }
              }
            }
          }
        ],
        "partialFingerprints": {
          "sluicegate/v1": "e34d9de2e7a09848c642c0bcb2be0e42f325a721524bd8d5fa6c18bda277e5d9"
        }
      },
      {
        "ruleId": "component-naming-convention",
        "ruleIndex": 3,
        "level": "error",
        "message": {
          "text": "`Run A` is not in the pattern"
        },
        "locations": [
          {
            "physicalLocation": {
              "artifactLocation": {
                "uri": "load/it.orch.yaml",
                "uriBaseId": "%SRCROOT%"
              },
              "region": {
                "startLine": 12
              }
            }
          }
        ],
        "partialFingerprints": {
          "sluicegate/v1": "03ce3a9072ea96b4e6adce6453a2dc778e2459b9404074cdbf7c42654357e317"
        }
      },
      {
        "ruleId": "unused-components",
        "ruleIndex": 1,
        "level": "error",
        "message": {
          "text": "the rule could not be evaluated: designer/no-start-component"
        },
        "locations": [
          {
            "physicalLocation": {
              "artifactLocation": {
                "uri": "a.tran.yaml",
                "uriBaseId": "%SRCROOT%"
              },
              "region": {
                "startLine": 1
              }
            }
          }
        ],
        "partialFingerprints": {
          "sluicegate/v1": "1526f3919c8952c63e58d64fae7ebfb3e7bd8a705da20f15f0fbe4ab0e3108ff"
        }
      },
      {
        "ruleId": "maximum-outputs",
        "ruleIndex": 0,
        "level": "warning",
        "message": {
          "text": "3 outputs"
        },
        "locations": [
          {
            "physicalLocation": {
              "artifactLocation": {
                "uri": "a.tran.yaml",
                "uriBaseId": "%SRCROOT%"
              },
              "region": {
                "startLine": 1
              }
            }
          }
        ],
        "partialFingerprints": {
          "sluicegate/v1": "3c14df94c6cbf8ed8437b375aef93dc335f83f3b4792ffd2642bd96c31e9f2ff"
        }
      }
    ]
    "#);
}

#[test]
fn notifications_of_many_files_do_not_displace_notes() {
    let mut report = sample::report();
    report.verdict = Verdict::Undecided;
    report.notes = vec!["The platform did not respond.".to_owned()];
    report.unreviewed_files = (0..1_200)
        .map(|number| UnreviewedFile {
            path: format!("{number}.orch.yaml"),
            reason: "no response".to_owned(),
            next_step: None,
            gap: ReviewGap::FailedRequest,
        })
        .collect();
    let log = read(&report, &about());
    let notifications = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
        .as_array()
        .unwrap();
    assert_eq!(notifications.len(), 1_001);
    let texts: Vec<&str> = notifications
        .iter()
        .map(|notification| notification["message"]["text"].as_str().unwrap())
        .collect();
    assert!(texts.contains(&"The platform did not respond."));
    assert!(
        texts
            .iter()
            .any(|text| text.contains("edits the gate configuration"))
    );
    assert_eq!(
        texts.last(),
        Some(&"204 notifications omitted: see the JSON report")
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "the whole document is shown")]
fn unevaluated_rule_is_a_notification() {
    let log = read(&sample::report(), &about());
    insta::assert_snapshot!(serde_json::to_string_pretty(&log["runs"][0]["invocations"]).unwrap(), @r#"
    [
      {
        "executionSuccessful": false,
        "startTimeUtc": "2026-11-20T09:30:00.000Z",
        "endTimeUtc": "2026-11-20T09:30:01.200Z",
        "toolExecutionNotifications": [
          {
            "descriptor": {
              "id": "not-evaluated",
              "index": 0
            },
            "associatedRule": {
              "id": "unused-components",
              "index": 1
            },
            "level": "error",
            "message": {
              "text": "the rule could not be evaluated: designer/no-start-component"
            },
            "locations": [
              {
                "physicalLocation": {
                  "artifactLocation": {
                    "uri": "a.tran.yaml",
                    "uriBaseId": "%SRCROOT%"
                  },
                  "region": {
                    "startLine": 1
                  }
                }
              }
            ]
          },
          {
            "descriptor": {
              "id": "not-reviewed",
              "index": 1
            },
            "level": "error",
            "message": {
              "text": "The file was not reviewed: the batch timed out"
            },
            "locations": [
              {
                "physicalLocation": {
                  "artifactLocation": {
                    "uri": "late.orch.yaml",
                    "uriBaseId": "%SRCROOT%"
                  }
                }
              }
            ]
          },
          {
            "descriptor": {
              "id": "gate-change",
              "index": 2
            },
            "level": "warning",
            "message": {
              "text": "This change edits the gate configuration: sluicegate.yaml: exclude: + old.* (relaxed); review.fail-on: error → never (relaxed)"
            },
            "locations": [
              {
                "physicalLocation": {
                  "artifactLocation": {
                    "uri": "sluicegate.yaml",
                    "uriBaseId": "%SRCROOT%"
                  }
                }
              }
            ]
          },
          {
            "descriptor": {
              "id": "note",
              "index": 3
            },
            "level": "note",
            "message": {
              "text": "Excluded: 1 file: notes.txt (not a file that is reviewed)"
            }
          }
        ]
      }
    ]
    "#);
}

#[test]
fn unevaluated_rule_is_first_result() {
    let mut report = sample::report();
    let unreadable = Status::Error(Some("designer/document-parse-error".to_owned()));
    let words = || vec![sample::violation("the pipeline cannot be read", Some(2))];
    report.files.push(sample::file(
        "z.orch.yaml",
        vec![
            sample::result("one", unreadable.clone(), words()),
            sample::result("two", unreadable, words()),
        ],
    ));
    let log = read(&report, &about());
    let results = log["runs"][0]["results"].as_array().unwrap();
    let line = |r: &Value| {
        let place = &r["locations"][0]["physicalLocation"];
        let (uri, line) = (&place["artifactLocation"]["uri"], &place["region"]["startLine"]);
        format!(
            "{} {} {uri}:{line} {}",
            r["level"], r["ruleId"], r["message"]["text"]
        )
    };
    insta::assert_snapshot!(results.iter().map(line).collect::<Vec<_>>().join("\n"), @r#"
    "error" "component-naming-convention" "load/it.orch.yaml":9 "`Run B` is not"
    "error" "component-naming-convention" "load/it.orch.yaml":12 "`Run A` is not in the pattern"
    "error" "unused-components" "a.tran.yaml":1 "the rule could not be evaluated: designer/no-start-component"
    "error" "document-parse-error" "z.orch.yaml":2 "designer/document-parse-error: the pipeline cannot be read"
    "warning" "maximum-outputs" "a.tran.yaml":1 "3 outputs"
    "#);
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
}

#[test]
fn commit_is_in_log_if_repository_is_known() {
    let of =
        |about: &ReportContext| read(&sample::report(), about)["runs"][0]["versionControlProvenance"].clone();
    assert_eq!(of(&ReportContext::default()), Value::Null);
    let about = ReportContext {
        repository_url: Some("https://h/o/r".to_owned()),
        ..ReportContext::default()
    };
    let expected = json!([{ "repositoryUri": "https://h/o/r", "revisionId": "1f".repeat(20), "branch": "feature/x",
        "mappedTo": { "uriBaseId": "%SRCROOT%" } }]);
    assert_eq!(of(&about), expected);
}

#[test]
fn name_of_rule_is_one_word_that_differs_from_id() {
    let names = ["maximum-outputs", "project/call", "note", ""].map(build_descriptor_name);
    assert_eq!(names, ["MaximumOutputs", "ProjectCall", "NoteRule", "Rule"]);
}

#[test]
fn rule_has_its_help() {
    let log = read(&sample::report(), &about());
    insta::assert_snapshot!(serde_json::to_string_pretty(&log["runs"][0]["tool"]["driver"]["rules"][0]).unwrap(), @r#"
    {
      "id": "maximum-outputs",
      "name": "MaximumOutputs",
      "shortDescription": {
        "text": "A transformation has few outputs."
      },
      "fullDescription": {
        "text": "A transformation has few outputs. Because. So it is checked."
      },
      "help": {
        "text": "A transformation has few outputs. Because. So it is checked.",
        "markdown": "**A transformation has few outputs.**\n\n- Because.\n- So it is checked.\n"
      },
      "defaultConfiguration": {
        "level": "warning"
      }
    }
    "#);
}

#[test]
fn category_ends_in_slash_and_names_part() {
    let mut report = sample::empty(Verdict::Passed);
    let id = |report: &Report, category: &str| {
        let about = ReportContext {
            category: category.to_owned(),
            ..ReportContext::default()
        };
        read(report, &about)["runs"][0]["automationDetails"]["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(id(&report, ""), "sluicegate/");
    assert_eq!(id(&report, "sales/nightly/"), "sales/nightly/");
    report.context.shard = Some(Shard { index: 2, total: 3 });
    assert_eq!(id(&report, "sales"), "sales/shard-2-of-3/");
}

#[test]
fn cuts_keep_errors_and_are_reported() {
    let results = |severity, n: u32| {
        let violations = (0..n)
            .map(|n| sample::violation(&format!("v{n}"), Some(n + 1)))
            .collect();
        sample::result("r", Status::Failed(severity), violations)
    };
    let mut report = sample::empty(Verdict::Failed);
    report.files = vec![
        sample::file("a", vec![results(Severity::Warning, 4_000)]),
        sample::file("b", vec![results(Severity::Error, 2_000)]),
    ];
    let whole = read(&report, &ReportContext::default());
    assert_eq!(whole["runs"][0]["results"].as_array().unwrap().len(), 6_000);
    let log = read(&report, &on_github());
    let run = &log["runs"][0];
    let kept = run["results"].as_array().unwrap();
    assert_eq!(count_omitted_results(&report, &on_github()), 1_000);
    assert_eq!(kept.len(), 5_000);
    assert_eq!(kept.iter().filter(|r| r["level"] == "error").count(), 2_000);
    let said = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    assert_eq!(said, "1,000 results omitted: see the JSON report");
}

#[test]
fn known_line_has_its_columns_and_another_none() {
    let mut report = sample::empty(Verdict::Failed);
    let violations = [2, 3, 4, 9].map(|line| sample::violation("v", Some(line)));
    let failed = sample::result("r", Status::Failed(Severity::Error), violations.into());
    report.files = vec![sample::file("a", vec![failed])];
    let mut about = about();
    let endless = "x".repeat(100_000);
    let text = format!("first\n  \"😀 Lädt\": {{}}  \n\n{endless}\n");
    about
        .sources
        .keep_lines_near("a", text.as_bytes(), &BTreeSet::from([2, 3, 4]));
    let log = read(&report, &about);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let region = |line: u64| {
        let mut regions = results
            .iter()
            .map(|result| &result["locations"][0]["physicalLocation"]["region"]);
        regions.find(|region| region["startLine"] == line).unwrap()
    };
    // In UTF-16 code units, as in `columnKind`: from the first character to after the last one.
    let known = region(2);
    let places = ["startColumn", "endLine", "endColumn"].map(|name| known[name].as_u64());
    assert_eq!(places, [Some(3), Some(2), Some(16)], "{known}");
    for line in [3, 4, 9] {
        let (region, names) = (region(line), ["startColumn", "endLine", "endColumn"]);
        assert!(names.iter().all(|name| region.get(name).is_none()), "{region}");
    }
}

#[test]
fn program_has_page_once_package_has_one() {
    let log = read(&sample::report(), &about());
    let driver = &log["runs"][0]["tool"]["driver"];
    let told = driver.get("informationUri").map(|uri| uri.as_str().unwrap());
    assert_eq!(told, address::repository_url());
    let package = include_str!("../../../../Cargo.toml");
    let page = package
        .lines()
        .find_map(|line| line.strip_prefix("homepage = \""));
    assert_eq!(told, page.map(|page| page.trim_end_matches('"')));
}

#[test]
fn long_texts_do_not_pass_the_size_limit() {
    let violations = (0..6_000)
        .map(|_| sample::violation(&"😀".repeat(3_000), None))
        .collect();
    let mut report = sample::empty(Verdict::Failed);
    report.files = vec![sample::file(
        "a",
        vec![sample::result("r", Status::Failed(Severity::Error), violations)],
    )];
    assert!(sample::write_to_vec(|out| render(&report, &on_github(), out)).len() < 10_000_000);
}

#[test]
fn proven_fix_is_edit_of_its_file() {
    let mut report = sample::report();
    report.files[1].results[1].violations[0].fix = Some(Box::new(sample::fix()));
    let path = report.files[1].path.clone();
    let log = read(&report, &about());
    assert_eq!(validate(&schema(), &log), Ok(()));
    let results = log["runs"][0]["results"].as_array().unwrap();
    let fixes: Vec<&Value> = results.iter().filter_map(|result| result.get("fixes")).collect();
    assert_eq!(
        fixes,
        [&json!([{
            "description": { "text": "Replace `load` with `sales/load`" },
            "artifactChanges": [{
                "artifactLocation": { "uri": path, "uriBaseId": "%SRCROOT%" },
                "replacements": [{
                    "deletedRegion": { "startLine": 9, "startColumn": 27, "endLine": 9, "endColumn": 33 },
                    "insertedContent": { "text": "'sales/load'" }
                }]
            }]
        }])]
    );
}

#[test]
fn strange_clock_is_left_out() {
    let mut report = sample::empty(Verdict::Passed);
    report.started_at = jiff::Timestamp::MIN;
    assert_eq!(
        read(&report, &ReportContext::default())["runs"][0]["invocations"][0]["startTimeUtc"],
        Value::Null
    );
}

proptest! {
    #[test]
    fn any_text_reads_back(raw in "(\\PC|[\\x00-\\x20]|##\\[|##vso\\[|##teamcity\\[|::|%|\\\\){0,20}") {
        let mut report = sample::report();
        let failed = sample::result(&raw, Status::Failed(Severity::Error), vec![sample::violation(&raw, Some(3))]);
        let broken = sample::result("other", Status::Error(Some(raw.clone())), vec![sample::violation(&raw, None)]);
        report.files = vec![sample::file(&raw, vec![failed, broken])];
        report.notes = vec![raw.clone()];
        let written = String::from_utf8(sample::write_to_vec(|out| render(&report, &about(), out))).unwrap();
        prop_assert!(!written.contains("##[") && !written.contains("##vso[") && !written.contains("##teamcity["));
        prop_assert_eq!(written.lines().count(), 1);
        let log: Value = serde_json::from_str(&written).unwrap();
        prop_assert_eq!(validate(&schema(), &log), Ok(()));
        let run = &log["runs"][0];
        let result = &run["results"][0];
        let message = SarifText::from(&*sample::shown_message(&raw)).text;
        prop_assert_eq!(&result["message"]["text"], &message);
        prop_assert_eq!(&result["ruleId"], &raw);
        let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
        let decoded = url::form_urlencoded::parse(format!("x={uri}").as_bytes()).next().unwrap().1.into_owned();
        prop_assert_eq!(&decoded, &raw);
        let said = run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap();
        prop_assert!(said.contains(&SarifText::from(raw.as_str()).text));
    }
}

#[test]
fn control_characters_are_visible_in_all_texts() {
    let hidden = "a\u{202e}b";
    let mut context = about();
    context.rules[0].id = "r".to_owned();
    context.rules[0].summary = hidden.to_owned();
    context.rules[0].help = vec![hidden.to_owned()];
    let mut report = sample::empty(Verdict::Passed);
    let mut result = sample::result(
        "r",
        Status::Failed(Severity::Error),
        vec![sample::violation(hidden, None)],
    );
    result.set_states([Some(FindingState::Waived)]);
    result.marks_mut()[0].waiver = Some(Box::new(Waiver {
        reason: hidden.to_owned(),
        owner: None,
        until: None,
        exceeded_size: None,
    }));
    report.files = vec![sample::file("a", vec![result])];
    report.notes = vec![hidden.to_owned()];
    let log = read(&report, &context);
    assert!(!log.to_string().contains('\u{202e}'), "{log}");
    let run = &log["runs"][0];
    assert_eq!(
        run["results"][0]["suppressions"][0]["justification"],
        "a\\u{202e}b"
    );
    assert_eq!(
        run["tool"]["driver"]["rules"][0]["help"]["text"],
        "a\\u{202e}b a\\u{202e}b"
    );
}

#[test]
fn message_with_link_syntax_has_no_link() {
    let text = "[Click here](https://evil.example/x) is not in `[A-Z](Foo|Bar)`";
    let mut report = sample::empty(Verdict::Failed);
    let result = sample::result(
        "r",
        Status::Failed(Severity::Error),
        vec![sample::violation(text, None)],
    );
    report.files = vec![sample::file("a", vec![result])];
    report.notes = vec![text.to_owned()];
    let written = read(&report, &about()).to_string();
    assert!(!written.contains("]("), "{written}");
    assert!(
        written.contains("[Click here]\u{2060}(https://evil.example/x)"),
        "{written}"
    );
}
