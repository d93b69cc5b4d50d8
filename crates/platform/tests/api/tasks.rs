//! Agent tasks: each operation as in the API document.

use crate::support::{
    PROJECT, call_refusing_server, creates_only_once, is_repeated, json, platform, server_expecting,
};
use serde_json::json;
use sluicegate_platform::api::{
    AGENT_NAME, AgentConfig, Decision, FollowUp, NewTask, Permission, QuestionAnswer, TaskFilter, TaskPhase,
};
use sluicegate_platform::http::ErrorKind;
use wiremock::matchers::{query_param, query_param_is_missing};
use wiremock::{Mock, MockServer, ResponseTemplate};

const ID: &str = "e2d4b6a8-1357-4f9b-8c0d-5a7e9f1b3d2c";
const BASE: &str = "/v1/ai/agents/tasks";

fn task_path(rest: &str) -> String {
    format!("{BASE}/{ID}{rest}")
}

fn tools(names: &[&str]) -> Vec<Permission> {
    names
        .iter()
        .map(|name| Permission::from(&(*name).to_owned()))
        .collect()
}

fn task() -> NewTask {
    NewTask {
        message: "Add a step".to_owned(),
        agent_config: AgentConfig {
            name: Some(AGENT_NAME.to_owned()),
            mode: Some("ACT".to_owned()),
            project_id: Some(PROJECT.to_string()),
            source_branch_name: Some("main".to_owned()),
            environment_name: Some("production".to_owned()),
            target_branch_name: Some("more-steps".to_owned()),
            generate_branch: Some(true),
            graph_id: Some("graph".to_owned()),
            working_directory: Some("sales".to_owned()),
        },
        granted_permissions: tools(&["execute_sql", "read_file"]),
    }
}

// Endpoint: POST /v1/ai/agents/tasks
#[tokio::test]
async fn create_is_sent_and_read_as_documented() {
    let body = json!({ "message": "Add a step", "agentConfig": { "name": "data_engineer_agent", "mode": "ACT",
        "projectId": PROJECT.to_string(), "sourceBranchName": "main", "environmentName": "production",
        "targetBranchName": "more-steps", "generateBranch": true, "graphId": "graph", "workingDirectory": "sales" },
        "grantedPermissions": [{ "toolName": "execute_sql" }, { "toolName": "read_file" }] });
    let answer = json(
        201,
        include_str!("../../../../tests/fixtures/api/task-created.json"),
    );
    let (_server, platform) = server_expecting("POST", BASE, Some(body), answer).await;
    let response = platform.create_task(&task()).await.unwrap();
    assert_eq!(response.task_id.as_deref(), Some(ID));
    assert_eq!(response.status.as_deref(), Some("RUNNING"));
    assert_eq!(response.agent_name.as_deref(), Some(AGENT_NAME));
    assert_eq!(response.created_at.as_deref(), Some("2026-11-20T09:30:00Z"));
    creates_only_once(async |platform| platform.create_task(&task()).await).await;
}

// Endpoint: GET /v1/ai/agents/tasks
#[tokio::test]
async fn list_is_read_as_documented_and_filtered() {
    let server = MockServer::start().await;
    Mock::given(query_param("projectId", "p"))
        .and(query_param("branchId", "b"))
        .and(query_param("status", "STOPPED"))
        .and(query_param("page", "0"))
        .and(query_param("size", "100"))
        .respond_with(json(
            200,
            include_str!("../../../../tests/fixtures/api/tasks.json"),
        ))
        .expect(1)
        .mount(&server)
        .await;
    let filter = TaskFilter {
        project_id: Some("p".to_owned()),
        branch_id: Some("b".to_owned()),
        status: Some("STOPPED".to_owned()),
    };
    let all = platform(&server.uri()).fetch_tasks(&filter).await.unwrap();
    let one = &all[0];
    assert_eq!(one.task_id.as_deref(), Some(ID));
    assert_eq!(one.agent_name.as_deref(), Some(AGENT_NAME));
    assert_eq!(one.mode.as_deref(), Some("ACT"));
    assert_eq!(one.modified_at.as_deref(), Some("2026-11-20T09:30:04Z"));
    assert_eq!(
        one.project_id.as_deref(),
        Some("9c5b94b1-35ad-49bb-b118-8e8fc24abf80")
    );
    assert_eq!(
        one.branch_id.as_deref(),
        Some("c7f1e3a5-2468-4b0d-9e8f-6a5b4c3d2e1f")
    );
    // The list does not distinguish the two meanings of STOPPED.
    assert_eq!(one.phase(), TaskPhase::Stopped);
}

