//! Projects and their parts: each operation as in the API document.

use crate::support::{PROJECT, TOKEN, call_refusing_server, creates_only_once, json, server_expecting};
use secrecy::SecretString;
use serde_json::json;
use sluicegate_platform::api::{NewConnection, NewEnvironment, NewProject, NewRepository, NewSecret};
use wiremock::ResponseTemplate;

const AGENT: &str = "b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60";

fn empty(status: u16) -> ResponseTemplate {
    json(status, include_str!("../../../../tests/fixtures/api/empty.json"))
}

fn project() -> NewProject {
    NewProject {
        name: "sales".to_owned(),
        description: Some("Orders".to_owned()),
        warehouse: "WAREHOUSE_A".to_owned(),
        agent_deployment_type: "HYBRID".to_owned(),
    }
}

// Endpoint: GET /v1/projects
#[tokio::test]
async fn projects_list_is_read_as_documented() {
    let answer = json(200, include_str!("../../../../tests/fixtures/api/projects.json"));
    let (server, platform) = server_expecting("GET", "/v1/projects", None, answer).await;
    let all = platform.fetch_projects().await.unwrap();
    assert_eq!(all[0].id.as_deref(), Some("9c5b94b1-35ad-49bb-b118-8e8fc24abf80"));
    assert_eq!(all[0].name.as_deref(), Some("sales"));
    assert_eq!(all[0].description.as_deref(), Some("Orders and their lines"));
    let requests = server.received_requests().await.unwrap();
    assert_eq!(requests[0].url.query(), Some("page=0&size=100"));
}

// Endpoint: POST /v1/projects
#[tokio::test]
async fn projects_create_is_sent_and_read_as_documented() {
    let body = json!({ "name": "sales", "description": "Orders", "warehouse": "WAREHOUSE_A",
        "agentDeploymentType": "HYBRID" });
    let answer = json(
        201,
        include_str!("../../../../tests/fixtures/api/project-created.json"),
    );
    let (_server, platform) = server_expecting("POST", "/v1/projects", Some(body), answer).await;
    let response = platform.create_project(&project()).await.unwrap();
    assert_eq!(
        response.project_id.as_deref(),
        Some("3f0c7d1e-62b4-4a0e-9d51-8f7a6c2b1e90")
    );
    creates_only_once(async |platform| platform.create_project(&project()).await).await;
}

// Endpoint: POST /v1/projects
#[tokio::test]
async fn projects_create_leaves_out_a_description_that_is_not_given() {
    let body = json!({ "name": "sales", "warehouse": "WAREHOUSE_A", "agentDeploymentType": "HYBRID" });
    let (_server, platform) = server_expecting("POST", "/v1/projects", Some(body), empty(201)).await;
    let bare = NewProject {
        description: None,
        ..project()
    };
    platform.create_project(&bare).await.unwrap();
}

// Endpoint: GET /v1/projects/{projectId}/environments
#[tokio::test]
async fn environments_list_is_read_as_documented() {
    let path = format!("/v1/projects/{PROJECT}/environments");
    let answer = json(
        200,
        include_str!("../../../../tests/fixtures/api/environments.json"),
    );
    let (_server, platform) = server_expecting("GET", &path, None, answer).await;
    let all = platform.fetch_environments(PROJECT).await.unwrap();
    assert_eq!(all[0].name.as_deref(), Some("production"));
    assert_eq!(all[0].default_agent_id.as_deref(), Some(AGENT));
    assert_eq!(all[0].default_agent_name.as_deref(), Some("agent-eu-1"));
}

// Endpoint: POST /v1/projects/{projectId}/environments
#[tokio::test]
async fn environments_create_is_sent_as_documented() {
    let body = json!({
        "name": "production", "displayName": "Production", "description": "For real", "defaultAgentId": AGENT,
        "defaultUserAccessLevel": "readOnly", "defaultConnections": { "DWH": { "warehouse_b": "dwh" } },
        "connectionOverrides": [{ "connectionName": "dwh", "connectionProperties": {
            "url": { "value": "dwh.example.com" }, "username": { "value": "u" }, "port": { "value": "5439" },
            "defaultDatabase": { "value": "d" }, "useSsl": { "value": "true" }, "defaultSchema": { "value": "s" },
            "defaultStorageLocation": { "value": "l" },
            "password": { "secretName": "pw", "secretKey": "key" } } }],
        "new": true
    });
    let environment: NewEnvironment = serde_json::from_value(body.clone()).unwrap();
    let path = format!("/v1/projects/{PROJECT}/environments");
    let (_server, platform) = server_expecting("POST", &path, Some(body), empty(201)).await;
    assert_eq!(
        platform.create_environment(PROJECT, &environment).await.unwrap(),
        json!({})
    );
    creates_only_once(async |platform| platform.create_environment(PROJECT, &environment).await).await;
}

