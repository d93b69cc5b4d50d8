//! Agent tasks.

use crate::platform::{Platform, column, fields, same_keys};
use crate::projects::{GIVEN, with_given};
use reqwest::Method;
use serde_json::{Value, json};
use sluicegate_test_support::platform_requests::{granted_permissions, task_request_body};
use sluicegate_test_support::repository::git;
use sluicegate_test_support::{World, orchestration_text};
use std::time::Duration;
use uuid::Uuid;

const TASKS: &str = "/v1/ai/agents/tasks";
const CHAIN: &str = "Create a pipeline, run it, commit and push";
const ALL: [&str; 16] = [
    "git_push",
    "git_commit",
    "run_pipeline",
    "query_warehouse",
    "edit_file",
    "create_file",
    "delete_file",
    "copy_file",
    "rename_file",
    "ask_user_question",
    "sample_component",
    "enter_plan_mode",
    "exit_plan_mode",
    "create_custom_connector",
    "execute_sql",
    "read_file",
];
const LONG: Duration = Duration::from_secs(20);

/// Returns the body of a task with these granted tools.
pub fn task(mode: &str, message: &str, granted: &[&str]) -> Value {
    task_request_body(&GIVEN.to_string(), mode, message, granted)
}

/// Creates a task and returns its path.
pub async fn begin(platform: &Platform, body: Value) -> String {
    let created = platform
        .call("member", (Method::POST, TASKS), Some(body), 201)
        .await;
    same_keys(
        &created,
        include_str!("../../../../tests/fixtures/api/task-created.json"),
    );
    assert_eq!(
        (&created["status"], &created["agentName"]),
        (&json!("RUNNING"), &json!("data_engineer_agent"))
    );
    format!("{TASKS}/{}", created["taskId"].as_str().unwrap())
}

async fn send(platform: &Platform, path: &str, body: Value, status: u16) -> Value {
    platform
        .call("member", (Method::POST, path), Some(body), status)
        .await
}

/// Returns the status, and the tools or questions that the agent waits for.
async fn state(platform: &Platform, task: &str) -> (String, Vec<String>) {
    let document = platform.read(task).await;
    let pending = document["pendingDecisions"].as_array().unwrap();
    let names = pending
        .iter()
        .map(|item| item.get("toolName").unwrap_or(&item["type"]));
    let names = names.map(|name| name.as_str().unwrap().to_owned()).collect();
    (document["status"].as_str().unwrap().to_owned(), names)
}

fn is(status: &str, pending: &[&str]) -> (String, Vec<String>) {
    (
        status.to_owned(),
        pending.iter().map(|name| (*name).to_owned()).collect(),
    )
}

async fn decide(platform: &Platform, task: &str, decisions: Value) -> Value {
    let path = format!("{task}/decisions");
    let answer = send(platform, &path, json!({"decisions": decisions}), 202).await;
    answer["pendingDecisions"].clone()
}

/// Submits a decision on the pending tool.
async fn approve(platform: &Platform, task: &str, approved: bool, scope: &str) {
    let document = platform.read(task).await;
    let id = document["pendingDecisions"][0]["toolId"].clone();
    let decision = json!([{"type": "tool", "id": id, "approved": approved, "scope": scope}]);
    assert_eq!(decide(platform, task, decision).await, json!([]));
}

/// Returns the tools that were used so far.
async fn used(platform: &Platform, task: &str) -> Vec<String> {
    let messages = platform.read(&format!("{task}/messages?limit=1000")).await;
    let messages = messages["results"].as_array().unwrap();
    let used = messages
        .iter()
        .filter(|message| message["data"]["outcome"] == "done");
    used.map(|message| message["data"]["toolName"].as_str().unwrap().to_owned())
        .collect()
}

// Endpoint: POST /v1/ai/agents/tasks
#[tokio::test]
async fn post_tasks_begins_one_that_works_and_finishes() {
    let (platform, _world) = with_given().await;
    let path = begin(&platform, task("ACT", CHAIN, &ALL)).await;
    assert_eq!(state(&platform, &path).await, is("RUNNING", &[]));
    platform.wait(Duration::from_millis(900));
    assert_eq!(state(&platform, &path).await, is("RUNNING", &[]));
    platform.wait(Duration::from_secs(4));
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
    let chain = ["create_file", "run_pipeline", "git_commit", "git_push"];
    assert_eq!(used(&platform, &path).await, chain);
}

