//! Streaming pipelines.

use crate::platform::{Platform, fields, same_keys};
use crate::projects::{GIVEN, with_given};
use reqwest::Method;
use serde_json::{Value, json};
use sluicegate_test_support::platform_requests::{STREAMING_PIPELINE_DOCUMENT, streaming_definition};
use std::time::Duration;
use uuid::Uuid;

fn path() -> String {
    format!("/v1/projects/{GIVEN}/streaming-pipelines")
}

/// Creates a pipeline and returns its path.
pub async fn create_streaming_pipeline(platform: &Platform) -> String {
    let created = platform.post(&path(), streaming_definition(), 201).await;
    format!("{}/{}", path(), created["streamingPipelineId"].as_str().unwrap())
}

/// Sends a command.
pub async fn command(platform: &Platform, pipeline: &str, command: &str) {
    let body = json!({"command": command});
    let operation = (Method::POST, &*format!("{pipeline}/commands"));
    let answer = platform.call("member", operation, Some(body), 200).await;
    assert_eq!(answer, json!({}));
}

/// Returns the current status.
pub async fn status(platform: &Platform, pipeline: &str) -> String {
    let document = platform
        .call("member", (Method::GET, &format!("{pipeline}/status")), None, 200)
        .await;
    same_keys(
        &document,
        include_str!("../../../../tests/fixtures/api/streaming-status.json"),
    );
    document["status"].as_str().unwrap().to_owned()
}

// Endpoint: POST /v1/projects/{projectId}/streaming-pipelines
// Endpoint: GET /v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}
#[tokio::test]
async fn post_streaming_pipelines_stores_the_definition() {
    let (platform, _world) = with_given().await;
    let mut sent = streaming_definition();
    sent["other"] = json!([1]);
    let mut with_id = sent.clone();
    with_id["streamingPipelineId"] = "mine".into();
    let created = platform.post(&path(), with_id, 201).await;
    let id: Uuid = created["streamingPipelineId"].as_str().unwrap().parse().unwrap();
    let mut expected = sent;
    expected["streamingPipelineId"] = id.to_string().into();
    assert_eq!(created, expected);
    assert_eq!(platform.read(&format!("{}/{id}", path())).await, expected);
    let created = platform.post(&path(), streaming_definition(), 201).await;
    same_keys(&created, STREAMING_PIPELINE_DOCUMENT);
}

// Endpoint: POST /v1/projects/{projectId}/streaming-pipelines
#[tokio::test]
async fn post_streaming_pipelines_refuses_as_the_api_document_shows() {
    let (platform, _world) = with_given().await;
    let document: Value = serde_json::from_str(include_str!(
        "../../../../tests/fixtures/api/validation-error.json"
    ))
    .unwrap();
    let change = |change: &dyn Fn(&mut Value)| {
        let mut definition = streaming_definition();
        change(&mut definition);
        definition
    };
    for definition in [
        change(&|d| {
            d["streamingSource"]["connection"]["username"] = "".into();
            d["streamingTarget"]["connection"]["authentication"] = Value::Null;
        }),
        change(&|d| {
            d["streamingSource"]["connection"]["username"] = Value::Null;
            d["streamingTarget"]["connection"] = json!({});
        }),
        change(&|d| {
            d["streamingSource"] = json!({});
            d["streamingTarget"] = json!({"connection": null});
        }),
        json!({"name": "n", "agentId": Uuid::from_u128(1)}),
        json!({"name": "n", "agentId": Uuid::from_u128(1), "streamingSource": null, "streamingTarget": null}),
    ] {
        let problem = platform.post(&path(), definition, 400).await;
        assert_eq!(problem["validation-errors"], document["validation-errors"]);
        assert_eq!(
            (&problem["title"], &problem["status"]),
            (&document["title"], &json!(400))
        );
        assert_eq!(problem["instance"], path());
        assert!(problem["detail"].as_str().unwrap().contains("validation error"));
    }
}

