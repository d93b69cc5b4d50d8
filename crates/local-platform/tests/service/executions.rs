//! Published pipelines and their executions.

use crate::platform::{Platform, column, fields, options, same_keys, stepped_clock};
use crate::projects::{GIVEN, with_environments};
use reqwest::Method;
use serde_json::{Value, json};
use sluicegate_local_platform::Options;
use sluicegate_test_support::World;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

const GOOD: &str = "type: orchestration
pipeline:
  components:
    Start: { type: start, transitions: { unconditional: [Work] } }
    Work: { type: run-query, transitions: { success: [Fine], failure: [Broken] } }
    Fine: { type: end-success }
    Broken: { type: end-failure }
";
const BAD: &str = "type: orchestration
pipeline:
  components:
    Start: { type: start, transitions: { unconditional: [Broken] } }
    Broken: { type: end-failure }
";
const ALREADY: Duration = Duration::from_millis(1900);
const LONG: Duration = Duration::from_secs(10);

fn project() -> String {
    format!("/v1/projects/{GIVEN}")
}

/// Creates a project with two pipelines on its default branch and the environment `production`.
pub async fn platform_with_environment() -> (Arc<Platform>, World) {
    let world = World::new();
    world.write("sales/load orders.orch.yaml", GOOD);
    world.write("broken.orch.yaml", BAD);
    world.write("clean.tran.yaml", "type: transformation\npipeline: {}");
    world.write("notes.md", "");
    world.commit("first");
    world.push();
    let platform = Platform::with_stepped_clock(GIVEN, world.remote()).await;
    with_environments(&platform, &project(), &["production"]).await;
    (Arc::new(platform), world)
}

fn request(pipeline: &str, tag: Option<&str>) -> Value {
    json!({"pipelineName": pipeline, "environmentName": "production", "executionTag": tag})
}

async fn start(platform: &Platform, pipeline: &str, tag: Option<&str>) -> String {
    let path = format!("{}/pipeline-executions", project());
    let started = platform
        .call("member", (Method::POST, &path), Some(request(pipeline, tag)), 201)
        .await;
    same_keys(
        &started,
        include_str!("../../../../tests/fixtures/api/execution-created.json"),
    );
    format!("{path}/{}", started["pipelineExecutionId"].as_str().unwrap())
}

async fn status(platform: &Platform, execution: &str) -> String {
    let document = platform.call("member", (Method::GET, execution), None, 200).await;
    same_keys(
        &document,
        include_str!("../../../../tests/fixtures/api/execution.json"),
    );
    let result = &document["result"];
    let status = result["status"].as_str().unwrap();
    assert_eq!(result["finishedAt"].is_null(), status == "RUNNING", "{document}");
    status.to_owned()
}

// Endpoint: GET /v1/projects/{projectId}/published-pipelines
#[tokio::test]
async fn get_published_pipelines_lists_the_head_of_the_default_branch() {
    let (platform, world) = platform_with_environment().await;
    let path = format!("{}/published-pipelines", project());
    let list = platform.read(&path).await;
    same_keys(
        &list,
        include_str!("../../../../tests/fixtures/api/published-pipelines.json"),
    );
    assert_eq!(
        column(&list["results"], "name"),
        ["broken", "clean", "sales/load orders"]
    );
    assert_eq!(list["results"][0]["publishedTime"], "2026-11-20T09:30:00.000Z");
    world.git("checkout -q -b other");
    world.write("on another branch.orch.yaml", GOOD);
    world.commit("second");
    world.push();
    assert_eq!(platform.read(&path).await["total"], 3);
    world.git("checkout -q main");
    world.write("a.orch.yaml", GOOD);
    world.commit("third");
    world.push();
    let second = platform.read(&format!("{path}?size=2&page=1")).await;
    assert_eq!(column(&second["results"], "name"), ["clean", "sales/load orders"]);
    assert_eq!(second["total"], 4);
    for query in ["size=0", "size=101", "page=x"] {
        platform.get_refused(&format!("{path}?{query}"), 400).await;
    }
}