// Endpoint: POST /v1/ai/agents/tasks
#[tokio::test]
async fn post_tasks_stops_at_each_tool_that_is_not_granted() {
    let (platform, _world) = with_given().await;
    let path = begin(&platform, task("ACT", CHAIN, &["run_pipeline"])).await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &["create_file"]));
    approve(&platform, &path, true, "ONCE").await;
    assert_eq!(state(&platform, &path).await, is("RUNNING", &[]));
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &["git_commit"]));
    approve(&platform, &path, false, "ONCE").await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &["git_push"]));
    approve(&platform, &path, true, "CONVERSATION").await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
    assert_eq!(
        used(&platform, &path).await,
        ["create_file", "run_pipeline", "git_push"]
    );
    send(
        &platform,
        &format!("{path}/messages"),
        json!({"message": "push again, create more"}),
        202,
    )
    .await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &["create_file"]));
}

// Endpoint: POST /v1/ai/agents/tasks
#[tokio::test]
async fn post_tasks_in_plan_mode_asks_for_nothing_that_changes() {
    let (platform, _world) = with_given().await;
    let changing = "create edit delete copy rename run commit push a connector";
    let path = begin(&platform, task("PLAN", changing, &[])).await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
    assert!(used(&platform, &path).await.is_empty());
}

// Endpoint: POST /v1/ai/agents/tasks
#[tokio::test]
async fn post_tasks_names_every_wrong_field() {
    let (platform, _world) = with_given().await;
    let problem = send(&platform, TASKS, json!({}), 400).await;
    assert_eq!(fields(&problem), ["message", "agentConfig"]);
    let body = json!({"message": "", "agentConfig": {"name": "other", "mode": "act", "projectId": "x",
        "sourceBranchName": "", "generateBranch": "yes", "graphId": 1}, "grantedPermissions": [{}, {"toolName": "rm"}]});
    let problem = send(&platform, TASKS, body, 400).await;
    let expected = [
        "message",
        "agentConfig.name",
        "agentConfig.mode",
        "agentConfig.projectId",
        "agentConfig.sourceBranchName",
        "agentConfig.environmentName",
        "agentConfig.generateBranch",
        "agentConfig.targetBranchName",
        "agentConfig.graphId",
        "grantedPermissions[0].toolName",
        "grantedPermissions[1].toolName",
    ];
    assert_eq!(fields(&problem), expected);
    let mut body = task("ACT", "m", &[]);
    body["agentConfig"]["projectId"] = Uuid::from_u128(1).to_string().into();
    send(&platform, TASKS, body, 404).await;
}

// Endpoint: POST /v1/ai/agents/tasks
#[tokio::test]
async fn post_tasks_needs_a_branch_name_or_makes_one() {
    let (platform, _world) = with_given().await;
    let with = |target: Value, generate: Value| {
        let mut body = task("ACT", "m", &[]);
        body["agentConfig"]["targetBranchName"] = target;
        body["agentConfig"]["generateBranch"] = generate;
        body
    };
    for (target, generate) in [
        (Value::Null, Value::Null),
        (Value::Null, json!(false)),
        (json!(""), json!(true)),
    ] {
        let problem = send(&platform, TASKS, with(target, generate), 400).await;
        assert_eq!(fields(&problem), ["agentConfig.targetBranchName"]);
    }
    let path = begin(&platform, with(Value::Null, json!(true))).await;
    let document = platform.read(&path).await;
    assert!(
        document["agentConfig"]["targetBranchName"]
            .as_str()
            .unwrap()
            .starts_with("agent/")
    );
    let path = begin(&platform, with(json!("mine"), json!(true))).await;
    assert_eq!(
        platform.read(&path).await["agentConfig"]["targetBranchName"],
        "mine"
    );
}

