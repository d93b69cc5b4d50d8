use super::{Local, column};
use crate::support::orchestration_text;

fn publish_to_local(local: &Local, version: &str) {
    local.run(format!("publish --version-name {version}")).expect(0);
}

fn latest(local: &Local) -> String {
    let document = local.json("artifacts show");
    document["artifactDetails"]["versionName"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn set_enabled(local: &Local, word: &str, version: &str) {
    local
        .run(&["artifacts", word, "--version-name", version])
        .expect(0);
}

// Endpoint: GET /v1/shared-pipelines
// Endpoint: GET /v1/shared-pipelines/artifacts
// Endpoint: GET /v1/shared-pipelines/artifacts/details
// Endpoint: POST /v1/shared-pipelines/artifacts
#[test]
fn publish_shows_up_in_lists_and_details() {
    let local = Local::new();
    publish_to_local(&local, "1");
    assert_eq!(column(&local.json(&["artifacts", "list"]), "versionName"), ["1"]);
    let other = ["artifacts", "list", "--prefix", "other"];
    assert!(column(&local.json(&other), "versionName").is_empty());
    let document = local.json("artifacts show --version-name 1");
    let details = &document["artifactDetails"];
    assert_eq!(
        (&details["provider"], &details["branch"]),
        (&"public-api".into(), &"main".into())
    );
    assert_eq!(details["commitHash"], local.world.git(&["rev-parse", "HEAD"]));
    assert_eq!(
        document["sharedPipelines"],
        serde_json::json!([{ "sharedPipelineId": "load", "sourcePipeline": "load", "description": null }])
    );
    let shared = local.json("shared-pipelines list");
    assert_eq!(column(&shared, "latestVersionName"), ["1"]);
}

// Endpoint: POST /v1/shared-pipelines/artifacts
#[test]
fn publish_of_existing_version_is_conflict_without_change() {
    let local = Local::new();
    publish_to_local(&local, "1");
    let before = local.json("artifacts show");
    local
        .world
        .write("load.orch.yaml", orchestration_text(&["Start", "Done"]));
    local.world.commit("second");
    local.world.push();
    local
        .run("publish --version-name 1")
        .expect(5)
        .saying(&["already"]);
    assert_eq!(local.json(&["artifacts", "show"]), before);
    // The same name under another prefix is another version.
    local.run("publish --version-name 1 --prefix other").expect(0);
}

// Endpoint: POST /v1/shared-pipelines/artifacts
#[test]
fn publish_with_ignored_resources_is_incomplete() {
    let local = Local::new();
    local.world.write("notes.md", "not a pipeline\n");
    local.world.commit("second");
    local.world.push();
    local
        .run("publish --version-name 1 --include **/*.orch.yaml --include **/*.md")
        .expect(6)
        .saying(&["notes.md"]);
}

// Endpoint: PATCH /v1/shared-pipelines/artifacts
#[test]
fn disable_moves_latest_to_previous_enabled_version_and_enable_reverts() {
    let local = Local::new();
    for version in ["1", "2", "3"] {
        publish_to_local(&local, version);
    }
    assert_eq!(latest(&local), "3");
    set_enabled(&local, "disable", "3");
    assert_eq!(latest(&local), "2");
    set_enabled(&local, "disable", "2");
    assert_eq!(latest(&local), "1");
    set_enabled(&local, "enable", "3");
    assert_eq!(latest(&local), "3");
    set_enabled(&local, "disable", "3");
    local.run("artifacts disable --version-name 1 --force").expect(0);
    local.run("artifacts show").expect(3).saying(&["404"]);
}

#[test]
fn rollback_and_prune_succeed_after_versions_are_enabled_again() {
    let local = Local::new();
    for version in ["1", "2", "3"] {
        publish_to_local(&local, version);
    }
    for version in ["3", "2"] {
        set_enabled(&local, "disable", version);
        set_enabled(&local, "enable", version);
    }
    assert_eq!(latest(&local), "3");
    let output = local.run("artifacts prune --keep 2 --yes").expect(0);
    assert_eq!(output.out, "disabled 1 version of sales: 1\n");
    local.run("artifacts rollback").expect(0);
    assert_eq!(latest(&local), "2");
}

// Endpoint: GET /v1/shared-pipelines/artifacts/details
#[test]
fn show_of_a_version_named_latest_is_not_found() {
    let local = Local::new();
    publish_to_local(&local, "1");
    for args in [
        "artifacts show --version-name latest",
        "artifacts show [Latest]",
        "artifacts disable latest",
    ] {
        local.run(args).expect(3).saying(&[
            "404",
            "omit the version: `sluicegate artifacts show --prefix sales`",
        ]);
    }
    let other = local.run("artifacts show 2").expect(3);
    assert!(!other.err.contains("omit the version"), "{}", other.all());
}

#[test]
fn version_is_an_argument_or_a_flag() {
    let local = Local::new();
    local.run("publish --prefix sales --version-name 1.0.0").expect(0);
    local.run("publish --prefix sales --version-name 1.1.0").expect(0);
    for version in ["1.0.0", "--version-name 1.0.0"] {
        for (verb, enabled) in [("disable", false), ("enable", true), ("show", true)] {
            let args = format!("artifacts {verb} --prefix sales {version}");
            local.run(&args).expect(0);
            let document = local.json("artifacts show 1.0.0 --prefix sales");
            assert_eq!(document["artifactDetails"]["enabled"], enabled, "{args}");
        }
        let both = [&[
            "artifacts",
            "enable",
            "1.0.0",
            "--prefix",
            "sales",
            "--version-name",
            "1.0.0",
        ]];
        local.run(both[0]).expect(2);
    }
    local.run("artifacts enable --prefix sales").expect(2);
}

#[test]
fn forced_disable_warns_only_if_no_version_remains() {
    let local = Local::new();
    for version in ["1", "2"] {
        publish_to_local(&local, version);
    }
    let warning = "NO VERSION IS ENABLED";
    let output = local.run("artifacts disable 2 --force").expect(0);
    assert!(!output.all().contains(warning), "{}", output.all());
    let output = local.run("artifacts disable 1 --force").expect(0);
    assert!(output.err.contains(warning), "{}", output.all());
    assert_eq!(output.out, "disabled version 1 of sales\n");
}
