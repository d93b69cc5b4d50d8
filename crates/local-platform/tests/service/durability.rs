//! Data that survives a restart, and operations that continue after it.

use crate::platform::{Platform, options, stepped_clock};
use crate::projects::{GIVEN, with_environments};
use crate::streaming;
use crate::tasks::{begin, task};
use reqwest::Method;
use serde_json::{Value, json};
use sluicegate_local_platform::{Clock, Options};
use sluicegate_test_support::World;
use sluicegate_test_support::platform_requests::{text_variable, world_with_pipeline};
use sluicegate_test_support::scratch;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(20);

struct Durable {
    world: World,
    data: tempfile::TempDir,
    clock: Clock,
}

impl Durable {
    fn new() -> Self {
        Self {
            world: world_with_pipeline(),
            data: scratch::create_scratch_directory(),
            clock: stepped_clock(),
        }
    }

    async fn start(&self) -> Platform {
        Platform::with_options(Options {
            data: Some(self.data.path().to_owned()),
            projects: vec![(GIVEN, self.world.remote())],
            clock: self.clock.clone(),
            ..options()
        })
        .await
    }
}

fn project() -> String {
    format!("/v1/projects/{GIVEN}")
}

async fn execute(platform: &Platform, tag: &str, status: u16) -> Value {
    let body = json!({"pipelineName": "a", "environmentName": "production", "executionTag": tag});
    platform
        .post(&format!("{}/pipeline-executions", project()), body, status)
        .await
}

#[tokio::test]
async fn everything_is_as_it_was_after_a_restart() {
    let durable = Durable::new();
    let platform = durable.start().await;
    let document = json!({"name": "p", "warehouse": "WAREHOUSE_A", "agentDeploymentType": "HYBRID"});
    platform.post("/v1/projects", document, 201).await;
    with_environments(&platform, &project(), &["production", "test"]).await;
    let variables = format!("{}/variables", project());
    platform.post(&variables, text_variable("v", "x"), 201).await;
    let body = json!({"overrides": [{"environmentName": "test", "value": "y"}]});
    let overrides = format!("{variables}/v/environment-overrides");
    platform.post(&overrides, body, 200).await;
    let pipeline = streaming::create_streaming_pipeline(&platform).await;
    let task = begin(&platform, task("ACT", "create and push", &["create_file"])).await;
    let started = execute(&platform, "t", 201).await;
    let execution = format!(
        "{}/pipeline-executions/{}",
        project(),
        started["pipelineExecutionId"].as_str().unwrap()
    );
    durable.clock.advance(LONG);
    let paths = [
        "/v1/projects",
        "/v1/events",
        &format!("{}/environments", project()),
        &variables,
        &overrides,
        &pipeline,
        &task,
        &format!("{task}/messages"),
        tasks_path(),
        &execution,
    ];
    let read = async |platform: &Platform| {
        let mut lines = Vec::new();
        for path in paths {
            lines.push(platform.call("root", (Method::GET, path), None, 200).await);
        }
        lines
    };
    let before = read(&platform).await;
    platform.stop().await;
    let platform = durable.start().await;
    assert_eq!(read(&platform).await, before);
}

const fn tasks_path() -> &'static str {
    "/v1/ai/agents/tasks"
}

#[tokio::test]
async fn execution_continues_and_ends_after_restart() {
    let durable = Durable::new();
    let platform = durable.start().await;
    with_environments(&platform, &project(), &["production"]).await;
    let working = begin(&platform, task("ACT", "create and push", &["create_file"])).await;
    let stopping = begin(&platform, task("ACT", "create", &[])).await;
    platform
        .call("member", (Method::POST, &format!("{stopping}/stop")), None, 204)
        .await;
    let started = execute(&platform, "t", 201).await;
    let execution = format!(
        "{}/pipeline-executions/{}",
        project(),
        started["pipelineExecutionId"].as_str().unwrap()
    );
    platform.stop().await;

    let platform = durable.start().await;
    assert_eq!(platform.read(&working).await["status"], "RUNNING");
    assert_eq!(platform.read(&stopping).await["status"], "STOPPING");
    assert_eq!(platform.read(&execution).await["result"]["status"], "RUNNING");
    execute(&platform, "t", 409).await;
    durable.clock.advance(LONG);
    let document = platform.read(&working).await;
    assert_eq!(
        (&document["status"], &document["pendingDecisions"][0]["toolName"]),
        (&json!("STOPPED"), &json!("git_push"))
    );
    assert_eq!(platform.read(&stopping).await["status"], "STOPPED");
    assert_eq!(platform.read(&execution).await["result"]["status"], "SUCCESS");
    execute(&platform, "t", 201).await;
}

#[tokio::test]
async fn started_stream_is_started_again_and_stopped_one_is_not() {
    let durable = Durable::new();
    let platform = durable.start().await;
    let mut pipelines = Vec::new();
    for commands in [&["start"][..], &["start", "stop"], &[]] {
        let pipeline = streaming::create_streaming_pipeline(&platform).await;
        for command in commands {
            streaming::command(&platform, &pipeline, command).await;
        }
        pipelines.push(pipeline);
    }
    durable.clock.advance(LONG);
    let events = platform.events().await;
    let statuses = async |platform: &Platform| {
        let mut lines = Vec::new();
        for pipeline in &pipelines {
            lines.push(streaming::status(platform, pipeline).await);
        }
        lines
    };
    assert_eq!(
        statuses(&platform).await,
        ["streaming", "not_running", "not_running"]
    );
    platform.stop().await;
    let platform = durable.start().await;
    assert_eq!(
        statuses(&platform).await,
        ["starting", "not_running", "not_running"]
    );
    durable.clock.advance(LONG);
    assert_eq!(
        statuses(&platform).await,
        ["streaming", "not_running", "not_running"]
    );
    assert_eq!(platform.events().await, events);
}

#[tokio::test]
async fn one_folder_keeps_projects_of_different_flags_apart() {
    let durable = Durable::new();
    let platform = durable.start().await;
    platform
        .post(&format!("{}/variables", project()), text_variable("v", "x"), 201)
        .await;
    platform.stop().await;
    let platform = Platform::in_folder(durable.data.path()).await;
    platform
        .get_refused(&format!("{}/variables", project()), 404)
        .await;
    platform.stop().await;
    let platform = durable.start().await;
    assert_eq!(
        platform.read(&format!("{}/variables", project())).await["total"],
        1
    );
}