// Endpoint: POST /v1/ai/agents/tasks
#[tokio::test]
async fn post_tasks_on_a_branch_that_is_not_there_ends_in_error() {
    let world = World::new();
    world.write("a.orch.yaml", "");
    world.commit("first");
    world.push();
    let platform = Platform::with_stepped_clock(GIVEN, world.remote()).await;
    let mut body = task("ACT", CHAIN, &[]);
    body["agentConfig"]["sourceBranchName"] = "gone".into();
    let path = begin(&platform, body).await;
    assert_eq!(state(&platform, &path).await, is("RUNNING", &[]));
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("ERRORED", &[]));
    let messages = platform.read(&format!("{path}/messages")).await;
    let last = messages["results"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        last["data"],
        json!({"type": "error", "text": "The repository has no branch `gone`"})
    );
    platform.call("member", (Method::DELETE, &path), None, 204).await;
    let mut body = task("ACT", CHAIN, &[]);
    body["agentConfig"]["sourceBranchName"] = "long".repeat(300).into();
    let path = begin(&platform, body).await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("ERRORED", &[]));
    let path = begin(&platform, task("ACT", "nothing", &[])).await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
}

// Endpoint: GET /v1/ai/agents/tasks
#[tokio::test]
async fn get_tasks_lists_filters_and_pages() {
    let (platform, _world) = with_given().await;
    begin(&platform, task("ACT", "nothing", &[])).await;
    platform.wait(LONG);
    begin(&platform, task("ACT", CHAIN, &[])).await;
    platform.wait(LONG);
    let path = begin(&platform, task("PLAN", CHAIN, &[])).await;
    let list = platform.read(TASKS).await;
    same_keys(&list, include_str!("../../../../tests/fixtures/api/tasks.json"));
    assert_eq!(
        (&list["page"], &list["size"], &list["total"]),
        (&json!(0), &json!(20), &json!(3))
    );
    assert_eq!(
        column(&list["tasks"], "status"),
        ["RUNNING", "STOPPED", "STOPPED"]
    );
    assert_eq!(column(&list["tasks"], "mode"), ["PLAN", "ACT", "ACT"]);
    let mut branches = column(&list["tasks"], "branchId");
    let branch = branches[1].to_owned();
    branches.dedup();
    assert_eq!(branches.len(), 3);
    for (query, total) in [
        (format!("projectId={GIVEN}"), 3),
        (format!("projectId={}", Uuid::from_u128(1)), 0),
        (format!("branchId={branch}"), 1),
        ("status=RUNNING".to_owned(), 1),
        ("status=STOPPED".to_owned(), 2),
        ("status=ERRORED".to_owned(), 0),
        ("status=STOPPED&size=1&page=1".to_owned(), 2),
    ] {
        assert_eq!(
            platform.read(&format!("{TASKS}?{query}")).await["total"],
            total,
            "{query}"
        );
    }
    send(&platform, &format!("{path}/stop"), Value::Null, 204).await;
    assert_eq!(
        platform.read(&format!("{TASKS}?status=STOPPING")).await["total"],
        1
    );
    for (query, field) in [
        ("status=stopped", "status"),
        ("projectId=x", "projectId"),
        ("branchId=x", "branchId"),
        ("size=0", "size"),
        ("size=101", "size"),
        ("page=-1", "page"),
    ] {
        let problem = platform.get_refused(&format!("{TASKS}?{query}"), 400).await;
        assert_eq!(fields(&problem), [field]);
    }
}

// Endpoint: GET /v1/ai/agents/tasks
#[tokio::test]
async fn get_tasks_of_hidden_projects_are_hidden() {
    let (platform, _world) = with_given().await;
    let document = json!({"name": "p", "warehouse": "WAREHOUSE_A", "agentDeploymentType": "HYBRID"});
    let project = platform.post("/v1/projects", document, 201).await;
    let mut body = task("ACT", "m", &[]);
    body["agentConfig"]["projectId"] = project["projectId"].clone();
    send(&platform, TASKS, body.clone(), 404).await;
    let created = platform
        .call("root", (Method::POST, TASKS), Some(body), 201)
        .await;
    let path = format!("{TASKS}/{}", created["taskId"].as_str().unwrap());
    platform.call("root", (Method::GET, &path), None, 200).await;
    assert_eq!(platform.read(TASKS).await["total"], 0);
    for (method, path) in [
        (Method::GET, path.clone()),
        (Method::DELETE, path.clone()),
        (Method::GET, format!("{path}/messages")),
        (Method::POST, format!("{path}/stop")),
    ] {
        platform.call("admin", (method, &path), None, 404).await;
    }
    for (method, path, body) in [
        (Method::POST, format!("{path}/messages"), json!({"message": "m"})),
        (
            Method::POST,
            format!("{path}/decisions"),
            json!({"decisions": []}),
        ),
        (
            Method::PUT,
            format!("{path}/permissions"),
            json!({"grantedPermissions": []}),
        ),
    ] {
        platform.call("admin", (method, &path), Some(body), 404).await;
    }
}

