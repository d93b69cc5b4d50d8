//! Documents of version 0.1 stay readable, and its keys keep their names: `tests/fixtures/compat/0.1` is never edited.

use crate::support::{Call, Platform, World, answer, orchestration_text, project, scratch};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use wiremock::{Request, ResponseTemplate};

/// A review with new, known, waived and not evaluated findings, an unreviewed file, and a refused gate change.
const REPORT: &str = include_str!("../../fixtures/compat/0.1/report.json");
/// The output of `report --compare`, for a review of some paths.
const COMPARED: &str = include_str!("../../fixtures/compat/0.1/report-compared.json");
/// A published version with an accepted break and an ignored file.
const RECEIPT: &str = include_str!("../../fixtures/compat/0.1/receipt.json");
/// The output of `diff main..change --callers -o json` in [`project_with_every_change`].
const DIFF: &str = include_str!("../../fixtures/compat/0.1/diff.json");
const WAIVERS: &str = include_str!("../../fixtures/compat/0.1/sluicegate-waivers.yaml");
const SETTINGS: &str = include_str!("../../fixtures/compat/0.1/sluicegate.yaml");

/// Keys of a result that the rendering program writes itself, and does not read: their values may change.
const DERIVED: [&str; 2] = ["help", "docs"];

fn parse_document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Checks that `made` has each key and item of `frozen` with the same value.
fn assert_kept(frozen: &Value, made: &Value, at: &str) {
    match (frozen, made) {
        (Value::Object(frozen), Value::Object(made)) => {
            for (key, value) in frozen {
                let text = format!("{at}.{key}");
                let now = made.get(key).unwrap_or_else(|| panic!("{text} is missing"));
                if !DERIVED.contains(&key.as_str()) {
                    assert_kept(value, now, &text);
                }
            }
        }
        (Value::Array(frozen), Value::Array(made)) => {
            assert_eq!(frozen.len(), made.len(), "items of {at}");
            for (place, (value, now)) in frozen.iter().zip(made).enumerate() {
                assert_kept(value, now, &format!("{at}[{place}]"));
            }
        }
        _ => assert_eq!(frozen, made, "{at}"),
    }
}

/// Adds the path of each key, for example `.pipelines[].path`.
fn collect_keys(value: &Value, at: &str, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let path = format!("{at}.{key}");
                collect_keys(value, &path, keys);
                keys.insert(path);
            }
        }
        Value::Array(items) => {
            for item in items {
                collect_keys(item, &format!("{at}[]"), keys);
            }
        }
        _ => {}
    }
}

/// Returns the exit code of a verdict.
fn code_of(report: &Value) -> i32 {
    match report["verdict"].as_str().unwrap() {
        "passed" => 0,
        "failed" => 1,
        "undecided" => 3,
        other => panic!("unknown verdict {other}"),
    }
}

#[test]
fn report_of_0_1_is_rendered_again_with_every_value() {
    let folder = scratch::create_scratch_directory();
    for (name, text) in [("report.json", REPORT), ("compared.json", COMPARED)] {
        fs::write(folder.path().join(name), text).unwrap();
        let frozen = parse_document(text);
        assert_eq!(frozen["schema"], "sluicegate.report/v2", "{name}");
        let output = Call::new(folder.path())
            .run(format!("report {name} --report json=-"))
            .expect(code_of(&frozen));
        assert_kept(&frozen, &output.json(), name);
    }
}

#[test]
fn report_of_0_1_has_every_kind_of_entry() {
    let report = parse_document(REPORT);
    for kind in ["new", "known", "fixed", "waived", "notEvaluated"] {
        assert!(report["findings"][kind].as_u64().unwrap() > 0, "{kind}");
    }
    for list in [
        "files",
        "excluded",
        "unreviewed",
        "gateChanges",
        "notes",
        "changes",
    ] {
        assert!(!report[list].as_array().unwrap().is_empty(), "{list}");
    }
    for flag in ["gateRefused", "open", "failedWithoutFinding"] {
        assert_eq!(report[flag], true, "{flag}");
    }
    assert_eq!(report["compat"]["class"], "breaking");
}

#[test]
fn shard_of_0_1_is_read() {
    let folder = scratch::create_scratch_directory();
    let mut report = parse_document(REPORT);
    report["context"]["shard"] = json!("1/1");
    fs::write(folder.path().join("report.json"), report.to_string()).unwrap();
    Call::new(folder.path())
        .run("report report.json")
        .expect(code_of(&report));
}

#[test]
fn report_or_receipt_of_newer_schema_is_refused_with_its_name() {
    let platform = Platform::new();
    let folder = scratch::create_scratch_directory();
    let call = Call::with_platform(folder.path(), &platform.server.uri());
    for (command, text, name) in [
        ("report", REPORT, "sluicegate.report/v3"),
        ("verify", RECEIPT, "sluicegate.receipt/v2"),
    ] {
        let mut document = parse_document(text);
        document["schema"] = json!(name);
        fs::write(folder.path().join("newer.json"), document.to_string()).unwrap();
        call.run(&[command, "newer.json"]).expect(2).saying(&[name]);
    }
    assert_eq!(platform.requests().len(), 0);
}

