//! The path of the book, "A user's path": serve, branch, review, fix, review, publish, publish again, an ignored file.
//!
//! Endpoint: POST /v1/projects/{projectId}/reviews

use crate::support::release::publish_call;
use crate::support::{PROJECT, RULES, ServerProcess, World, orchestration_text};
use serde_json::{Value, json};
use std::fs;

const SHARED: &str = "\
version: \"1.0\"
type: shared-pipelines-config
pipelines:
  - { pipeline: sales/load.orch.yaml, displayName: Load, id: load, enabled: true, parameters: {} }
";

#[test]
fn first_steps_of_book_end_with_published_version() {
    let world = World::new();
    let project = format!("{PROJECT}={}", world.remote().display());
    let token = format!("{}=admin", crate::support::TOKEN);
    let server = ServerProcess::start(world.path(), &["--project", &project, "--token", &token]);

    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    world.write(".platform/shared-pipelines.yaml", SHARED);
    world.write("sales/load.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write("sales/notes.md", "not a pipeline\n");
    world.commit("first");
    world.push();
    world.git("remote set-head origin main");

    world.git("checkout -q -b faster");
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "load it", "count", "Done"]),
    );
    world.commit("in a hurry");
    world.push();
    let output = publish_call(&world, &server)
        .run("review --report json=report.json")
        .expect(1);
    assert!(output.out.contains("sales/load.orch.yaml:11"), "{}", output.all());
    let report: Value = serde_json::from_slice(&fs::read(world.work().join("report.json")).unwrap()).unwrap();
    let results = report["files"][0]["results"].as_array().unwrap();
    let matches: Vec<(&str, &str, u64)> = results
        .iter()
        .map(|r| {
            (
                r["rule"].as_str().unwrap(),
                r["status"].as_str().unwrap(),
                r["findings"][0]["line"].as_u64().unwrap_or(1),
            )
        })
        .collect();
    assert_eq!(
        matches,
        [
            ("component-naming-convention", "FAILED", 11),
            ("maximum-components", "FAILED", 1)
        ]
    );
    assert_eq!(report["counts"]["warnings"], 1);

    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "Load it", "Done"]),
    );
    fs::remove_file(world.work().join("report.json")).unwrap();
    world.commit("with care");
    world.push();
    publish_call(&world, &server).run("review").expect(0);

    let publish = "publish --version-name 1.0.0 --receipt receipt.json";
    publish_call(&world, &server).run(publish).expect(0);
    let receipt: Value =
        serde_json::from_slice(&fs::read(world.work().join("receipt.json")).unwrap()).unwrap();
    assert_eq!(receipt["schema"], "sluicegate.receipt/v1");
    assert_eq!(
        (&receipt["outcome"], &receipt["verified"]),
        (&json!("published"), &json!(true))
    );
    assert_eq!(receipt["commitHash"], json!(world.git(&["rev-parse", "HEAD"])));
    publish_call(&world, &server)
        .run(publish)
        .expect(5)
        .saying(&["1.0.0"]);

    // As printed in the book.
    let page = include_str!("../../../docs/book/first-steps.md");
    let printed = page
        .lines()
        .find(|line| line.contains("--version-name 1.0.1"))
        .unwrap();
    let with_notes = printed.trim().trim_matches('`').replace('\'', "");
    let with_notes: Vec<&str> = with_notes.split(' ').skip(1).collect();
    publish_call(&world, &server)
        .run(&with_notes)
        .expect(6)
        .saying(&["sales/notes.md"]);

    let document = publish_call(&world, &server)
        .run("artifacts list -o json")
        .expect(0)
        .json();
    let versions: Vec<&str> = document["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["versionName"].as_str().unwrap())
        .collect();
    assert_eq!(versions.len(), 2, "{document:#}");
    assert!(versions.contains(&"1.0.0") && versions.contains(&"1.0.1"));
}