// Endpoint: GET /v1/ai/agents/tasks/{taskId}
#[tokio::test]
async fn get_task_shows_everything() {
    let (platform, _world) = with_given().await;
    let path = begin(
        &platform,
        task("ACT", CHAIN, &["create_file", "run_pipeline", "git_commit"]),
    )
    .await;
    platform.wait(LONG);
    let state = platform.read(&path).await;
    let mut document: Value =
        serde_json::from_str(include_str!("../../../../tests/fixtures/api/task.json")).unwrap();
    document["pendingDecisions"].as_array_mut().unwrap().pop();
    same_keys(&state, &document.to_string());
    assert_eq!(state["description"], CHAIN);
    assert_eq!(state["pendingDecisions"][0]["toolName"], "git_push");
    assert_eq!(state["agentConfig"]["workingDirectory"], "sales");
    assert!(state["modifiedAt"].as_str() > state["createdAt"].as_str());
    platform
        .get_refused(&format!("{TASKS}/{}", Uuid::from_u128(1)), 404)
        .await;
    platform.get_refused(&format!("{TASKS}/x"), 400).await;
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/decisions
#[tokio::test]
async fn post_decisions_answers_a_question() {
    let (platform, _world) = with_given().await;
    let path = begin(&platform, task("ACT", "Ask me first", &[])).await;
    platform.wait(LONG);
    let found = platform.read(&path).await;
    let document: Value =
        serde_json::from_str(include_str!("../../../../tests/fixtures/api/task.json")).unwrap();
    let question = &found["pendingDecisions"][0];
    same_keys(question, &document["pendingDecisions"][1].to_string());
    let answers = json!([{"questionIndex": 0, "selectedOptions": ["yes"]}]);
    let decision = json!([{"type": "question", "id": question["id"], "answers": answers}]);
    assert_eq!(decide(&platform, &path, decision).await, json!([]));
    assert_eq!(state(&platform, &path).await, is("RUNNING", &[]));
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/decisions
#[tokio::test]
async fn post_decisions_with_wrong_answers_leave_the_question_pending() {
    let (platform, _world) = with_given().await;
    let path = begin(&platform, task("ACT", "Ask me first", &[])).await;
    platform.wait(LONG);
    let id = platform.read(&path).await["pendingDecisions"][0]["id"].clone();
    let yes = json!({"questionIndex": 0, "selectedOptions": ["yes"]});
    for answers in [
        json!([]),
        json!([{"questionIndex": 7, "selectedOptions": ["yes"]}]),
        json!([{"questionIndex": 0, "selectedOptions": ["maybe"]}]),
        json!([yes, {"questionIndex": 1, "selectedOptions": ["yes"]}]),
    ] {
        let decisions = json!([{"type": "question", "id": id, "answers": answers}]);
        let pending = decide(&platform, &path, decisions).await;
        assert_eq!(column(&pending, "id"), [id.as_str().unwrap()], "{answers}");
    }
    let decisions = json!([{"type": "question", "id": id, "answers": [yes]}]);
    assert_eq!(decide(&platform, &path, decisions).await, json!([]));
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/decisions
#[tokio::test]
async fn post_decisions_for_what_is_not_pending_resolve_nothing() {
    let (platform, _world) = with_given().await;
    let path = begin(&platform, task("ACT", CHAIN, &[])).await;
    let early = json!([{"type": "tool", "id": "tool-1", "approved": true, "scope": "ONCE"}]);
    assert_eq!(decide(&platform, &path, early.clone()).await, json!([]));
    platform.wait(LONG);
    let id = platform.read(&path).await["pendingDecisions"][0]["toolId"].clone();
    for decisions in [
        json!([]),
        json!([{"type": "tool", "id": "other", "approved": true, "scope": "ONCE"}]),
        json!([{"type": "question", "id": id, "answers": []}]),
    ] {
        let pending = decide(&platform, &path, decisions).await;
        assert_eq!(column(&pending, "toolName"), ["create_file"]);
        assert_eq!(state(&platform, &path).await, is("STOPPED", &["create_file"]));
    }
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/decisions
#[tokio::test]
async fn post_decisions_names_every_wrong_field() {
    let (platform, _world) = with_given().await;
    let path = format!("{}/decisions", begin(&platform, task("ACT", CHAIN, &[])).await);
    let problem = send(&platform, &path, json!({}), 400).await;
    assert_eq!(fields(&problem), ["decisions"]);
    let body = json!({"decisions": [
        {"type": "other", "id": "x"}, {"type": "tool", "approved": "yes", "scope": "EVER"},
        {"type": "question", "id": "x"},
        {"type": "question", "id": "x", "answers": [{"questionIndex": -1, "selectedOptions": [1]}]},
    ]});
    let problem = send(&platform, &path, body, 400).await;
    let expected = [
        "decisions[0].type",
        "decisions[1].id",
        "decisions[1].approved",
        "decisions[1].scope",
        "decisions[2].answers",
        "decisions[3].answers[0].questionIndex",
        "decisions[3].answers[0].selectedOptions[0]",
    ];
    assert_eq!(fields(&problem), expected);
}

// Endpoint: GET /v1/ai/agents/tasks/{taskId}/messages
#[tokio::test]
async fn get_messages_goes_on_where_the_last_answer_ended() {
    let (platform, _world) = with_given().await;
    let path = begin(&platform, task("ACT", CHAIN, &ALL)).await;
    let messages = format!("{path}/messages");
    let early = platform.read(&messages).await;
    assert_eq!(
        (column(&early["results"], "groupId"), early.get("more")),
        (vec!["turn-1"], None)
    );
    platform.wait(Duration::from_millis(1500));
    assert_eq!(
        platform.read(&messages).await["results"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    platform.wait(LONG);
    let whole = platform.read(&messages).await;
    assert_eq!(whole.get("more"), None);
    let mut pages = Vec::new();
    let mut query = "limit=2".to_owned();
    loop {
        let page = platform.read(&format!("{messages}?{query}")).await;
        pages.extend(page["results"].as_array().unwrap().clone());
        let Some(more) = page.get("more") else { break };
        same_keys(&page, &fixture_of_messages(&page));
        query = format!("limit=2&paginationToken={}", more.as_str().unwrap());
    }
    assert_eq!(json!(pages), whole["results"]);
    let times = column(&whole["results"], "timestamp");
    assert!(times.is_sorted(), "{times:?}");
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=x", "limit"),
        ("paginationToken=x", "paginationToken"),
    ] {
        let problem = platform.get_refused(&format!("{messages}?{query}"), 400).await;
        assert_eq!(fields(&problem), [field]);
    }
}

/// Returns the fixture with the `data` of the actual response, because the API document leaves its content open.
fn fixture_of_messages(page: &Value) -> String {
    let mut document: Value =
        serde_json::from_str(include_str!("../../../../tests/fixtures/api/task-messages.json")).unwrap();
    for (item, found) in document["results"].as_array_mut().unwrap().iter_mut().zip([0, 1]) {
        item["data"] = page["results"][found]["data"].clone();
    }
    document.to_string()
}

// Endpoint: GET /v1/ai/agents/tasks/{taskId}/messages
#[tokio::test]
async fn get_messages_has_25_where_no_limit_is_given() {
    let (platform, _world) = with_given().await;
    let path = begin(&platform, task("ACT", "nothing", &[])).await;
    let messages = format!("{path}/messages");
    for _ in 0..30 {
        send(&platform, &messages, json!({"message": "more"}), 202).await;
    }
    let page = platform.read(&messages).await;
    assert_eq!(
        (page["results"].as_array().unwrap().len(), &page["more"]),
        (25, &json!("25"))
    );
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/messages
#[tokio::test]
async fn post_messages_resumes_with_what_it_changes() {
    let (platform, _world) = with_given().await;
    let path = begin(&platform, task("PLAN", "nothing", &["run_pipeline"])).await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
    let messages = format!("{path}/messages");
    let body = json!({"message": "push it", "grantedPermissions": granted_permissions(&["git_commit", "run_pipeline"]),
        "agentConfig": {"name": "data_engineer_agent", "mode": "ACT", "targetBranchName": "other"}});
    let sent = send(&platform, &messages, body, 202).await;
    same_keys(
        &sent,
        include_str!("../../../../tests/fixtures/api/task-message-sent.json"),
    );
    let document = platform.read(&path).await;
    assert_eq!(document["status"], "RUNNING");
    assert_eq!(
        document["grantedPermissions"],
        granted_permissions(&["run_pipeline", "git_commit"])
    );
    let config = &document["agentConfig"];
    assert_eq!(
        (&config["mode"], &config["targetBranchName"]),
        (&json!("ACT"), &json!("other"))
    );
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &["git_push"]));
    send(&platform, &messages, json!({"message": "never mind"}), 202).await;
    assert_eq!(state(&platform, &path).await, is("RUNNING", &[]));
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/messages
#[tokio::test]
async fn post_messages_names_every_wrong_field() {
    let (platform, _world) = with_given().await;
    let path = begin(&platform, task("ACT", "nothing", &[])).await;
    let messages = format!("{path}/messages");
    let body = json!({"message": "", "grantedPermissions": [1], "agentConfig": {"mode": "x", "targetBranchName": ""}});
    let problem = send(&platform, &messages, body, 400).await;
    let expected = [
        "message",
        "grantedPermissions[0]",
        "agentConfig.name",
        "agentConfig.mode",
        "agentConfig.targetBranchName",
    ];
    assert_eq!(fields(&problem), expected);
    // Only the mode and the target branch can be overridden.
    let config =
        json!({"name": "data_engineer_agent", "mode": "ACT", "environmentName": "other", "graphId": null});
    let body = json!({"message": "m", "agentConfig": config});
    let problem = send(&platform, &messages, body, 400).await;
    assert_eq!(
        fields(&problem),
        ["agentConfig.environmentName", "agentConfig.graphId"]
    );
    send(&platform, &format!("{path}/stop"), Value::Null, 204).await;
    send(&platform, &messages, json!({"message": "m"}), 409).await;
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/stop
#[tokio::test]
async fn post_stop_wraps_up_and_leaves_nothing_pending() {
    let (platform, _world) = with_given().await;
    let path = begin(&platform, task("ACT", CHAIN, &[])).await;
    let stop = format!("{path}/stop");
    platform.call("member", (Method::POST, &stop), None, 204).await;
    assert_eq!(state(&platform, &path).await, is("STOPPING", &[]));
    platform.call("member", (Method::POST, &stop), None, 204).await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
    send(
        &platform,
        &format!("{path}/messages"),
        json!({"message": "push"}),
        202,
    )
    .await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &["git_push"]));
    platform.call("member", (Method::POST, &stop), None, 204).await;
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
    let unknown = format!("{TASKS}/{}/stop", Uuid::from_u128(1));
    platform.call("member", (Method::POST, &unknown), None, 404).await;
}

// Endpoint: DELETE /v1/ai/agents/tasks/{taskId}
#[tokio::test]
async fn delete_tasks_refuses_while_running() {
    let (platform, _world) = with_given().await;
    let path = begin(&platform, task("ACT", CHAIN, &[])).await;
    platform.call("member", (Method::DELETE, &path), None, 409).await;
    assert_eq!(state(&platform, &path).await, is("RUNNING", &[]));
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &["create_file"]));
    platform.call("member", (Method::DELETE, &path), None, 204).await;
    platform.call("member", (Method::DELETE, &path), None, 404).await;
    platform.get_refused(&path, 404).await;
    platform.get_refused(&format!("{path}/messages"), 404).await;
    assert_eq!(platform.read(TASKS).await["total"], 0);
}

// Endpoint: PUT /v1/ai/agents/tasks/{taskId}/permissions
#[tokio::test]
async fn put_permissions_replaces_the_whole_set() {
    let (platform, _world) = with_given().await;
    let path = begin(
        &platform,
        task("ACT", CHAIN, &["git_push", "git_push", "read_file"]),
    )
    .await;
    let permissions = format!("{path}/permissions");
    let put = |names: &[&str]| {
        let body = json!({"grantedPermissions": granted_permissions(names)});
        let (platform, permissions) = (&platform, &permissions);
        async move {
            platform
                .call("member", (Method::PUT, permissions), Some(body), 200)
                .await
        }
    };
    assert_eq!(
        platform.read(&path).await["grantedPermissions"],
        granted_permissions(&["git_push", "read_file"])
    );
    let answer = put(&["create_file", "git_commit"]).await;
    same_keys(
        &answer,
        include_str!("../../../../tests/fixtures/api/task-permissions.json"),
    );
    assert_eq!(
        platform.read(&path).await["grantedPermissions"],
        granted_permissions(&["create_file", "git_commit"])
    );
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &["run_pipeline"]));
    assert_eq!(put(&[]).await["grantedPermissions"], json!([]));
    for body in [
        json!({}),
        json!({"grantedPermissions": [{"toolName": "unknown"}]}),
    ] {
        platform
            .call("member", (Method::PUT, &permissions), Some(body), 400)
            .await;
    }
}

