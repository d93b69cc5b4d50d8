//! `streaming`: files with line numbers in errors, statuses in any letter case, waits with a deadline.

use crate::support::{Platform, World, answer, in_turn, polling_call, sent_bodies};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

const ID: &str = "5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34";
const CREATE: &str = "/streaming-pipelines$";
const STATUS: &str = "/streaming-pipelines/[^/]+/status$";

const FILE: &str = "\
name: orders
agentId: b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60
streamingSource:
  type: source_db_a
  connection:
    host: db.example
    port: 5432
    username: ''
    password: { secretLocation: vault, secretName: reader }
streamingTarget:
  type: warehouse_a
  connection:
    accountName: a
advancedProperties:
  max.batch.size: '2048'
";

fn script_statuses(platform: &Platform, statuses: &[&str]) {
    let body = |status: &&str| answer(&json!({ "status": status }));
    platform.respond_to("GET", STATUS, in_turn(statuses.iter().map(body).collect()));
}

#[test]
fn streaming_pipeline_with_unknown_keys_is_created_with_warnings() {
    let (world, platform) = (World::new(), Platform::new());
    let text = FILE
        .replace("host:", "hots:")
        .replace("accountName:", "acountName:")
        .replace("advancedProperties:", "advancedPropertis:")
        .replace(
            "    port: 5432\n",
            "    port: 5432\n    jdbcProperties: { a: 1 }\n",
        )
        + "new: { a: b }\n";
    world.write(
        "s.yaml",
        text.replace(
            "streamingTarget:",
            "  tables: [{ schema: s, tabel: t }]\nstreamingTarget:",
        ),
    );
    let created = json!({ "streamingPipelineId": ID });
    platform.respond_to("POST", CREATE, ResponseTemplate::new(201).set_body_json(&created));
    let output = polling_call(&platform, &world)
        .run("streaming create -f s.yaml")
        .expect(0);
    let reason = "the key is not in the API document, and is sent unchanged";
    assert_eq!(
        output.warnings(),
        [
            format!("warning: s.yaml:16:1: advancedPropertis: {reason}: did you mean `advancedProperties`?"),
            format!("warning: s.yaml:18:1: new: {reason}"),
            format!("warning: s.yaml:6:5: streamingSource.connection.hots: {reason}: did you mean `host`?"),
            format!(
                "warning: s.yaml:15:5: streamingTarget.connection.acountName: {reason}: did you mean \
                 `accountName`?"
            ),
            format!(
                "warning: s.yaml:11:25: streamingSource.tables[0].tabel: {reason}: did you mean `table`?"
            ),
        ]
    );
    assert_eq!(sent_bodies(&platform)[0]["new"], json!({ "a": "b" }));
}

#[test]
fn create_sends_the_definition_and_shows_what_is_stored() {
    let (world, platform) = (World::new(), Platform::new());
    world.write("s.yaml", FILE);
    let stored: Value =
        serde_json::from_str(include_str!("../../fixtures/api/streaming-pipeline.json")).unwrap();
    platform.respond_to("POST", CREATE, ResponseTemplate::new(201).set_body_json(&stored));
    let output = polling_call(&platform, &world)
        .run("streaming create -f s.yaml --key-vault other_vault")
        .expect(0);
    for word in [
        ID,
        "streamingSource.tables[0].schema",
        "advancedProperties.max.batch.size",
    ] {
        assert!(output.out.contains(word), "{word}: {}", output.all());
    }
    let body = &sent_bodies(&platform)[0];
    assert_eq!(
        body["streamingSource"]["connection"]["password"]["secretType"],
        "OTHER_VAULT"
    );
    assert_eq!(body["streamingSource"]["connection"]["port"], 5432);
    assert_eq!(body["advancedProperties"]["max.batch.size"], "2048");
    assert_eq!(body["streamingTarget"]["type"], "warehouse_a");
    assert!(!output.err.contains("lower case"), "{}", output.err);
    assert!(!output.err.contains("API document"), "{}", output.err);
    // A stored definition can be submitted again unchanged.
    world.write("s.json", stored.to_string());
    let json = polling_call(&platform, &world)
        .run("streaming create -f s.json -o json")
        .expect(0);
    assert_eq!(json.json(), stored);
    assert!(!json.err.contains("API document"), "{}", json.err);
    json.saying(&["streamingPipelineId is omitted"]);
    assert!(sent_bodies(&platform)[1].get("streamingPipelineId").is_none());
    // The platform names kinds in lower case.
    world.write("s.yaml", FILE.replace("type: warehouse_a", "type: WAREHOUSE_A"));
    polling_call(&platform, &world)
        .run("streaming create -f s.yaml")
        .expect(0)
        .saying(&["streamingTarget.type is sent in lower case: warehouse_a"]);
    let body = &sent_bodies(&platform)[2];
    assert_eq!(body["streamingTarget"]["type"], "warehouse_a");
    assert_eq!(body["streamingSource"]["type"], "source_db_a");
}

