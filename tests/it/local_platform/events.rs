use super::{ADMIN, Local, SECRET};
use serde_json::Value;
use std::collections::BTreeSet;

fn events(lines: &str) -> Vec<Value> {
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn event_names(lines: &str) -> Vec<String> {
    let name = |event: &Value| event["eventName"].as_str().unwrap().to_owned();
    events(lines).iter().map(name).collect()
}

// Endpoint: GET /v1/events
#[test]
fn export_with_a_cursor_has_every_event_once() {
    let local = Local::new();
    local.project("one", "HYBRID");
    let export = ["events", "export", "--cursor", "c.json"];
    assert_eq!(
        event_names(&local.run(&export).expect(0).out),
        ["Project created"]
    );
    assert_eq!(local.run(&export).expect(0).out, "");
    local.project("two", "HYBRID");
    local.project("three", "HYBRID");
    assert_eq!(
        event_names(&local.run(&export).expect(0).out),
        ["Project created"; 2]
    );
}

// Endpoint: GET /v1/events
#[test]
fn export_has_an_event_of_each_change_with_all_its_fields() {
    let local = Local::with_environments();
    local.project("one", "HYBRID");
    local.secret();
    local.run("publish --version-name 1").expect(0);
    let disable = "artifacts disable --version-name 1 --force";
    local.run(disable).expect(0);
    local.world.write(
        "s.json",
        include_str!("../../fixtures/api/streaming-pipeline.json"),
    );
    let response = local.json("streaming create -f s.json");
    let id = response["streamingPipelineId"].as_str().unwrap();
    local.run(format!("streaming start {id}")).expect(0);
    local.run(format!("streaming stop {id}")).expect(0);
    let lines = local.run("events export").expect(0).out;
    let named: BTreeSet<String> = event_names(&lines).into_iter().collect();
    for name in [
        "Project created",
        "Environment created",
        "Credentials created",
        "Artifact created",
        "Artifact disabled",
        "Streaming pipeline created",
        "Streaming pipeline started",
        "Streaming pipeline stopped",
    ] {
        assert!(named.contains(name), "{name}: {named:?}");
    }
    for event in events(&lines) {
        assert_eq!(event.as_object().unwrap().len(), 13, "{event}");
    }
    assert!(!lines.contains(SECRET));
}

// Endpoint: GET /v1/events
#[test]
fn export_as_csv_has_a_line_for_each_event_and_no_formula() {
    let local = Local::new();
    local.project("=1+1", "HYBRID");
    let csv = local.run("events export --format csv").expect(0).out;
    assert_eq!(csv.lines().count(), 2, "{csv}");
    assert!(csv.contains("\"'=1+1\""), "{csv}");
}

// Endpoint: GET /v1/events
#[test]
fn export_takes_a_window_of_at_most_90_days() {
    let local = Local::new();
    local.project("one", "HYBRID");
    let time = |hours: i64| (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(hours)).to_string();
    let export = |from, to| local.run(&["events", "export", "--from", &time(from), "--to", &time(to)]);
    assert_eq!(event_names(&export(-1, 1).expect(0).out).len(), 1);
    assert_eq!(export(-2, -1).expect(0).out, "");
    assert_eq!(export(1, 2).expect(0).out, "");
    export(-91 * 24, 0).expect(2).saying(&["90 days"]);
    let without_offset = "events export --from 2026-11-20T09:30:00";
    local.run(without_offset).expect(2).saying(&["offset"]);
}

// Endpoint: GET /v1/events
#[test]
fn export_needs_the_super_admin() {
    let local = Local::new();
    local
        .call_as(ADMIN)
        .run("events export")
        .expect(4)
        .saying(&["403", "Super Admin"]);
}