/// An instruction with one finding in the pipeline of [`with_misnamed_component`].
const ORDER: &str = "Fix the finding.\n{\"file\":\"a.orch.yaml\",\"rule\":\"component-naming-convention\",\
                     \"component\":\"load_it\",\"message\":\"run_pipeline\"}\nCommit and push.\n";

/// The tools that the order needs.
const FIX_TOOLS: [&str; 4] = ["read_file", "edit_file", "git_commit", "git_push"];

/// Starts a platform whose project has two pipelines with a misnamed component each.
async fn with_misnamed_component() -> (Platform, World) {
    let world = World::new();
    world.write("a.orch.yaml", orchestration_text(&["Start", "load_it", "Done"]));
    world.write("b.orch.yaml", orchestration_text(&["Start", "copy_it", "Done"]));
    world.write(
        ".platform/config/pipeline_quality_rules.yaml",
        "rules:\n  - id: component-naming-convention\n    enabled: true\n    enforcementLevel: error\n    \
         config: { regexMatchPattern: '[A-Z].*' }\n",
    );
    world.commit("first");
    world.push();
    (Platform::with_stepped_clock(GIVEN, world.remote()).await, world)
}

/// Returns the branches of the remote.
fn branches(world: &World) -> String {
    git(&world.remote(), &["branch", "--format=%(refname:short)"])
}

