//! Smoke runs of a published version on the local platform.

use super::Local;
use crate::support::{PROJECT, job_output};
use serde_json::{Value, json};
use std::fs;

/// Returns the arguments of a publish with a smoke run of this pipeline.
fn publish_args(version: &str, pipeline: &str) -> String {
    format!(
        "publish --version-name {version} --if-exists same-content --receipt receipt.json --smoke {pipeline} \
         --smoke-project {PROJECT} --smoke-environment test"
    )
}

fn receipt(local: &Local) -> Value {
    serde_json::from_slice(&fs::read(local.world.work().join("receipt.json")).unwrap()).unwrap()
}

/// Returns the name of the version that consumers get.
fn latest(local: &Local) -> Value {
    local.json("artifacts show")["artifactDetails"]["versionName"].clone()
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
// Endpoint: PATCH /v1/shared-pipelines/artifacts
#[test]
fn publish_runs_pipeline_and_disables_version_if_it_fails() {
    let local = Local::with_environments();
    local.run(publish_args("1", "load")).expect(0);
    assert_eq!(receipt(&local)["smoke"]["verdict"], "passed");
    local.run("verify receipt.json").expect(0);
    let output = local.run(publish_args("2", "broken")).expect(8);
    output.assert_logged(&[
        "ended in FAILED: The pipeline ended at `Broken`",
        "consumers of [Latest] get version 1 now",
    ]);
    assert_eq!(latest(&local), "1");
    local.run("verify receipt.json").expect(6);
    local.run(publish_args("3", "gone")).expect(8).saying(&["404"]);
    assert_eq!(latest(&local), "1");
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
#[test]
fn rerun_of_publish_does_not_start_pipeline_twice() {
    let local = Local::with_environments();
    local.run(publish_args("1", "load")).expect(0);
    let first_run = receipt(&local)["smoke"]["runs"][0].clone();
    local.run(publish_args("1", "load")).expect(0);
    assert_eq!(receipt(&local)["smoke"]["runs"][0], first_run);
    // Another job runs the pipeline with the digest of the version, and the receipt is lost.
    let tag = receipt(&local)["digest"].as_str().unwrap().to_owned();
    fs::remove_file(local.world.work().join("receipt.json")).unwrap();
    local
        .run(&["pipelines", "run", "load", "--environment", "test", "--tag", &tag])
        .expect(0);
    let output = local.call().run(publish_args("1", "load")).expect(3);
    output.assert_logged(&["an execution of a version with the same content is still in progress"]);
    assert_eq!(latest(&local), "1");
}

#[test]
fn ci_runs_the_smoke_runs_of_the_policy() {
    let local = Local::with_environments();
    let settings = format!(
        "publish:\n  version-name: '1'\n  smoke: [broken]\n  smoke-project: [{PROJECT}]\n  smoke-environment: [test]\n\
         publish-on: {{ branches: [main] }}\n"
    );
    local.world.write("sluicegate.yaml", settings);
    local.world.commit("settings");
    local.world.push();
    let args = "ci --publish --smoke-timeout 60 --receipt receipt.json";
    let output = local.run_while_time_passes(args).expect(8);
    output.assert_logged(&["the version was disabled", "NO VERSION IS ENABLED"]);
    let smoke = &receipt(&local)["smoke"];
    assert_eq!(
        (&smoke["versionDisabled"], &smoke["latestVersion"]),
        (&json!(true), &Value::Null)
    );
    // The job overrides the policy.
    let smoke_run = format!("{args} --smoke load --version-name 2");
    local.run_while_time_passes(&smoke_run).expect(0);
    assert_eq!(latest(&local), "2");
}

/// The job of the other commit tests the version.
#[test]
fn publish_without_changes_since_another_commit_neither_tests_nor_names_the_version() {
    let local = Local::with_environments();
    local.run(publish_args("{next}", "load")).expect(0);
    local.world.write("README.md", "text\n");
    local.world.commit("text");
    local.world.push();
    let outputs = local.world.path().join("outputs");
    let job = local
        .call()
        .variable("GITHUB_OUTPUT", outputs.display().to_string());
    let args = format!(
        "{} --attestation statement.json",
        publish_args("{next}", "load").replace("receipt.json", "other.json")
    );
    // The receipt of the first job shows that the smoke run succeeded.
    fs::copy(
        local.world.work().join("receipt.json"),
        local.world.work().join("other.json"),
    )
    .unwrap();
    job.run(&args).expect(0);
    assert_eq!(
        job_output(&fs::read_to_string(&outputs).unwrap(), "version-name"),
        "1.0.0"
    );
    fs::remove_file(local.world.work().join("statement.json")).unwrap();
    // The execution of the second receipt cannot be continued, because it may have used another version.
    let mut useless_receipt = receipt(&local);
    useless_receipt["smoke"]["runs"][0]["problem"] = "another version was the latest".into();
    for receipt_text in [None, Some(useless_receipt.to_string())] {
        fs::remove_file(&outputs).unwrap();
        fs::remove_file(local.world.work().join("other.json")).unwrap();
        if let Some(text) = receipt_text {
            local.world.write("other.json", text);
        }
        let output = job.run(&args).expect(0);
        output.assert_logged(&[
            "no smoke run was started, because version 1.0.0 was published from another commit",
            "this job did not run the smoke runs of the version",
        ]);
        assert_eq!(
            job_output(&fs::read_to_string(&outputs).unwrap(), "version-name"),
            ""
        );
        assert!(!local.world.work().join("statement.json").exists());
    }
}