/// Responds with the details of the two versions in the receipt; other versions do not exist.
fn details_of_receipt(receipt: &Value, request: &Request) -> ResponseTemplate {
    let asked = request.url.as_str();
    let compat = &receipt["compat"];
    let has = |version: &Value| asked.contains(&format!("={}", version.as_str().unwrap()));
    let (version, commit) = if has(&receipt["versionName"]) {
        (&receipt["versionName"], &receipt["commitHash"])
    } else if has(&compat["against"]) {
        (&compat["against"], &compat["againstCommit"])
    } else {
        return ResponseTemplate::new(404);
    };
    let shared: Vec<Value> = receipt["sharedPipelines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            let source = entry["path"].as_str().unwrap().trim_end_matches(".orch.yaml");
            json!({ "sharedPipelineId": entry["id"], "sourcePipeline": source })
        })
        .collect();
    answer(&json!({
        "artifactDetails": {
            "sharedPipelineIdPrefix": receipt["prefix"],
            "versionName": version,
            "enabled": true,
            "commitHash": commit,
        },
        "sharedPipelines": shared,
    }))
}

#[test]
fn receipt_of_0_1_is_verified() {
    let receipt = parse_document(RECEIPT);
    assert_eq!(receipt["schema"], "sluicegate.receipt/v1");
    let platform = Platform::new();
    let published = receipt.clone();
    platform.respond_to("GET", "/artifacts/details$", move |request: &Request| {
        details_of_receipt(&published, request)
    });
    platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
    // Outside a repository, the receipt is compared only with the platform.
    let folder = scratch::create_scratch_directory();
    let verify = |receipt: &Value| {
        fs::write(folder.path().join("receipt.json"), receipt.to_string()).unwrap();
        Call::with_platform(folder.path(), &platform.server.uri())
            .variable("SLUICEGATE_RETRIES", "0")
            .run("verify receipt.json -o json")
    };
    let report = verify(&receipt).expect(0).json();
    assert_eq!(
        (&report["verified"], &report["differences"]),
        (&json!(true), &json!([]))
    );
    assert_eq!(
        (&report["prefix"], &report["versionName"], &report["commitHash"]),
        (
            &receipt["prefix"],
            &receipt["versionName"],
            &receipt["commitHash"]
        )
    );
    // The values that the receipt records are compared, not only read.
    for (key, value) in [
        ("versionName", "3.0.0"),
        ("commitHash", "0000000000000000000000000000000000000000"),
        ("digest", "sha256:0"),
        ("outcome", "failed"),
    ] {
        let mut changed = receipt.clone();
        changed[key] = json!(value);
        verify(&changed).expect(6);
    }
}

#[test]
fn settings_of_0_1_are_read_without_warning() {
    let world = project();
    world.write("sluicegate.yaml", SETTINGS);
    world.commit("configure");
    world.push();
    let call = Call::with_platform(&world.work(), "http://127.0.0.1:9");
    for args in [
        &["review", "--all", "--dry-run"][..],
        &["context"],
        &["check", "--all"],
    ] {
        let output = call.run(args).expect(0);
        assert!(!output.err.contains("warning"), "{args:?}: {}", output.all());
    }
    // The settings are in force: the report of `review.report` is written.
    assert!(world.work().join("reports/review.json").is_file());
    for (text, expected_text) in [
        (format!("{SETTINGS}newer-key: 1\n"), "unknown key `newer-key`"),
        (
            SETTINGS.replace("review:\n", "review:\n  newer-part: 1\n"),
            "unknown key `newer-part`",
        ),
    ] {
        world.write("sluicegate.yaml", text);
        call.run("check --all")
            .expect(2)
            .saying(&["sluicegate.yaml:", expected_text]);
    }
}

#[test]
fn waivers_of_0_1_are_listed_with_every_value() {
    let world = project();
    world.write("sluicegate-waivers.yaml", WAIVERS);
    let report = Call::new(&world.work())
        .run("waivers list -o json")
        .expect(0)
        .json();
    let expected = json!([
        {
            "rule": "component-naming-convention", "path": "sales/**", "about": "load it", "size": null,
            "reason": "named by the old warehouse", "owner": "data-team", "until": "2999-12-31", "line": 2,
        },
        {
            "rule": "component-naming-convention", "path": "sales/legacy.orch.yaml", "about": null,
            "size": null, "reason": "generated by a tool", "owner": null, "until": null, "line": 3,
        },
        {
            "rule": "maximum-components", "path": "sales/load.orch.yaml", "about": null, "size": 42,
            "reason": "will be split, see ticket 7", "owner": "data-team", "until": "2020-01-31", "line": 4,
            "state": "expired",
        },
        {
            "rule": "project/call", "path": "sales/caller.orch.yaml", "about": "Run", "size": null,
            "reason": "the called pipeline is created by another team", "owner": null, "until": null,
            "line": 10,
        },
    ]);
    assert_kept(&expected, &report, "waivers");
}