// Endpoint: POST /v1/projects/{projectId}/data-platform-connections
#[tokio::test]
async fn connections_create_is_sent_as_documented() {
    for (provider, auth_type) in [("warehouse_a", "key_pair"), ("warehouse_b", "password")] {
        let connection = NewConnection {
            name: "dwh".to_owned(),
            platform_connection_type: "dwh".to_owned(),
            auth_provider: provider.to_owned(),
            auth_type: auth_type.to_owned(),
        };
        let body = json!({ "name": "dwh", "platformConnectionType": "dwh", "authProvider": provider,
            "authType": auth_type });
        let path = format!("/v1/projects/{PROJECT}/data-platform-connections");
        let (_server, platform) = server_expecting("POST", &path, Some(body), empty(201)).await;
        platform.create_connection(PROJECT, &connection).await.unwrap();
        creates_only_once(async |platform| platform.create_connection(PROJECT, &connection).await).await;
    }
}

fn secret() -> NewSecret {
    NewSecret {
        name: "pw".to_owned(),
        r#type: "DWH_PASSWORD".to_owned(),
        key: "password".to_owned(),
        value: SecretString::from("line one of a key\nline two of a key"),
    }
}

// Endpoint: POST /v1/secrets/{agentId}/secret-value
#[tokio::test]
async fn secrets_create_is_sent_and_read_as_documented() {
    let body = json!({ "name": "pw", "type": "DWH_PASSWORD", "key": "password",
        "value": { "password": "line one of a key\nline two of a key" } });
    let path = format!("/v1/secrets/{AGENT}/secret-value");
    let answer = json(
        201,
        include_str!("../../../../tests/fixtures/api/secret-created.json"),
    );
    let (server, platform) = server_expecting("POST", &path, Some(body), answer).await;
    let response = platform.create_secret(AGENT, &secret()).await.unwrap();
    assert_eq!(response.vault_secret_name.as_deref(), Some("warehouse-password"));
    assert!(response.resolver_ref.as_deref().unwrap().starts_with("vault:"));
    let requests = server.received_requests().await.unwrap();
    let text = String::from_utf8(requests[0].body.clone()).unwrap();
    assert!(
        text.contains(r"a key\nline"),
        "line breaks go out as escapes: {text}"
    );
    creates_only_once(async |platform| platform.create_secret(AGENT, &secret()).await).await;
}

// Endpoint: POST /v1/secrets/{agentId}/secret-value
#[tokio::test]
async fn secrets_create_never_shows_the_value_that_the_server_repeats() {
    let path = format!("/v1/secrets/{AGENT}/secret-value");
    let echo = json(
        201,
        r#"{ "vaultSecretName": "line two of a key", "value": ["line one of a key\nline two of a key"] }"#,
    );
    let (_server, platform) = server_expecting("POST", &path, None, echo).await;
    let response = platform.create_secret(AGENT, &secret()).await.unwrap();
    assert_eq!(
        response.raw,
        json!({ "vaultSecretName": "***", "value": ["***"] })
    );
    let (_server, platform) = server_expecting(
        "POST",
        &path,
        None,
        json(400, r#"{ "detail": "bad: line two of a key" }"#),
    )
    .await;
    let error = platform.create_secret(AGENT, &secret()).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("line two"), "{error}");
    assert!(!format!("{:?}", secret()).contains("line two"));
}

// Endpoint: POST /v1/projects/{projectId}/repositories
#[tokio::test]
async fn repositories_create_is_sent_as_documented_without_another_token() {
    let repository = NewRepository {
        provider: "git_provider_a".to_owned(),
        owner_name: "acme".to_owned(),
        repository_name: "sales".to_owned(),
    };
    let body = json!({ "provider": "git_provider_a", "providerParameters": { "ownerName": "acme" },
        "repositoryName": "sales" });
    let path = format!("/v1/projects/{PROJECT}/repositories");
    let (server, platform) = server_expecting("POST", &path, Some(body), empty(201)).await;
    platform.create_repository(PROJECT, &repository).await.unwrap();
    let requests = server.received_requests().await.unwrap();
    assert_eq!(requests[0].headers["authorization"], format!("Bearer {TOKEN}"));
    assert!(!requests[0].headers.contains_key("git-provider-access-token"));
    creates_only_once(async |platform| platform.create_repository(PROJECT, &repository).await).await;
}

#[tokio::test]
async fn projects_that_are_hidden_are_not_found() {
    let (request_count, error) =
        call_refusing_server(404, async |platform| platform.fetch_environments(PROJECT).await).await;
    assert_eq!((request_count, error.status()), (1, Some(404)));
}

// Endpoint: POST /v1/projects/{projectId}/environments
#[tokio::test]
async fn environments_create_that_is_refused_names_the_field() {
    let body = r#"{ "title": "Bad Request", "status": 400, "detail": "There are validation errors",
        "validation-errors": [{ "field": "defaultConnections.DWH", "message": "is no connection of the project" }] }"#;
    let path = format!("/v1/projects/{PROJECT}/environments");
    let (_server, platform) = server_expecting("POST", &path, None, json(400, body)).await;
    let environment: NewEnvironment = serde_json::from_value(json!({
        "name": "n", "defaultAgentId": AGENT, "defaultUserAccessLevel": "readOnly",
        "defaultConnections": { "DWH": { "warehouse_b": "other" } }, "connectionOverrides": [] }))
    .unwrap();
    let error = platform
        .create_environment(PROJECT, &environment)
        .await
        .unwrap_err();
    assert_eq!(error.violations()[0].field, "defaultConnections.DWH");
}
