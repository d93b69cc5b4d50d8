//! The audit log.

use crate::platform::{Platform, column, expect_problem, fields, options, same_keys, stepped_clock, success};
use crate::projects::{GIVEN, with_environments, with_given};
use crate::streaming;
use crate::tasks::{begin, task};
use reqwest::Method;
use serde_json::{Value, json};
use sluicegate_local_platform::Options;
use sluicegate_test_support::platform_requests::{AGENT, PUBLISH_PARTS, environment_request};
use std::time::Duration;

const EVENTS: &str = "/v1/events";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn project() -> String {
    format!("/v1/projects/{GIVEN}")
}

async fn events(platform: &Platform, query: &str) -> Value {
    let path = format!("{EVENTS}?{query}");
    platform.call("root", (Method::GET, &path), None, 200).await
}

// Endpoint: GET /v1/events
#[tokio::test]
async fn get_events_is_for_super_admins() {
    let platform = Platform::empty().await;
    for token in ["admin", "member"] {
        platform.call(token, (Method::GET, EVENTS), None, 403).await;
        platform
            .call(token, (Method::GET, "/v1/events?size=0"), None, 403)
            .await;
    }
    let list = events(&platform, "").await;
    assert_eq!(list, json!({"results": [], "page": 0, "size": 20, "total": 0}));
    expect_problem(platform.anonymous(Method::GET, EVENTS).send().await.unwrap(), 401).await;
}

// Endpoint: GET /v1/events
#[tokio::test]
async fn get_events_has_one_for_each_success_named_as_in_the_table() {
    let (platform, _world) = with_given().await;
    success(platform.publish("p", "1", &PUBLISH_PARTS).await).await;
    success(platform.set_enabled("p", "1", false).await).await;
    success(platform.set_enabled("p", "1", true).await).await;
    let body = json!({"name": "p", "warehouse": "WAREHOUSE_A", "agentDeploymentType": "HYBRID"});
    platform.post("/v1/projects", body, 201).await;
    let secret = json!({"name": "n", "type": "DWH_PASSWORD", "key": "k", "value": {"k": "v"}});
    platform
        .post(&format!("/v1/secrets/{AGENT}/secret-value"), secret, 201)
        .await;
    with_environments(&platform, &project(), &["production"]).await;
    let pipeline = streaming::create_streaming_pipeline(&platform).await;
    streaming::command(&platform, &pipeline, "start").await;
    streaming::command(&platform, &pipeline, "stop").await;
    let agent = begin(&platform, task("ACT", "sample, run, commit", &[])).await;
    platform
        .call(
            "member",
            (Method::POST, &format!("{agent}/messages")),
            Some(json!({"message": "go"})),
            202,
        )
        .await;
    for _ in 0..3 {
        platform.wait(Duration::from_secs(20));
        let pending = platform.read(&agent).await["pendingDecisions"][0]["toolId"].clone();
        let decisions =
            json!({"decisions": [{"type": "tool", "id": pending, "approved": true, "scope": "ONCE"}]});
        platform.post(&format!("{agent}/decisions"), decisions, 202).await;
    }
    let expected = [
        "Artifact created",
        "Artifact disabled",
        "Project created",
        "Credentials created",
        "Environment created",
        "Streaming pipeline created",
        "Streaming pipeline started",
        "Streaming pipeline stopped",
        "Prompt submitted",
        "Prompt submitted",
        "Sampling permission acceptance",
        "Pipeline execution permission acceptance",
        "Git action permission acceptance",
    ];
    assert_eq!(platform.events().await, expected);
}

// Endpoint: GET /v1/events
#[tokio::test]
async fn get_events_has_none_for_a_refusal() {
    let (platform, _world) = with_given().await;
    success(platform.publish("p", "1", &PUBLISH_PARTS).await).await;
    with_environments(&platform, &project(), &["production"]).await;
    let agent = begin(&platform, task("ACT", "push", &[])).await;
    let before = platform.events().await;
    expect_problem(platform.publish("p", "1", &PUBLISH_PARTS).await, 409).await;
    expect_problem(platform.publish("", "2", &PUBLISH_PARTS).await, 400).await;
    expect_problem(platform.set_enabled("p", "none", false).await, 404).await;
    platform.post("/v1/projects", json!({}), 400).await;
    platform
        .post(&format!("/v1/secrets/{AGENT}/secret-value"), json!({}), 400)
        .await;
    platform
        .post(
            &format!("{}/environments", project()),
            environment_request("production"),
            409,
        )
        .await;
    platform
        .post(&format!("{}/streaming-pipelines", project()), json!({}), 400)
        .await;
    platform
        .post(
            &format!("{}/streaming-pipelines/{AGENT}/commands", project()),
            json!({"command": "start"}),
            404,
        )
        .await;
    platform.post(&format!("{agent}/messages"), json!({}), 400).await;
    platform.wait(Duration::from_secs(20));
    for decision in [
        json!({"id": "tool-1", "approved": false}),
        json!({"id": "other", "approved": true}),
    ] {
        let mut decision = decision;
        decision["type"] = "tool".into();
        platform
            .post(
                &format!("{agent}/decisions"),
                json!({"decisions": [decision]}),
                202,
            )
            .await;
    }
    assert_eq!(platform.events().await, before);
}

