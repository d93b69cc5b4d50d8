//! Published pipelines and executions: each operation as in the API document.

use crate::support::{PROJECT, call_refusing_server, creates_only_once, is_repeated, json, server_expecting};
use serde_json::json;
use sluicegate_platform::api::NewExecution;
use sluicegate_platform::http::ErrorKind;
use std::collections::BTreeMap;

const ID: &str = "7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d";

fn base() -> String {
    format!("/v1/projects/{PROJECT}/pipeline-executions")
}

fn nightly() -> NewExecution {
    NewExecution {
        pipeline_name: "sales/load orders".to_owned(),
        environment_name: "production".to_owned(),
        execution_tag: Some("nightly".to_owned()),
        scalar_variables: BTreeMap::new(),
        grid_variables: BTreeMap::new(),
    }
}

// Endpoint: GET /v1/projects/{projectId}/published-pipelines
#[tokio::test]
async fn list_of_published_pipelines_is_read_as_documented() {
    let path = format!("/v1/projects/{PROJECT}/published-pipelines");
    let answer = json(
        200,
        include_str!("../../../../tests/fixtures/api/published-pipelines.json"),
    );
    let (server, platform) = server_expecting("GET", &path, None, answer).await;
    let all = platform.fetch_published_pipelines(PROJECT).await.unwrap();
    assert_eq!(all[0].name.as_deref(), Some("sales/load orders"));
    assert_eq!(all[0].published_time.as_deref(), Some("2026-11-20T09:30:00Z"));
    let requests = server.received_requests().await.unwrap();
    assert_eq!(requests[0].url.query(), Some("page=0&size=100"));
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
#[tokio::test]
async fn start_is_sent_and_read_as_documented() {
    let body = json!({ "pipelineName": "sales/load orders", "environmentName": "production",
        "executionTag": "nightly" });
    let answer = json(
        200,
        include_str!("../../../../tests/fixtures/api/execution-created.json"),
    );
    let (_server, platform) = server_expecting("POST", &base(), Some(body), answer).await;
    let started = platform.start_execution(PROJECT, &nightly()).await.unwrap();
    assert_eq!(started.pipeline_execution_id.as_deref(), Some(ID));
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
#[tokio::test]
async fn start_without_a_tag_sends_none() {
    let body = json!({ "pipelineName": "sales/load orders", "environmentName": "production" });
    let answer = json(
        201,
        include_str!("../../../../tests/fixtures/api/execution-created.json"),
    );
    let (_server, platform) = server_expecting("POST", &base(), Some(body), answer).await;
    let execution = NewExecution {
        execution_tag: None,
        ..nightly()
    };
    platform.start_execution(PROJECT, &execution).await.unwrap();
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
// Endpoint: PATCH /v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}
#[tokio::test]
async fn execution_accepted_with_202_is_read_and_202_without_body_is_undecided() {
    let body = include_str!("../../../../tests/fixtures/api/execution-created.json");
    let (_server, platform) = server_expecting("POST", &base(), None, json(202, body)).await;
    let execution = platform.start_execution(PROJECT, &nightly()).await.unwrap();
    assert_eq!(execution.pipeline_execution_id.as_deref(), Some(ID));
    let path = format!("{}/{ID}", base());
    let (_server, platform) = server_expecting("PATCH", &path, None, json(202, body)).await;
    let execution = platform
        .terminate_execution(PROJECT, ID, "CANCELLED", false)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(execution.pipeline_execution_id.as_deref(), Some(ID));
    let (_server, platform) = server_expecting("POST", &base(), None, json(202, "")).await;
    let error = platform.start_execution(PROJECT, &nightly()).await.unwrap_err();
    assert!(error.to_string().contains("the body is empty"), "{error}");
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
#[tokio::test]
async fn start_is_repeated_only_if_surely_unprocessed() {
    creates_only_once(async |platform| platform.start_execution(PROJECT, &nightly()).await).await;
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
#[tokio::test]
async fn start_with_a_running_tag_is_a_conflict_in_the_servers_words() {
    let answer = json(409, include_str!("../../../../tests/fixtures/api/conflict.json"));
    let (_server, platform) = server_expecting("POST", &base(), None, answer).await;
    let error = platform.start_execution(PROJECT, &nightly()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(
        error
            .to_string()
            .contains("An execution with the same tag is running"),
        "{error}"
    );
    let (request_count, _) = call_refusing_server(409, async |platform| {
        platform.start_execution(PROJECT, &nightly()).await
    })
    .await;
    assert_eq!(request_count, 1);
}

// Endpoint: GET /v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}
#[tokio::test]
async fn show_is_read_as_documented() {
    let answer = json(200, include_str!("../../../../tests/fixtures/api/execution.json"));
    let (_server, platform) = server_expecting("GET", &format!("{}/{ID}", base()), None, answer).await;
    let response = platform.fetch_execution(PROJECT, ID).await.unwrap();
    assert_eq!(response.result.status.as_deref(), Some("SUCCESS"));
    assert_eq!(
        response.result.message.as_deref(),
        Some("The pipeline ended at `End Success`")
    );
    assert_eq!(
        response.result.started_at.as_deref(),
        Some("2026-11-20T09:30:00Z")
    );
    assert_eq!(
        response.result.finished_at.as_deref(),
        Some("2026-11-20T09:30:03Z")
    );
}

// Endpoint: PATCH /v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}
#[tokio::test]
async fn cancel_is_sent_and_read_as_documented() {
    let body = json!({ "forceUpdate": true, "status": "CANCELLED" });
    let answer = json(
        200,
        include_str!("../../../../tests/fixtures/api/execution-created.json"),
    );
    let (_server, platform) =
        server_expecting("PATCH", &format!("{}/{ID}", base()), Some(body), answer).await;
    let execution = platform
        .terminate_execution(PROJECT, ID, "CANCELLED", true)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(execution.pipeline_execution_id.as_deref(), Some(ID));
    is_repeated(async |platform| {
        platform
            .terminate_execution(PROJECT, ID, "CANCELLED", false)
            .await
    })
    .await;
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
#[tokio::test]
async fn start_of_what_is_not_published_is_not_found() {
    let (request_count, error) = call_refusing_server(404, async |platform| {
        platform.start_execution(PROJECT, &nightly()).await
    })
    .await;
    assert_eq!((request_count, error.kind()), (1, ErrorKind::NotFound));
}