const BEFORE: &str = r#"type: orchestration
version: "1.0"
pipeline:
  components:
    Start: { type: start, parameters: { componentName: Start }, transitions: { unconditional: [Check] } }
    Check:
      type: sql-executor
      parameters: { componentName: Check, sqlQuery: "select count(*) from orders" }
      transitions: { unconditional: [Load] }
    Load:
      type: sql-executor
      parameters: { componentName: Load, sqlQuery: "select 1", limit: 10, mode: append, tables: [a, b] }
      transitions: { success: [Count] }
    Count: { type: python-script, parameters: { componentName: Count }, transitions: { success: [Done] } }
    Done: { type: end-success, parameters: { componentName: Done } }
  variables:
    day: { metadata: { type: TEXT }, defaultValue: monday }
    hour: { metadata: { type: NUMBER }, defaultValue: 7 }
design:
  components:
    Load: { position: { x: 200, y: 0 } }
"#;

const AFTER: &str = r#"type: orchestration
version: "1.1"
pipeline:
  components:
    Start: { type: start, parameters: { componentName: Start }, transitions: { unconditional: [Check all] } }
    Check all:
      type: sql-executor
      parameters: { componentName: Check, sqlQuery: "select count(*) from orders" }
      transitions: { unconditional: [Load] }
    Load:
      type: sql-executor
      parameters: { componentName: Load, sqlQuery: "select 2", limit: 20, mode: null, tables: [], log: true }
      transitions: { unconditional: [Write] }
    Write: { type: sql-executor, parameters: { componentName: Write }, transitions: { success: [Done] } }
    Done: { type: end-success, parameters: { componentName: Done } }
  variables:
    day: { metadata: { type: TEXT }, defaultValue: tuesday }
    zone: { metadata: { type: TEXT }, defaultValue: utc }
design:
  components:
    Load: { position: { x: 300, y: 0 } }
"#;

const CALLER: &str = "\
type: orchestration
pipeline:
  components:
    Start: { type: start, parameters: { componentName: Start }, transitions: { unconditional: [Run] } }
    Run:
      type: run-orchestration
      parameters: { componentName: Run, orchestrationJob: load.orch.yaml }
      transitions: { unconditional: [Done] }
    Done: { type: end-success, parameters: { componentName: Done } }
";

const SHARED_BEFORE: &str = "\
pipelines:
  - { id: load, pipeline: load.orch.yaml, enabled: true, parameters: { day: { type: TEXT } } }
";

const SHARED_AFTER: &str = "\
pipelines:
  - { id: load, pipeline: load.orch.yaml, enabled: true, parameters: { zone: { type: TEXT } } }
";

/// Creates a branch `change` that edits, renames, adds, removes and breaks pipelines of `main`.
fn project_with_every_change() -> World {
    let world = project();
    world.write(".platform/shared-pipelines.yaml", SHARED_BEFORE);
    world.write("load.orch.yaml", BEFORE);
    world.write("caller.orch.yaml", CALLER);
    world.write(
        "old-name.orch.yaml",
        orchestration_text(&["Start", "Move", "Done"]),
    );
    world.write(
        "gone.orch.yaml",
        orchestration_text(&["Start", "One", "Two", "Three", "Done"]),
    );
    world.write(
        "broken.orch.yaml",
        orchestration_text(&["Start", "Break", "Done"]),
    );
    world.commit("pipelines");
    world.push();
    world.git("checkout -q -b change");
    world.write(".platform/shared-pipelines.yaml", SHARED_AFTER);
    world.write("load.orch.yaml", AFTER);
    world.git("mv old-name.orch.yaml new-name.orch.yaml");
    world.git("rm -q gone.orch.yaml");
    world.write("added.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write("broken.orch.yaml", "type: [\n");
    world.commit("change");
    world
}

#[test]
fn diff_of_0_1_has_no_key_that_is_gone() {
    let frozen = parse_document(DIFF);
    let world = project_with_every_change();
    let report = Call::new(&world.work())
        .run("diff main..change --callers -o json")
        .expect(0)
        .json();
    assert_eq!(
        (&frozen["schema"], &report["schema"]),
        (&json!("sluicegate.diff/v1"), &json!("sluicegate.diff/v1"))
    );
    let (mut old, mut new) = (BTreeSet::new(), BTreeSet::new());
    collect_keys(&frozen, "", &mut old);
    collect_keys(&report, "", &mut new);
    let gone: Vec<&String> = old.difference(&new).collect();
    assert!(gone.is_empty(), "keys that are gone: {gone:?}");
    let changes = |diff: &Value| -> BTreeSet<String> {
        let pipelines = diff["pipelines"].as_array().unwrap().iter();
        pipelines
            .map(|entry| format!("{} {}", entry["path"], entry["change"]))
            .collect()
    };
    assert_eq!(changes(&frozen), changes(&report));
}

#[test]
fn documents_of_0_1_contain_no_path_of_machine() {
    for text in [REPORT, COMPARED, RECEIPT, DIFF, WAIVERS, SETTINGS] {
        for root in ["/tmp/", "/home/", "/root/", "127.0.0.1", "localhost"] {
            assert!(!text.contains(root), "{root}");
        }
    }
}