// Endpoint: POST /v1/projects/{projectId}/streaming-pipelines
#[tokio::test]
async fn post_streaming_pipelines_finds_everything_at_once() {
    let (platform, _world) = with_given().await;
    let body = json!({
        "name": "", "agentId": "x", "advancedProperties": {"a": 1},
        "streamingSource": {"type": "other", "tables": [{"schema": "s"}], "connection": {
            "host": 1, "port": 0, "password": {"secretType": "other", "secretLocation": ""}, "jdbcProperties": [],
        }},
        "streamingTarget": {"type": "WAREHOUSE_A", "role": 1, "connection": {
            "accountName": {}, "authentication": {"type": 1, "privateKey": {}},
        }},
    });
    let problem = platform.post(&path(), body, 400).await;
    let expected = [
        "name",
        "agentId",
        "streamingSource.type",
        "streamingSource.tables[0].table",
        "streamingSource.connection.username",
        "streamingSource.connection.host",
        "streamingSource.connection.port",
        "streamingSource.connection.password.secretType",
        "streamingSource.connection.password.secretLocation",
        "streamingSource.connection.password.secretName",
        "streamingSource.connection.jdbcProperties",
        "streamingTarget.type",
        "streamingTarget.role",
        "streamingTarget.connection.accountName",
        "streamingTarget.connection.authentication.type",
        "streamingTarget.connection.authentication.privateKey.secretType",
        "streamingTarget.connection.authentication.privateKey.secretLocation",
        "streamingTarget.connection.authentication.privateKey.secretName",
        "advancedProperties.a",
    ];
    assert_eq!(fields(&problem), expected);
    for wrong in [json!("x"), json!([])] {
        let body = json!({"name": "n", "agentId": Uuid::from_u128(1), "streamingSource": wrong,
            "streamingTarget": {"connection": wrong}});
        let problem = platform.post(&path(), body, 400).await;
        assert_eq!(
            fields(&problem),
            ["streamingSource", "streamingTarget.connection"]
        );
    }
}

// Endpoint: POST /v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}/commands
// Endpoint: GET /v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}/status
#[tokio::test]
async fn post_commands_start_and_stop() {
    let (platform, _world) = with_given().await;
    let pipeline = create_streaming_pipeline(&platform).await;
    assert_eq!(status(&platform, &pipeline).await, "not_running");
    command(&platform, &pipeline, "start").await;
    assert_eq!(status(&platform, &pipeline).await, "starting");
    platform.wait(Duration::from_secs(3));
    assert_eq!(status(&platform, &pipeline).await, "streaming");
    command(&platform, &pipeline, "start").await;
    assert_eq!(status(&platform, &pipeline).await, "streaming");
    command(&platform, &pipeline, "stop").await;
    assert_eq!(status(&platform, &pipeline).await, "stopping");
    platform.wait(Duration::from_secs(2));
    assert_eq!(status(&platform, &pipeline).await, "not_running");
    command(&platform, &pipeline, "stop").await;
    assert_eq!(status(&platform, &pipeline).await, "not_running");
    command(&platform, &pipeline, "start").await;
    command(&platform, &pipeline, "stop").await;
    command(&platform, &pipeline, "start").await;
    assert_eq!(status(&platform, &pipeline).await, "starting");
}

// Endpoint: POST /v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}/commands
#[tokio::test]
async fn post_commands_knows_start_and_stop_alone() {
    let (platform, _world) = with_given().await;
    let pipeline = create_streaming_pipeline(&platform).await;
    for body in [
        json!({"command": "restart"}),
        json!({"command": "START"}),
        json!({}),
        json!({"command": 1}),
    ] {
        let problem = platform.post(&format!("{pipeline}/commands"), body, 400).await;
        assert_eq!(fields(&problem), ["command"]);
    }
    let unknown = format!("{}/{}", path(), Uuid::from_u128(1));
    platform
        .post(&format!("{unknown}/commands"), json!({"command": "start"}), 404)
        .await;
}

// Endpoint: GET /v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}
#[tokio::test]
async fn get_streaming_pipelines_are_those_of_the_project() {
    let (platform, _world) = with_given().await;
    let pipeline = create_streaming_pipeline(&platform).await;
    let project = json!({"name": "p", "warehouse": "WAREHOUSE_A", "agentDeploymentType": "HYBRID"});
    let other = platform.post("/v1/projects", project, 201).await;
    let elsewhere = pipeline.replace(&GIVEN.to_string(), other["projectId"].as_str().unwrap());
    let unknown = format!("{}/{}", path(), Uuid::from_u128(1));
    for place in ["", "/status"] {
        for (path, status) in [
            (&pipeline, 200),
            (&elsewhere, 404),
            (&unknown, 404),
            (&format!("{}/x", path()), 400),
        ] {
            let path = format!("{path}{place}");
            platform.call("root", (Method::GET, &path), None, status).await;
        }
    }
}
