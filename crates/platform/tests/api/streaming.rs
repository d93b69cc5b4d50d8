//! Streaming pipelines: each operation as in the API document.

use crate::support::{PROJECT, creates_only_once, is_repeated, json, server_expecting};
use serde_json::{Value, json};
use sluicegate_platform::api::StreamingCommand;
use sluicegate_platform::http::ErrorKind;
use wiremock::ResponseTemplate;

const ID: &str = "5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34";
const STORED: &str = include_str!("../../../../tests/fixtures/api/streaming-pipeline.json");

fn base() -> String {
    format!("/v1/projects/{PROJECT}/streaming-pipelines")
}

fn definition() -> Value {
    let mut stored: Value = serde_json::from_str(STORED).unwrap();
    stored
        .as_object_mut()
        .unwrap()
        .shift_remove("streamingPipelineId");
    stored
}

// Endpoint: POST /v1/projects/{projectId}/streaming-pipelines
#[tokio::test]
async fn create_is_sent_and_read_as_documented() {
    let (_server, platform) = server_expecting("POST", &base(), Some(definition()), json(201, STORED)).await;
    let response = platform
        .create_streaming_pipeline(PROJECT, &definition())
        .await
        .unwrap();
    assert_eq!(response.streaming_pipeline_id.as_deref(), Some(ID));
    assert_eq!(response.raw["streamingTarget"]["tablePrefixType"], "PREFIX");
    creates_only_once(async |platform| platform.create_streaming_pipeline(PROJECT, &definition()).await)
        .await;
}

// Endpoint: POST /v1/projects/{projectId}/streaming-pipelines
#[tokio::test]
async fn create_with_an_invalid_definition_names_each_field() {
    let answer = json(
        400,
        include_str!("../../../../tests/fixtures/api/validation-error.json"),
    );
    let (_server, platform) = server_expecting("POST", &base(), None, answer).await;
    let error = platform
        .create_streaming_pipeline(PROJECT, &json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadRequest);
    let fields: Vec<(&str, &str)> = error
        .violations()
        .iter()
        .map(|entry| (entry.field.as_str(), entry.message.as_str()))
        .collect();
    assert_eq!(
        fields,
        [
            ("streamingSource.connection.username", "must not be empty"),
            ("streamingTarget.connection.authentication", "must not be null")
        ]
    );
}

// Endpoint: GET /v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}
#[tokio::test]
async fn show_is_read_as_documented() {
    let (_server, platform) =
        server_expecting("GET", &format!("{}/{ID}", base()), None, json(200, STORED)).await;
    let response = platform.fetch_streaming_pipeline(PROJECT, ID).await.unwrap();
    assert_eq!(response.name.as_deref(), Some("orders to the warehouse"));
    assert_eq!(
        response.agent_id.as_deref(),
        Some("b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60")
    );
    let (source, target) = (
        response.streaming_source.as_ref().unwrap(),
        response.streaming_target.as_ref().unwrap(),
    );
    assert_eq!(source.r#type.as_deref(), Some("source_db_a"));
    assert_eq!(
        source.connection.as_ref().unwrap()["password"]["secretType"],
        "CLOUD_A_KEY_VAULT"
    );
    assert_eq!(source.other_fields["tables"][0]["schema"], "public");
    assert_eq!(
        target.connection.as_ref().unwrap()["authentication"]["type"],
        "key-pair"
    );
    assert_eq!(target.other_fields["temporalMapping"], "NATIVE");
    assert_eq!(
        response.advanced_properties.as_ref().unwrap()["max.batch.size"],
        "2048"
    );
}

// Endpoint: POST /v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}/commands
#[tokio::test]
async fn start_and_stop_are_sent_as_documented_and_may_be_repeated() {
    for (command, word) in [
        (StreamingCommand::Start, "start"),
        (StreamingCommand::Stop, "stop"),
    ] {
        let path = format!("{}/{ID}/commands", base());
        let body = json!({ "command": word });
        let (_server, platform) =
            server_expecting("POST", &path, Some(body), ResponseTemplate::new(200)).await;
        platform
            .send_streaming_command(PROJECT, ID, command)
            .await
            .unwrap();
        is_repeated(async |platform| platform.send_streaming_command(PROJECT, ID, command).await).await;
    }
}

// Endpoint: GET /v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}/status
#[tokio::test]
async fn status_is_read_as_documented_and_any_word_passes() {
    let path = format!("{}/{ID}/status", base());
    let answer = json(
        200,
        include_str!("../../../../tests/fixtures/api/streaming-status.json"),
    );
    let (_server, platform) = server_expecting("GET", &path, None, answer).await;
    let status = platform.fetch_streaming_status(PROJECT, ID).await.unwrap();
    assert_eq!(status.status.as_deref(), Some("streaming"));
    let answer = json(200, r#"{ "status": "SNAPSHOTTING", "progress": 7 }"#);
    let (_server, platform) = server_expecting("GET", &path, None, answer).await;
    let status = platform.fetch_streaming_status(PROJECT, ID).await.unwrap();
    assert_eq!(
        (status.status.as_deref(), &status.raw["progress"]),
        (Some("SNAPSHOTTING"), &json!(7))
    );
}
