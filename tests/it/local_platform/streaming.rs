use super::Local;
use serde_json::{Value, json};

fn definition() -> Value {
    serde_json::from_str(include_str!("../../fixtures/api/streaming-pipeline.json")).unwrap()
}

/// Creates a streaming pipeline and returns its ID.
fn create_pipeline(local: &Local) -> String {
    local.world.write("s.json", definition().to_string());
    let response = local.json("streaming create -f s.json");
    response["streamingPipelineId"].as_str().unwrap().to_owned()
}

// Endpoint: POST /v1/projects/{projectId}/streaming-pipelines
// Endpoint: GET /v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}
#[test]
fn create_stores_what_show_shows() {
    let local = Local::new();
    let id = create_pipeline(&local);
    let document = local.json(format!("streaming show {id}"));
    assert_eq!(document["streamingPipelineId"], id);
    for part in [
        "name",
        "agentId",
        "streamingSource",
        "streamingTarget",
        "advancedProperties",
    ] {
        assert_eq!(document[part], definition()[part], "{part}");
    }
    let text = local.run(format!("streaming show {id}")).expect(0);
    assert!(
        text.out.contains("streamingSource.tables[0].schema"),
        "{}",
        text.all()
    );
}

// Endpoint: POST /v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}/commands
// Endpoint: GET /v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}/status
#[test]
fn start_and_stop_are_received_before_the_status_is_reached() {
    let local = Local::new();
    let id = create_pipeline(&local);
    let status = || local.json(format!("streaming status {id}"))["status"].clone();
    let wait = |state: &str| local.run(&["streaming", "status", &id, "--wait", state, "--timeout", "60"]);
    assert_eq!(status(), "not_running");
    local.run(format!("streaming start {id}")).expect(0);
    let now = status();
    assert!(now == "starting" || now == "streaming", "{now}");
    wait("STREAMING").expect(0);
    local.run(format!("streaming stop {id}")).expect(0);
    wait("not_running").expect(0);
}

// Endpoint: GET /v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}/status
#[test]
fn status_that_does_not_come_in_time_is_exit_8() {
    let local = Local::new();
    let id = create_pipeline(&local);
    local
        .run(format!("streaming status {id} --wait streaming --timeout 0"))
        .expect(8)
        .saying(&["its status is not_running"]);
    let unknown = "5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34";
    local
        .run(&["streaming", "start", unknown])
        .expect(3)
        .saying(&["404"]);
}

// Endpoint: POST /v1/projects/{projectId}/streaming-pipelines
#[test]
fn create_that_is_refused_names_the_lines() {
    let local = Local::new();
    let mut definition = definition();
    definition["streamingSource"]["connection"]["username"] = json!("");
    definition["streamingTarget"]["connection"]["authentication"] = Value::Null;
    local
        .world
        .write("s.json", serde_json::to_string_pretty(&definition).unwrap());
    let output = local.run("streaming create -f s.json").expect(3);
    let text = serde_json::to_string_pretty(&definition).unwrap();
    for (field, words) in [
        ("streamingSource.connection.username", "must not be empty"),
        ("streamingTarget.connection.authentication", "must not be null"),
    ] {
        let key = format!("\"{}\": ", field.rsplit('.').next().unwrap());
        let lines = text.lines().enumerate().filter(|(_, line)| line.contains(&key));
        let line = if field.contains("Source") {
            lines.min()
        } else {
            lines.max()
        }
        .unwrap()
        .0 + 1;
        let expected_text = format!("s.json:{line}:");
        assert!(
            output
                .err
                .lines()
                .any(|it| it.contains(&expected_text) && it.contains(field) && it.contains(words)),
            "{expected_text} {field}: {}",
            output.all()
        );
    }
}
