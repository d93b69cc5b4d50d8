//!
//! Endpoint: POST /v1/projects/{projectId}/reviews
use super::Local;
use crate::support::orchestration_text;
use serde_json::{Value, json};

/// Reviews a pushed branch with this file, expects this exit code and returns the report.
fn review_file(local: &Local, path: &str, text: &str, args: &[&str], code: i32) -> Value {
    local.world.git("checkout -q -B change");
    local.world.write(path, text);
    local.world.commit("change");
    local.world.git("push -q --force origin change");
    let args = ("review --report json=report.json", args);
    local.run(&args).expect(code);
    serde_json::from_slice(&std::fs::read(local.world.work().join("report.json")).unwrap()).unwrap()
}

/// Returns rule, status and error type of each result.
fn results(report: &Value) -> Vec<[&str; 3]> {
    let results = report["files"][0]["results"].as_array().unwrap().iter();
    results
        .map(|entry| ["rule", "status", "errorType"].map(|key| entry[key].as_str().unwrap_or_default()))
        .collect()
}

#[test]
fn only_error_enforcement_fails_a_review() {
    let local = Local::new();
    let long = orchestration_text(&["Start", "A", "B", "C", "Done"]);
    let report = review_file(&local, "new.orch.yaml", &long, &[], 0);
    assert_eq!(
        results(&report),
        [
            ["component-naming-convention", "PASSED", ""],
            ["maximum-components", "FAILED", ""]
        ]
    );
    assert_eq!(
        (&report["verdict"], &report["counts"]["warnings"]),
        (&json!("passed"), &json!(1))
    );
    let misnamed = orchestration_text(&["Start", "a", "Done"]);
    let report = review_file(&local, "new.orch.yaml", &misnamed, &[], 1);
    assert_eq!(results(&report)[0], ["component-naming-convention", "FAILED", ""]);
    assert_eq!(report["verdict"], "failed");
}

#[test]
fn rule_that_cannot_be_evaluated_is_an_error_with_its_type() {
    let local = Local::new();
    let report = review_file(&local, "new.orch.yaml", "type: [", &[], 1);
    let kind = "designer/document-parse-error";
    assert_eq!(
        results(&report),
        [
            ["component-naming-convention", "ERROR", kind],
            ["maximum-components", "ERROR", kind]
        ]
    );
}

#[test]
fn files_of_other_types_are_excluded() {
    let local = Local::new();
    let report = review_file(&local, "notes.md", "no pipeline\n", &["--include", "**/*.md"], 0);
    assert_eq!(report["excluded"], json!(["notes.md"]));
}

#[test]
fn commit_must_be_on_remote() {
    let local = Local::new();
    local
        .world
        .write("new.orch.yaml", orchestration_text(&["Start", "Done"]));
    local.world.commit("not pushed");
    local.run("review").expect(7);
}

#[test]
fn agent_version_is_needed() {
    let local = Local::new();
    local
        .call()
        .without("SLUICEGATE_AGENT_VERSION")
        .run("review --all")
        .expect(2)
        .saying(&["--agent-version"]);
    local.run("review --all").expect(0);
}