// Endpoint: GET /v1/events
#[tokio::test]
async fn get_events_has_all_thirteen_keys() {
    let (platform, _world) = with_given().await;
    let pipeline = streaming::create_streaming_pipeline(&platform).await;
    success(platform.publish("group", "1", &PUBLISH_PARTS).await).await;
    success(platform.publish("remote", "1", &PUBLISH_PARTS).await).await;
    let list = events(&platform, "").await;
    same_keys(&list, include_str!("../../../../tests/fixtures/api/events.json"));
    let first = &list["results"][0];
    assert_eq!(first.as_object().unwrap().len(), 13);
    assert_eq!(first["eventType"], "STREAMING_PIPELINE_CREATED");
    assert_eq!(first["eventProjectId"], GIVEN.to_string());
    assert!(pipeline.ends_with(first["eventSubjectId"].as_str().unwrap()));
    assert_eq!(first["eventSubjectName"], "orders to the warehouse");
    assert_eq!(first["actorEmail"], "admin@platform.example");
    assert_eq!(first["eventTimestamp"], "2026-11-20T09:30:00.000Z");
    assert_eq!(list["results"][1]["eventProjectId"], Value::Null);
    assert_eq!(list["results"][1].as_object().unwrap().len(), 13);
    assert_eq!(list["results"][2]["eventProjectId"], GIVEN.to_string());
    streaming::command(&platform, &pipeline, "start").await;
    let list = events(&platform, "").await;
    assert_eq!(list["results"][3]["actorEmail"], "member@platform.example");
    assert_ne!(list["results"][3]["actorId"], first["actorId"]);
}

// Endpoint: GET /v1/events
#[tokio::test]
async fn get_events_takes_a_time_from_and_a_time_to() {
    let (platform, _world) = with_given().await;
    for version in ["1", "2", "3"] {
        success(platform.publish("p", version, &PUBLISH_PARTS).await).await;
        platform.wait(Duration::from_secs(60));
    }
    for (query, expected) in [
        ("", &["1", "2", "3"][..]),
        ("from=2026-11-20T09:31:00Z", &["2", "3"]),
        ("from=2026-11-20T10:31:00%2B01:00", &["2", "3"]),
        ("from=2026-11-20T10:31:00+01:00", &["2", "3"]),
        ("from=2026-11-20T09:31:00.001Z", &["3"]),
        ("to=2026-11-20T09:31:00Z", &["1", "2"]),
        ("to=2026-11-20T04:30:59.999-05:00", &["1"]),
        ("from=2026-11-20T09:31:00Z&to=2026-11-20T09:31:00Z", &["2"]),
        ("from=2026-11-20T09:32:00Z&to=2026-11-20T09:31:00Z", &[]),
    ] {
        let list = events(&platform, query).await;
        assert_eq!(column(&list["results"], "eventSubjectName"), expected, "{query}");
        assert_eq!(list["total"], expected.len());
    }
    for (query, field) in [
        ("from=2026-11-20T09:31:00", "from"),
        ("from=2026-11-20", "from"),
        ("to=yesterday", "to"),
        ("to=", "to"),
        ("size=0", "size"),
        ("size=101", "size"),
        ("page=-1", "page"),
    ] {
        let operation = (Method::GET, &*format!("{EVENTS}?{query}"));
        let problem = platform.call("root", operation, None, 400).await;
        assert_eq!(fields(&problem), [field], "{query}");
    }
}

// Endpoint: GET /v1/events
#[tokio::test]
async fn get_events_pages_in_the_order_of_time_while_new_ones_arrive() {
    let (platform, _world) = with_given().await;
    let mut names = Vec::new();
    for page in 0..3 {
        for version in [2 * page, 2 * page + 1] {
            success(platform.publish("p", &version.to_string(), &PUBLISH_PARTS).await).await;
        }
        let list = events(&platform, &format!("size=2&page={page}")).await;
        assert_eq!(list["total"], 2 * page + 2);
        names.extend(
            column(&list["results"], "eventSubjectName")
                .into_iter()
                .map(str::to_owned),
        );
    }
    assert_eq!(names, ["0", "1", "2", "3", "4", "5"]);
}

// Endpoint: GET /v1/events
#[tokio::test]
async fn get_events_reaches_90_days_back() {
    let platform = Platform::with_options(Options {
        clock: stepped_clock(),
        ..options()
    })
    .await;
    success(platform.publish("p", "old", &PUBLISH_PARTS).await).await;
    platform.wait(DAY);
    success(platform.publish("p", "new", &PUBLISH_PARTS).await).await;
    platform.wait(DAY * 89);
    assert_eq!(events(&platform, "").await["total"], 2);
    platform.wait(Duration::from_millis(1));
    for query in ["", "from=2026-01-01T00:00:00Z"] {
        let list = events(&platform, query).await;
        assert_eq!(column(&list["results"], "eventSubjectName"), ["new"]);
        assert_eq!(list["total"], 1);
    }
}