#[test]
fn create_shows_each_complaint_at_its_line() {
    let (world, platform) = (World::new(), Platform::new());
    world.write("s.yaml", FILE);
    let document: Value =
        serde_json::from_str(include_str!("../../fixtures/api/validation-error.json")).unwrap();
    platform.respond_to("POST", CREATE, ResponseTemplate::new(400).set_body_json(document));
    let output = polling_call(&platform, &world)
        .run("streaming create -f s.yaml")
        .expect(3);
    output.saying(&[
        "400 Bad Request",
        "There are validation errors",
        "s.yaml:8:5: streamingSource.connection.username: must not be empty",
        "s.yaml:12:3: streamingTarget.connection.authentication: must not be null",
    ]);
}

#[test]
fn create_shows_complaints_about_fields_that_the_file_lacks() {
    let (world, platform) = (World::new(), Platform::new());
    world.write("s.yaml", FILE);
    let entries = json!([
        { "field": "streamingSource.connection.username", "message": "must not be empty" },
        { "field": "nope.x", "message": "y" }, { "message": "only" }, { "field": "solo" }, 7,
    ]);
    let body = json!({ "title": "Bad Request", "validation-errors": entries });
    platform.respond_to("POST", CREATE, ResponseTemplate::new(400).set_body_json(body));
    let output = polling_call(&platform, &world)
        .run("streaming create -f s.yaml")
        .expect(3);
    assert!(!output.err.contains("s.yaml:1:1"), "{}", output.all());
    output.saying(&[
        "s.yaml:8:5: streamingSource.connection.username: must not be empty",
        "\n  nope.x: y\n  only\n  {\"field\":\"solo\"}\n  7\n",
    ]);
}

