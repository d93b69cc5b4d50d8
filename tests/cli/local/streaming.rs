use super::Local;
use serde_json::{Value, json};

#[test]
fn create_start_stop_and_wait_for_each_state() {
    let local = Local::new();
    let stored: Value =
        serde_json::from_str(include_str!("../../fixtures/api/streaming-pipeline.json")).unwrap();
    local.world.write("s.json", stored.to_string());
    let made = local
        .run(&["streaming", "create", "-f", "s.json", "-o", "json"])
        .expect(0)
        .json();
    let id = made["streamingPipelineId"].as_str().unwrap();
    assert_eq!(made["streamingSource"], stored["streamingSource"]);
    assert_eq!(
        local
            .run(&["streaming", "show", id, "-o", "json"])
            .expect(0)
            .json(),
        made
    );
    local.run(&["streaming", "start", id]).expect(0);
    let wait = |state: &str| local.run(&["streaming", "status", id, "--wait", state, "--timeout", "60"]);
    wait("STREAMING").expect(0);
    local.run(&["streaming", "stop", id]).expect(0);
    wait("not_running").expect(0);
    local
        .run(&["streaming", "status", id, "--wait", "streaming", "--timeout", "0"])
        .expect(8);
}

#[test]
fn create_that_is_refused_names_the_lines() {
    let local = Local::new();
    let mut definition: Value =
        serde_json::from_str(include_str!("../../fixtures/api/streaming-pipeline.json")).unwrap();
    definition["streamingSource"]["connection"]["username"] = json!("");
    definition["streamingTarget"]["connection"]["authentication"] = Value::Null;
    local
        .world
        .write("s.json", serde_json::to_string_pretty(&definition).unwrap());
    let ended = local.run(&["streaming", "create", "-f", "s.json"]).expect(3);
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
        let said = format!("s.json:{line}:");
        assert!(
            ended
                .err
                .lines()
                .any(|it| it.contains(&said) && it.contains(field) && it.contains(words)),
            "{said} {field}: {}",
            ended.all()
        );
    }
}