// Endpoint: GET /v1/projects/{projectId}/published-pipelines
#[tokio::test]
async fn get_published_pipelines_of_an_empty_repository_lists_none() {
    let world = World::new();
    let platform = Platform::with_stepped_clock(GIVEN, world.remote()).await;
    let path = format!("{}/published-pipelines", project());
    assert_eq!(platform.read(&path).await["results"], json!([]));
    let body = json!({"name": "p", "warehouse": "WAREHOUSE_A", "agentDeploymentType": "HYBRID"});
    let created_project = platform.post("/v1/projects", body, 201).await;
    let path = format!(
        "/v1/projects/{}/published-pipelines",
        created_project["projectId"].as_str().unwrap()
    );
    let list = platform.call("root", (Method::GET, &path), None, 200).await;
    assert_eq!(list["total"], 0);
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
// Endpoint: GET /v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}
#[tokio::test]
async fn post_executions_runs_for_about_two_seconds_and_ends_at_the_marker() {
    let (platform, _world) = platform_with_environment().await;
    for (pipeline, end, message) in [
        ("sales/load orders", "SUCCESS", "The pipeline ended at `Fine`"),
        ("broken", "FAILED", "The pipeline ended at `Broken`"),
        ("clean", "SUCCESS", "The transformation ran to its end"),
    ] {
        let execution = start(&platform, pipeline, None).await;
        assert_eq!(status(&platform, &execution).await, "RUNNING");
        platform.wait(ALREADY);
        assert_eq!(status(&platform, &execution).await, "RUNNING");
        platform.wait(Duration::from_secs(1));
        assert_eq!(status(&platform, &execution).await, end);
        let document = platform.read(&execution).await;
        assert_eq!(document["result"]["message"], message);
        platform.wait(LONG);
        assert_eq!(platform.read(&execution).await, document);
    }
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
#[tokio::test]
async fn post_executions_needs_a_published_pipeline_and_an_environment() {
    let (platform, _world) = platform_with_environment().await;
    let path = format!("{}/pipeline-executions", project());
    for name in [
        "none",
        "sales/load orders.orch.yaml",
        "sales",
        "notes",
        "../x",
        "a\u{0}b",
        "Broken",
    ] {
        platform.post(&path, request(name, None), 404).await;
    }
    let mut body = request("broken", None);
    body["environmentName"] = "nowhere".into();
    platform.post(&path, body, 404).await;
    let problem = platform.post(&path, json!({"executionTag": ""}), 400).await;
    assert_eq!(
        fields(&problem),
        ["pipelineName", "environmentName", "executionTag"]
    );
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
#[tokio::test]
async fn post_executions_refuses_a_tag_exactly_while_it_runs() {
    let (platform, _world) = platform_with_environment().await;
    let path = format!("{}/pipeline-executions", project());
    let first = start(&platform, "broken", Some("nightly")).await;
    platform.wait(ALREADY);
    let conflict = platform.post(&path, request("clean", Some("nightly")), 409).await;
    same_keys(
        &conflict,
        include_str!("../../../../tests/fixtures/api/conflict.json"),
    );
    assert_eq!(conflict["status"], 409);
    assert!(conflict["error"].as_str().unwrap().contains("nightly"));
    start(&platform, "broken", Some("other")).await;
    start(&platform, "broken", None).await;
    start(&platform, "broken", None).await;
    platform.wait(Duration::from_millis(200));
    assert_eq!(status(&platform, &first).await, "FAILED");
    let second = start(&platform, "broken", Some("nightly")).await;
    terminate(&platform, &second).await;
    start(&platform, "broken", Some("nightly")).await;
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
#[tokio::test]
async fn post_executions_holds_a_tag_per_project() {
    let (_, world) = platform_with_environment().await;
    let other = Uuid::from_u128(9);
    let platform = Platform::with_options(Options {
        projects: vec![(GIVEN, world.remote()), (other, world.remote())],
        clock: stepped_clock(),
        ..options()
    })
    .await;
    for id in [GIVEN, other] {
        let project = format!("/v1/projects/{id}");
        with_environments(&platform, &project, &["production"]).await;
        let path = format!("{project}/pipeline-executions");
        platform.post(&path, request("clean", Some("t")), 201).await;
        platform.post(&path, request("clean", Some("t")), 409).await;
    }
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
#[tokio::test]
async fn post_executions_lets_one_of_32_callers_have_a_tag() {
    let (platform, _world) = platform_with_environment().await;
    let callers = (0..32).map(|_| {
        let platform = Arc::clone(&platform);
        tokio::spawn(async move {
            let path = format!("{}/pipeline-executions", project());
            let body = request("broken", Some("one"));
            let sent = platform.request("member", Method::POST, &path).json(&body).send();
            sent.await.unwrap().status().as_u16()
        })
    });
    let mut statuses = Vec::new();
    for caller in callers.collect::<Vec<_>>() {
        statuses.push(caller.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses[0], 201);
    assert_eq!(statuses[1..], [409; 31]);
}

async fn terminate(platform: &Platform, execution: &str) -> Value {
    let body = json!({"forceUpdate": true, "status": "CANCELLED"});
    platform
        .call("member", (Method::PATCH, execution), Some(body), 200)
        .await
}

// Endpoint: PATCH /v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}
#[tokio::test]
async fn patch_executions_cancels_one_that_runs() {
    let (platform, _world) = platform_with_environment().await;
    let execution = start(&platform, "broken", None).await;
    let answer = terminate(&platform, &execution).await;
    same_keys(
        &answer,
        include_str!("../../../../tests/fixtures/api/execution-created.json"),
    );
    assert_eq!(status(&platform, &execution).await, "CANCELLED");
    let document = platform.read(&execution).await;
    platform.wait(LONG);
    terminate(&platform, &execution).await;
    assert_eq!(platform.read(&execution).await, document);
}

// Endpoint: PATCH /v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}
#[tokio::test]
async fn patch_executions_leaves_one_that_ended_as_it_is() {
    let (platform, _world) = platform_with_environment().await;
    let execution = start(&platform, "clean", None).await;
    platform.wait(LONG);
    terminate(&platform, &execution).await;
    assert_eq!(status(&platform, &execution).await, "SUCCESS");
    for (body, field) in [
        (json!({}), "status"),
        (json!({"status": "STOPPED"}), "status"),
        (
            json!({"status": "CANCELLED", "forceUpdate": "yes"}),
            "forceUpdate",
        ),
    ] {
        let problem = platform
            .call("admin", (Method::PATCH, &execution), Some(body), 400)
            .await;
        assert_eq!(fields(&problem), [field]);
    }
}

// Endpoint: GET /v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}
#[tokio::test]
async fn get_executions_belong_to_their_project() {
    let (platform, _world) = platform_with_environment().await;
    let execution = start(&platform, "clean", None).await;
    let document = json!({"name": "p", "warehouse": "WAREHOUSE_A", "agentDeploymentType": "HYBRID"});
    let created_project = platform.post("/v1/projects", document, 201).await;
    let elsewhere = execution.replace(&GIVEN.to_string(), created_project["projectId"].as_str().unwrap());
    platform.call("root", (Method::GET, &elsewhere), None, 404).await;
    let unknown = format!("{}/pipeline-executions/{}", project(), Uuid::from_u128(1));
    platform.get_refused(&unknown, 404).await;
    let body = json!({"status": "CANCELLED"});
    platform
        .call("admin", (Method::PATCH, &unknown), Some(body), 404)
        .await;
    platform
        .get_refused(&format!("{}/pipeline-executions/x", project()), 400)
        .await;
}
