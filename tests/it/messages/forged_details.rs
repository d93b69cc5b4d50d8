//! A name or a server's message with an indented line or a list entry does not add details to a message.

use crate::support::{Call, Platform, ProgramOutput, World, change, orchestration_text, polling_call};
use serde_json::json;
use wiremock::ResponseTemplate;

/// A name with the two kinds of lines that a message may have as its details.
const NAME: &str = "x\n  forged detail\n- forged entry\n  caused by: forged.yaml";

/// A path with the same kinds of lines. The setting for team rules refuses a colon.
const PATH: &str = "x\n  forged detail\n- forged entry.yaml";

const DEFINITION: &str = "\
name: orders
agentId: b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60
streamingSource:
  type: source_db_a
  connection: { host: db.example, port: 5432 }
streamingTarget: { type: warehouse_a }
";

/// Asserts that the output contains the name, but none of its lines.
#[track_caller]
fn assert_name_on_one_line(output: &ProgramOutput) {
    let text = format!("{}\n{}", output.err, output.out);
    assert!(text.contains("forged detail"), "{}", output.all());
    for line in text.lines().map(str::trim_start) {
        let is_forged = ["forged", "- forged", "caused by: forged"]
            .iter()
            .any(|start| line.starts_with(start));
        assert!(!is_forged, "{line:?} in {}", output.all());
    }
}

#[test]
fn argument_with_detail_lines_adds_no_detail_to_error() {
    let world = change(&[("a.orch.yaml", &orchestration_text(&["Start"]))]);
    let call = Call::new(&world.work());
    for arguments in [
        &["check", "--config", NAME][..],
        &["check", "--rules", NAME],
        &["publish", "--dry-run", "--prefix", NAME, "--version-name", "1"],
        &["publish", "--dry-run", "--prefix", "p", "--version-name", NAME],
        &[
            "publish",
            "--dry-run",
            "--config-dir",
            NAME,
            "--prefix",
            "p",
            "--version-name",
            "1",
        ],
        &["rules", "explain", NAME],
        &["rules", "new", NAME],
        &["verify", NAME],
    ] {
        let output = call.run(arguments);
        assert_ne!(output.code, 0, "{arguments:?}: {}", output.all());
        assert_name_on_one_line(&output);
    }
}

#[test]
fn team_rules_path_with_detail_lines_adds_no_detail_to_error() {
    let settings = format!("review: {{ team-rules: {} }}\n", json!(PATH));
    let world = World::new();
    world.write("a.orch.yaml", orchestration_text(&["Start"]));
    world.write("sluicegate.yaml", settings);
    world.commit("settings");
    world.push();
    let call = Call::new(&world.work());
    for command in ["rules test", "check --all"] {
        assert_name_on_one_line(&call.run(command));
    }
    world.write(PATH, "rules: 1\n");
    for command in ["rules new a", "rules lint"] {
        assert_name_on_one_line(&call.run(command));
    }
}

#[test]
fn server_message_with_detail_lines_adds_no_detail_to_error() {
    let (world, platform) = (World::new(), Platform::new());
    world.write("s.yaml", DEFINITION);
    let entries = json!([
        { "field": "agentId", "message": NAME },
        { "field": "y", "message": "must not be empty" },
    ]);
    let body = json!({ "title": format!("No: {NAME}"), "validation-errors": entries });
    platform.respond_to(
        "POST",
        "/streaming-pipelines$",
        ResponseTemplate::new(400).set_body_json(body),
    );
    let output = polling_call(&platform, &world)
        .run("streaming create -f s.yaml")
        .expect(3);
    assert_name_on_one_line(&output);
    output.saying(&["\n  s.yaml:2:", "\n  y: must not be empty\nhint: "]);
}

#[test]
fn server_violations_stay_on_their_lines() {
    let (world, platform) = (World::new(), Platform::new());
    let entries = json!([
        { "field": "name", "message": NAME },
        { "field": "y", "message": "must not be empty" },
    ]);
    let body = json!({ "title": "There are validation errors", "validation-errors": entries });
    platform.respond_to(
        "POST",
        "/projects$",
        ResponseTemplate::new(400).set_body_json(body),
    );
    let output = polling_call(&platform, &world)
        .run("projects create a --warehouse WAREHOUSE_A --agent-deployment-type HYBRID")
        .expect(3);
    assert_name_on_one_line(&output);
    output.saying(&[
        "There are validation errors\n- name: x   forged detail",
        "\n- y: must not be empty\nhint: ",
    ]);
}
