//! Many simultaneous requests.

use crate::executions::platform_with_environment;
use crate::platform::Platform;
use crate::projects::GIVEN;
use crate::tasks::task;
use reqwest::Method;
use serde_json::{Value, json};
use sluicegate_test_support::platform_requests::{DETAILS, streaming_definition, text_variable};
use std::collections::BTreeMap;
use std::sync::Arc;

const CONNECTIONS: usize = 16;
const REQUESTS: usize = 2_000;

/// Returns one of many requests; they cover all kinds of operations, including rejected ones.
fn request(number: usize) -> (Method, String, Option<Value>) {
    let project = format!("/v1/projects/{GIVEN}");
    let get = |path: String| (Method::GET, path, None);
    let post = |path: String, body: Value| (Method::POST, path, Some(body));
    match number % 16 {
        0 => get("/v1/projects".into()),
        1 => get(format!("{project}/environments")),
        2 => post(
            format!("{project}/variables"),
            text_variable(&format!("v{number}"), "x"),
        ),
        3 => get(format!("{project}/variables?page=1&size=10")),
        4 => {
            let body = json!({"type": "TEXT", "behaviour": "COPIED", "value": number.to_string()});
            (
                Method::PATCH,
                format!("{project}/variables/v{}", number - 2),
                Some(body),
            )
        }
        5 => {
            let body = json!({"overrides": [{"environmentName": "production", "value": "y"}]});
            post(
                format!("{project}/variables/v{}/environment-overrides", number - 3),
                body,
            )
        }
        6 => {
            let body = json!({"pipelineName": "broken", "environmentName": "production", "executionTag": (number % 5).to_string()});
            post(format!("{project}/pipeline-executions"), body)
        }
        7 => get(format!("{project}/published-pipelines")),
        8 => post(format!("{project}/streaming-pipelines"), streaming_definition()),
        9 => post(
            "/v1/ai/agents/tasks".into(),
            task("ACT", "create, run, push", &[]),
        ),
        10 => get("/v1/ai/agents/tasks?status=RUNNING".into()),
        11 => get("/v1/events?size=50".into()),
        12 => get(format!("{DETAILS}?sharedPipelineIdPrefix=none")),
        13 => post(format!("{project}/reviews"), json!({})),
        14 => (
            Method::DELETE,
            format!("{project}/variables/v{}", number.saturating_sub(28)),
            None,
        ),
        _ => post(
            "/v1/projects".into(),
            json!({"name": "p", "warehouse": "WAREHOUSE_B", "agentDeploymentType": "FULL_SAAS"}),
        ),
    }
}

async fn send(platform: &Platform, number: usize) -> u16 {
    let (method, path, body) = request(number);
    let mut request = platform.request("root", method, &path);
    if let Some(body) = body {
        request = request.json(&body);
    }
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mixed_requests_over_16_connections_get_no_5xx() {
    let (platform, _world) = platform_with_environment().await;
    let workers = (0..CONNECTIONS).map(|worker| {
        let platform = Arc::clone(&platform);
        tokio::spawn(async move {
            let mut statuses = Vec::new();
            for number in (worker..REQUESTS).step_by(CONNECTIONS) {
                statuses.push(send(&platform, number).await);
            }
            statuses
        })
    });
    let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
    for worker in workers.collect::<Vec<_>>() {
        for status in worker.await.unwrap() {
            *counts.entry(status).or_default() += 1;
        }
    }
    assert_eq!(counts.values().sum::<usize>(), REQUESTS);
    assert!(counts.keys().all(|status| *status < 500), "{counts:?}");
    for status in [200, 201, 204, 400, 404, 409] {
        assert!(counts.contains_key(&status), "{status} is missing: {counts:?}");
    }
    let list = platform.read("/v1/ai/agents/tasks").await;
    assert_eq!(list["total"], REQUESTS / 16);
}