// Endpoint: GET /v1/ai/agents/tasks
#[tokio::test]
async fn list_without_filters_goes_to_the_last_page() {
    let server = MockServer::start().await;
    for (page, count) in [("0", 100), ("1", 1)] {
        let tasks: Vec<_> = (0..count)
            .map(|n| json!({ "taskId": format!("{page}-{n}") }))
            .collect();
        let body = json!({ "tasks": tasks, "page": 0, "size": 100, "total": 101 });
        Mock::given(query_param("page", page))
            .and(query_param_is_missing("status"))
            .respond_with(ResponseTemplate::new(200).set_body_json(body))
            .expect(1)
            .mount(&server)
            .await;
    }
    let all = platform(&server.uri())
        .fetch_tasks(&TaskFilter::default())
        .await
        .unwrap();
    assert_eq!(all.len(), 101);
}

// Endpoint: GET /v1/ai/agents/tasks/{taskId}
#[tokio::test]
async fn show_is_read_as_documented() {
    let answer = json(200, include_str!("../../../../tests/fixtures/api/task.json"));
    let (_server, platform) = server_expecting("GET", &task_path(""), None, answer).await;
    let task = platform.fetch_task(ID).await.unwrap();
    assert_eq!(task.phase(), TaskPhase::Waiting);
    assert_eq!(task.created_at.as_deref(), Some("2026-11-20T09:30:00Z"));
    assert_eq!(
        task.agent_config.as_ref().unwrap().graph_id.as_deref(),
        Some("orders-graph")
    );
    assert_eq!(
        task.granted_permissions.as_deref(),
        Some(&tools(&["create_file"])[..])
    );
    let pending = task.pending_decisions.as_ref().unwrap();
    let tool = &pending[0];
    assert_eq!(
        (tool.r#type.as_deref(), tool.tool_name.as_deref()),
        (Some("tool"), Some("git_push"))
    );
    assert_eq!(tool.tool_id.as_deref(), Some("tool-4"));
    let message = tool.permission_message.as_ref().unwrap();
    assert_eq!(message.title.as_deref(), Some("Push the branch"));
    assert_eq!(
        message.body.as_deref(),
        Some("The agent wants to push its commits")
    );
    assert_eq!(
        tool.tool_input.as_ref().unwrap()["branch"],
        "without-empty-orders"
    );
    // A question's fields are not documented, so they are passed through.
    assert_eq!(
        (pending[1].r#type.as_deref(), pending[1].id.as_deref()),
        (Some("question"), Some("question-5"))
    );
    assert_eq!(pending[1].raw["questions"][0]["options"][1], "marked");
}

// Endpoint: GET /v1/ai/agents/tasks/{taskId}
#[tokio::test]
async fn show_distinguishes_both_meanings_of_stopped() {
    for (body, phase) in [
        (
            r#"{ "status": "STOPPED", "pendingDecisions": [] }"#,
            TaskPhase::Finished,
        ),
        (
            r#"{ "status": "STOPPED", "pendingDecisions": [{}] }"#,
            TaskPhase::Waiting,
        ),
        (
            r#"{ "status": "STOPPED", "pendingDecisions": null }"#,
            TaskPhase::Stopped,
        ),
        (
            r#"{ "status": "RUNNING", "pendingDecisions": [] }"#,
            TaskPhase::Working,
        ),
        (
            r#"{ "status": "STOPPING", "pendingDecisions": [] }"#,
            TaskPhase::Working,
        ),
        (
            r#"{ "status": "ERRORED", "pendingDecisions": [] }"#,
            TaskPhase::Errored,
        ),
        (
            r#"{ "status": "DREAMING", "pendingDecisions": [] }"#,
            TaskPhase::Unknown,
        ),
    ] {
        let (_server, platform) = server_expecting("GET", &task_path(""), None, json(200, body)).await;
        assert_eq!(platform.fetch_task(ID).await.unwrap().phase(), phase, "{body}");
    }
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/decisions
#[tokio::test]
async fn decide_is_sent_and_read_as_documented() {
    let decisions = [
        Decision::Tool {
            id: "tool-4".to_owned(),
            approved: true,
            scope: "CONVERSATION".to_owned(),
        },
        Decision::Question {
            id: "question-5".to_owned(),
            answers: vec![QuestionAnswer {
                question_index: 0,
                selected_options: vec!["removed".to_owned()],
            }],
        },
    ];
    let body = json!({ "decisions": [
        { "type": "tool", "id": "tool-4", "approved": true, "scope": "CONVERSATION" },
        { "type": "question", "id": "question-5", "answers": [{ "questionIndex": 0, "selectedOptions": ["removed"] }] }
    ] });
    let answer = json(
        202,
        include_str!("../../../../tests/fixtures/api/task-decisions.json"),
    );
    let (_server, platform) = server_expecting("POST", &task_path("/decisions"), Some(body), answer).await;
    let left = platform.send_decisions(ID, &decisions).await.unwrap();
    assert_eq!(left.pending_decisions.as_deref(), Some(&[][..]));
    is_repeated(async |platform| platform.send_decisions(ID, &decisions).await).await;
}

// Endpoint: GET /v1/ai/agents/tasks/{taskId}/messages
#[tokio::test]
async fn messages_are_read_as_documented_with_limit_and_token() {
    let server = MockServer::start().await;
    Mock::given(query_param("limit", "1000"))
        .and(query_param("paginationToken", "a b"))
        .respond_with(json(
            200,
            include_str!("../../../../tests/fixtures/api/task-messages.json"),
        ))
        .expect(1)
        .mount(&server)
        .await;
    Mock::given(query_param_is_missing("paginationToken"))
        .respond_with(json(200, r#"{ "results": [] }"#))
        .expect(1)
        .mount(&server)
        .await;
    let platform = platform(&server.uri());
    let page = platform.fetch_task_messages(ID, 1000, Some("a b")).await.unwrap();
    assert_eq!(page.more.as_deref(), Some("2"));
    assert_eq!(page.results[1]["data"]["toolName"], "create_file");
    assert_eq!(
        platform.fetch_task_messages(ID, 25, None).await.unwrap().more,
        None
    );
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/messages
#[tokio::test]
async fn send_is_sent_and_read_as_documented() {
    let message = FollowUp {
        message: "Now push".to_owned(),
        granted_permissions: tools(&["git_push"]),
        agent_config: Some(AgentConfig {
            name: Some(AGENT_NAME.to_owned()),
            mode: Some("PLAN".to_owned()),
            target_branch_name: Some("b".to_owned()),
            ..AgentConfig::default()
        }),
    };
    let body = json!({ "message": "Now push", "grantedPermissions": [{ "toolName": "git_push" }],
        "agentConfig": { "name": "data_engineer_agent", "mode": "PLAN", "targetBranchName": "b" } });
    let answer = json(
        202,
        include_str!("../../../../tests/fixtures/api/task-message-sent.json"),
    );
    let (_server, platform) = server_expecting("POST", &task_path("/messages"), Some(body), answer).await;
    let sent = platform.send_task_message(ID, &message).await.unwrap();
    assert_eq!(sent.task_id.as_deref(), Some(ID));
    creates_only_once(async |platform| platform.send_task_message(ID, &message).await).await;
    let bare = FollowUp {
        message: "x".to_owned(),
        ..FollowUp::default()
    };
    let (_server, platform) = server_expecting(
        "POST",
        &task_path("/messages"),
        Some(json!({ "message": "x" })),
        json(202, "{}"),
    )
    .await;
    platform.send_task_message(ID, &bare).await.unwrap();
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/stop
#[tokio::test]
async fn stop_has_no_body_and_takes_204() {
    let (server, platform) =
        server_expecting("POST", &task_path("/stop"), None, ResponseTemplate::new(204)).await;
    platform.stop_task(ID).await.unwrap();
    assert!(server.received_requests().await.unwrap()[0].body.is_empty());
    is_repeated(async |platform| platform.stop_task(ID).await).await;
}

// Endpoint: DELETE /v1/ai/agents/tasks/{taskId}
#[tokio::test]
async fn delete_takes_204_and_is_not_repeated_after_a_conflict() {
    let (_server, platform) =
        server_expecting("DELETE", &task_path(""), None, ResponseTemplate::new(204)).await;
    platform.delete_task(ID).await.unwrap();
    let (request_count, error) =
        call_refusing_server(409, async |platform| platform.delete_task(ID).await).await;
    assert_eq!((request_count, error.kind()), (1, ErrorKind::Conflict));
}

// Endpoint: PUT /v1/ai/agents/tasks/{taskId}/permissions
#[tokio::test]
async fn permissions_replace_the_whole_set() {
    let granted = tools(&["create_file", "git_commit"]);
    let body = json!({ "grantedPermissions": [{ "toolName": "create_file" }, { "toolName": "git_commit" }] });
    let answer = json(
        200,
        include_str!("../../../../tests/fixtures/api/task-permissions.json"),
    );
    let (_server, platform) = server_expecting("PUT", &task_path("/permissions"), Some(body), answer).await;
    let now = platform.set_task_permissions(ID, &granted).await.unwrap();
    assert_eq!(
        (now.task_id.as_deref(), now.granted_permissions.as_deref()),
        (Some(ID), Some(&granted[..]))
    );
    let none = json!({ "grantedPermissions": [] });
    let (_server, platform) =
        server_expecting("PUT", &task_path("/permissions"), Some(none), json(200, "{}")).await;
    platform.set_task_permissions(ID, &[]).await.unwrap();
    is_repeated(async |platform| platform.set_task_permissions(ID, &granted).await).await;
}

// Endpoint: GET /v1/ai/agents/tasks/{taskId}
#[tokio::test]
async fn show_of_a_failed_task_is_an_error_whatever_is_pending() {
    for pending in [json!([]), json!([{ "type": "tool" }]), json!(null)] {
        let body = json!({ "taskId": ID, "status": "ERRORED", "pendingDecisions": pending }).to_string();
        let (_server, platform) = server_expecting("GET", &task_path(""), None, json(200, &body)).await;
        assert_eq!(
            platform.fetch_task(ID).await.unwrap().phase(),
            TaskPhase::Errored,
            "{body}"
        );
    }
}