// Endpoint: POST /v1/ai/agents/tasks
// Endpoint: GET /v1/ai/agents/tasks/{taskId}
#[tokio::test]
async fn order_to_fix_pushes_branch_before_the_task_looks_finished() {
    let (platform, world) = with_misnamed_component().await;
    let path = begin(&platform, task("ACT", ORDER, &FIX_TOOLS)).await;
    assert_eq!(state(&platform, &path).await, is("RUNNING", &[]));
    assert_eq!(branches(&world), "main");
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
    assert_eq!(branches(&world), "main\nwork");
    let fixed = git(&world.remote(), &["show", "work:a.orch.yaml"]);
    assert!(fixed.contains("Load_it") && !fixed.contains("load_it"), "{fixed}");
    assert_eq!(used(&platform, &path).await, FIX_TOOLS);
    // Later requests push nothing again.
    git(&world.remote(), &["branch", "-D", "work"]);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
    platform.read(TASKS).await;
    assert_eq!(branches(&world), "main");
}

// Endpoint: GET /v1/ai/agents/tasks
#[tokio::test]
async fn order_to_fix_is_pushed_by_each_request_that_reads_the_task() {
    for request in [TASKS, "messages"] {
        let (platform, world) = with_misnamed_component().await;
        let path = begin(&platform, task("ACT", ORDER, &FIX_TOOLS)).await;
        platform.wait(LONG);
        match request {
            TASKS => platform.read(TASKS).await,
            _ => platform.read(&format!("{path}/messages")).await,
        };
        assert_eq!(branches(&world), "main\nwork", "{request}");
    }
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/decisions
#[tokio::test]
async fn order_to_fix_without_an_approved_edit_pushes_nothing() {
    let (platform, world) = with_misnamed_component().await;
    let path = begin(
        &platform,
        task("ACT", ORDER, &["read_file", "git_commit", "git_push"]),
    )
    .await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &["edit_file"]));
    approve(&platform, &path, false, "ONCE").await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
    assert_eq!(branches(&world), "main");
}