#[test]
fn create_sends_no_number_as_another_text() {
    let (world, platform) = (World::new(), Platform::new());
    let args = "streaming create -f s.yaml";
    let refused = |text: String, expected_text: &str| {
        world.write("s.yaml", text);
        polling_call(&platform, &world)
            .run(args)
            .expect(2)
            .saying(&[expected_text]);
    };
    refused(
        FILE.replace("'2048'", "007"),
        "s.yaml:15:3: advancedProperties.max.batch.size: is a number but must be a string: put the value in \
         quotes",
    );
    refused(
        FILE.replace(
            "port: 5432",
            "port: 5432\n    jdbcProperties: { loginTimeout: 007 }",
        ),
        "s.yaml:8:23: streamingSource.connection.jdbcProperties.loginTimeout: is the number 007, which would be sent \
         as 7",
    );
    refused(
        FILE.replace(
            "port: 5432",
            "port: 5432\n    jdbcProperties: { a: 0.12345678901234567891 }",
        ),
        "s.yaml:8:26: the number 0.12345678901234567891 has too many digits to be sent exactly",
    );
    assert!(platform.requests().is_empty());
    platform.respond_to(
        "POST",
        CREATE,
        ResponseTemplate::new(201).set_body_json(json!({})),
    );
    let properties = "port: 5432\n    jdbcProperties: { a: 1.10, b: 1e+3 }";
    world.write("s.yaml", FILE.replace("port: 5432", properties));
    polling_call(&platform, &world)
        .run(args)
        .expect(3)
        .saying(&["the streaming pipeline was created, but the response contains no id"]);
    let body = String::from_utf8_lossy(&platform.requests()[0].body).into_owned();
    assert!(body.contains(r#"{"a":1.10,"b":1e+3}"#), "{body}");
}

#[test]
fn create_never_sends_a_secret_from_the_file() {
    let (world, platform) = (World::new(), Platform::new());
    world.write(
        "s.yaml",
        FILE.replace("{ secretLocation: vault, secretName: reader }", "hunter2"),
    );
    let output = polling_call(&platform, &world)
        .run("streaming create -f s.yaml")
        .expect(2);
    assert!(!output.all().contains("hunter2"), "{}", output.all());
    output.saying(&["s.yaml:9:5: streamingSource.connection.password: the file must not contain a secret"]);
    assert!(platform.requests().is_empty());
}

#[test]
fn show_start_and_stop_name_the_pipeline() {
    let (world, platform) = (World::new(), Platform::new());
    let stored: Value =
        serde_json::from_str(include_str!("../../fixtures/api/streaming-pipeline.json")).unwrap();
    platform.respond_to("GET", "/streaming-pipelines/[^/]+$", answer(&stored));
    platform.respond_to("POST", "/commands$", ResponseTemplate::new(200));
    let run = |args: &[&str]| polling_call(&platform, &world).run(("streaming", args)).expect(0);
    assert_eq!(run(&["show", ID, "-o", "json"]).json(), stored);
    assert!(
        run(&["show", ID])
            .out
            .contains("streamingTarget.connection.authentication.type")
    );
    let started = run(&["start", ID]);
    assert_eq!(
        started.out,
        format!("sent the streaming agent the command to start {ID}\n")
    );
    run(&["stop", ID]);
    let commands: Vec<Value> = sent_bodies(&platform)[2..].to_vec();
    assert_eq!(
        commands,
        [json!({ "command": "start" }), json!({ "command": "stop" })]
    );
}

#[test]
fn status_shows_any_word() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to(
        "GET",
        STATUS,
        answer(&json!({ "status": "SNAPSHOTTING", "done": 7 })),
    );
    let output = polling_call(&platform, &world)
        .run(&["streaming", "status", ID])
        .expect(0);
    insta::assert_snapshot!(output.out, @"
    status  SNAPSHOTTING
    done    7
    ");
}

#[test]
fn status_waits_for_a_state_in_any_case() {
    let (world, platform) = (World::new(), Platform::new());
    script_statuses(&platform, &["starting", "starting", "SNAPSHOTTING", "STREAMING"]);
    let output = polling_call(&platform, &world)
        .run(&["streaming", "status", ID, "--wait", "streaming", "-o", "json"])
        .expect(0);
    assert_eq!(output.json(), json!({ "status": "STREAMING" }));
    output.saying(&["the status is starting", "the status is SNAPSHOTTING"]);
    assert_eq!(platform.requests().len(), 4);
}

#[test]
fn status_that_is_not_reached_in_time_is_exit_8() {
    let (world, platform) = (World::new(), Platform::new());
    script_statuses(&platform, &["stopping", "not_running"]);
    polling_call(&platform, &world)
        .run(&["streaming", "status", ID, "--wait", "streaming", "--timeout", "0"])
        .expect(8)
        .saying(&[
            "was not streaming within 0 s: its status is stopping",
            "hint: set a longer time limit with --timeout",
        ]);
    // No document lists the status of a stopped pipeline.
    script_statuses(&platform, &["not_running"]);
    polling_call(&platform, &world)
        .run(&["streaming", "status", ID, "--wait", "stopped", "--timeout", "0"])
        .expect(8)
        .saying(&[
            "its status is not_running",
            "or wait for the platform's word: `--wait not_running`",
        ]);
}

#[test]
fn wait_for_an_empty_status_sends_nothing() {
    let (world, platform) = (World::new(), Platform::new());
    for status in ["", " "] {
        polling_call(&platform, &world)
            .run(&["streaming", "status", ID, "--wait", status])
            .expect(2)
            .saying(&["the value of --wait is empty"]);
    }
    assert_eq!(platform.requests().len(), 0);
}

#[test]
fn response_without_a_status_is_reported_as_unknown() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("GET", STATUS, answer(&json!({})));
    polling_call(&platform, &world)
        .run(&["streaming", "status", ID, "--wait", "streaming", "--timeout", "0"])
        .expect(8)
        .saying(&["the status is unknown"]);
}

#[test]
fn name_in_place_of_an_id_is_explained() {
    let (world, platform) = (World::new(), Platform::new());
    for command in ["start", "stop", "show", "status"] {
        let hint = "hint: pass the ID that `sluicegate streaming create` printed";
        platform
            .call(&world)
            .run(&["streaming", command, "orders"])
            .expect(3)
            .saying(&[hint]);
        let id = "5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34";
        let output = platform.call(&world).run(&["streaming", command, id]).expect(3);
        assert!(!output.err.contains(hint), "{}", output.all());
    }
}

#[test]
fn status_that_is_not_reached_names_start_only_if_it_helps() {
    let world = World::new();
    for (wanted, can_start) in [("Streaming", true), ("starting", true), ("not_running", false)] {
        let platform = Platform::new();
        script_statuses(&platform, &["stopping"]);
        let args = ["streaming", "status", ID, "--timeout", "0", "--wait", wanted];
        let output = polling_call(&platform, &world).run(&args).expect(8);
        let output = output.saying(&["set a longer time limit with --timeout"]);
        assert_eq!(
            output.err.contains("`sluicegate streaming start"),
            can_start,
            "{}",
            output.err
        );
    }
}