// Endpoint: GET /v1/ai/agents/tasks/{taskId}
#[tokio::test]
async fn order_to_fix_on_an_existing_branch_ends_in_error() {
    let (platform, world) = with_misnamed_component().await;
    git(&world.remote(), &["branch", "work", "main"]);
    let path = begin(&platform, task("ACT", ORDER, &FIX_TOOLS)).await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("ERRORED", &[]));
    assert_eq!(
        git(&world.remote(), &["rev-parse", "work"]),
        git(&world.remote(), &["rev-parse", "main"])
    );
}

/// Returns an instruction with the finding in the other pipeline of [`with_misnamed_component`].
fn second_order() -> Value {
    json!({"message": ORDER.replace("a.orch", "b.orch").replace("load_it", "copy_it")})
}

/// Checks that the branch `work` has the fixes of both findings.
fn expect_both_fixes(world: &World) {
    for (file, name) in [("a", "Load_it"), ("b", "Copy_it")] {
        let text = git(&world.remote(), &["show", &format!("work:{file}.orch.yaml")]);
        assert!(text.contains(name), "{text}");
    }
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/messages
#[tokio::test]
async fn order_to_fix_keeps_the_findings_of_an_order_in_progress() {
    let (platform, world) = with_misnamed_component().await;
    let path = begin(&platform, task("ACT", ORDER, &FIX_TOOLS)).await;
    send(&platform, &format!("{path}/messages"), second_order(), 202).await;
    // Both calls of `git_push` are seen separately.
    platform.wait(Duration::from_millis(2_500));
    assert_eq!(state(&platform, &path).await, is("RUNNING", &[]));
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
    expect_both_fixes(&world);
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/messages
#[tokio::test]
async fn order_to_fix_after_a_push_adds_a_commit_to_the_agents_branch() {
    let (platform, world) = with_misnamed_component().await;
    let path = begin(&platform, task("ACT", ORDER, &FIX_TOOLS)).await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
    for message in [second_order(), json!({"message": "push again"})] {
        send(&platform, &format!("{path}/messages"), message, 202).await;
        platform.wait(LONG);
        assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
    }
    expect_both_fixes(&world);
    assert_eq!(git(&world.remote(), &["rev-list", "--count", "main..work"]), "2");
}

// Endpoint: DELETE /v1/ai/agents/tasks/{taskId}
#[tokio::test]
async fn order_to_fix_is_pushed_before_the_task_is_deleted() {
    let (platform, world) = with_misnamed_component().await;
    let path = begin(&platform, task("ACT", ORDER, &FIX_TOOLS)).await;
    platform.wait(LONG);
    platform.call("member", (Method::DELETE, &path), None, 204).await;
    assert_eq!(branches(&world), "main\nwork");
}

// Endpoint: POST /v1/ai/agents/tasks
#[tokio::test]
async fn order_to_fix_skips_a_file_that_is_too_large() {
    let (platform, world) = with_misnamed_component().await;
    world.write("b.orch.yaml", "#".repeat(33 * 1024 * 1024));
    world.commit("large");
    world.push();
    let order = second_order()["message"].as_str().unwrap().to_owned() + ORDER;
    let path = begin(&platform, task("ACT", &order, &FIX_TOOLS)).await;
    platform.wait(LONG);
    assert_eq!(state(&platform, &path).await, is("STOPPED", &[]));
    assert_eq!(branches(&world), "main\nwork");
}
