//! Projects, environments, connections, secrets and repositories.

use crate::platform::{Platform, column, fields, same_keys};
use reqwest::Method;
use serde_json::{Value, json};
use sluicegate_test_support::World;
use sluicegate_test_support::platform_requests::{AGENT, connection_request, environment_request};
use uuid::Uuid;

/// A project that the platform is started with; it has no commit.
pub const GIVEN: Uuid = Uuid::from_u128(0x600d);

/// Starts a platform with one project and returns also its repository.
pub async fn with_given() -> (Platform, World) {
    let world = World::new();
    let platform = Platform::with_stepped_clock(GIVEN, world.remote()).await;
    (platform, world)
}

fn project(name: &str) -> Value {
    json!({"name": name, "warehouse": "WAREHOUSE_A", "agentDeploymentType": "HYBRID"})
}

/// Creates a project as a super admin and returns its path.
async fn create_project(platform: &Platform, body: Value) -> String {
    let created = platform
        .call("root", (Method::POST, "/v1/projects"), Some(body), 201)
        .await;
    format!("/v1/projects/{}", created["projectId"].as_str().unwrap())
}

/// Adds the connection `main` and these environments to the project at `path`.
pub async fn with_environments(platform: &Platform, path: &str, names: &[&str]) {
    platform
        .call(
            "root",
            (Method::POST, &format!("{path}/data-platform-connections")),
            Some(connection_request("main")),
            201,
        )
        .await;
    for name in names {
        let operation = (Method::POST, &*format!("{path}/environments"));
        platform
            .call("root", operation, Some(environment_request(name)), 201)
            .await;
    }
}

// Endpoint: POST /v1/projects
#[tokio::test]
async fn post_projects_makes_one_that_only_a_super_admin_sees() {
    let (platform, _world) = with_given().await;
    let mut body = project("sales");
    body["description"] = "Orders".into();
    let created = platform
        .call("admin", (Method::POST, "/v1/projects"), Some(body), 201)
        .await;
    same_keys(
        &created,
        include_str!("../../../../tests/fixtures/api/project-created.json"),
    );
    let id: Uuid = created["projectId"].as_str().unwrap().parse().unwrap();
    assert_eq!(id.get_version_num(), 4);

    let list = platform
        .call("root", (Method::GET, "/v1/projects"), None, 200)
        .await;
    same_keys(
        &list,
        include_str!("../../../../tests/fixtures/api/projects.json"),
    );
    assert_eq!(column(&list["results"], "name"), ["remote", "sales"]);
    assert_eq!(
        list["results"][1],
        json!({"id": id, "name": "sales", "description": "Orders"})
    );
    for token in ["admin", "member"] {
        let list = platform
            .call(token, (Method::GET, "/v1/projects"), None, 200)
            .await;
        assert_eq!(
            (column(&list["results"], "name"), &list["total"]),
            (vec!["remote"], &json!(1))
        );
    }
}

// Endpoint: POST /v1/projects
#[tokio::test]
async fn post_projects_names_every_wrong_field() {
    let platform = Platform::empty().await;
    let body =
        json!({"name": " ", "description": 1, "warehouse": "warehouse_a", "agentDeploymentType": "OTHER"});
    let problem = platform.post("/v1/projects", body, 400).await;
    assert_eq!(
        fields(&problem),
        ["name", "description", "warehouse", "agentDeploymentType"]
    );
    let problem = platform.post("/v1/projects", json!({}), 400).await;
    assert_eq!(fields(&problem), ["name", "warehouse", "agentDeploymentType"]);
    for warehouse in ["WAREHOUSE_A", "WAREHOUSE_B"] {
        for deployment in ["HYBRID", "FULL_SAAS"] {
            let body =
                json!({"name": "p", "warehouse": warehouse, "agentDeploymentType": deployment, "other": 1});
            platform.post("/v1/projects", body, 201).await;
        }
    }
}

// Endpoint: GET /v1/projects
#[tokio::test]
async fn get_projects_pages_over_given_and_made_ones() {
    let (platform, _world) = with_given().await;
    for name in ["a", "b", "c"] {
        create_project(&platform, project(name)).await;
    }
    let mut names = Vec::new();
    for page in 0..3 {
        let path = format!("/v1/projects?size=3&page={page}");
        let list = platform.call("root", (Method::GET, &path), None, 200).await;
        assert_eq!(
            (&list["page"], &list["size"], &list["total"]),
            (&json!(page), &json!(3), &json!(4))
        );
        names.push(column(&list["results"], "name").join(" "));
    }
    assert_eq!(names, ["remote a b", "c", ""]);
    for query in ["size=0", "size=101", "page=-1", "size=x"] {
        platform.get_refused(&format!("/v1/projects?{query}"), 400).await;
    }
}

#[tokio::test]
async fn made_project_is_hidden_from_the_other_roles_everywhere() {
    let platform = Platform::empty().await;
    let path = create_project(&platform, project("p")).await;
    let id = Uuid::from_u128(1);
    for (method, rest) in [
        (Method::GET, "environments".to_owned()),
        (Method::POST, "environments".to_owned()),
        (Method::POST, "data-platform-connections".to_owned()),
        (Method::POST, "repositories".to_owned()),
        (Method::POST, "streaming-pipelines".to_owned()),
        (Method::GET, format!("streaming-pipelines/{id}")),
        (Method::GET, "variables".to_owned()),
        (Method::PATCH, "variables/v".to_owned()),
        (Method::GET, "variables/v/environment-overrides".to_owned()),
        (Method::GET, "published-pipelines".to_owned()),
        (Method::POST, "pipeline-executions".to_owned()),
        (Method::POST, "reviews".to_owned()),
    ] {
        let path = format!("{path}/{rest}");
        for token in ["admin", "member"] {
            let body = (method != Method::GET).then(|| json!({}));
            platform.call(token, (method.clone(), &path), body, 404).await;
        }
    }
    platform
        .call("root", (Method::GET, &format!("{path}/environments")), None, 200)
        .await;
    for (id, status) in [
        ("no-uuid", 400),
        ("9c5b94b135ad49bbb1188e8fc24abf80", 400),
        (&*id.to_string(), 404),
    ] {
        let path = format!("/v1/projects/{id}/environments");
        platform.call("root", (Method::GET, &path), None, status).await;
    }
}

// Endpoint: POST /v1/projects/{projectId}/data-platform-connections
#[tokio::test]
async fn post_connections_takes_the_authentication_of_the_warehouse_kind() {
    let platform = Platform::empty().await;
    let project = create_project(&platform, project("p")).await;
    let path = format!("{project}/data-platform-connections");
    let with = |name: &str, provider: &str, kind: &str| json!({"name": name, "platformConnectionType": "dwh", "authProvider": provider, "authType": kind});
    let send = |body: Value, status| platform.call("root", (Method::POST, &path), Some(body), status);
    let answer = send(with("a", "warehouse_a", "key_pair"), 201).await;
    assert_eq!(answer, json!({}));
    send(with("b", "warehouse_b", "password"), 201).await;
    send(with("a", "warehouse_b", "password"), 409).await;
    for (provider, kind, field) in [
        ("warehouse_a", "password", "authType"),
        ("warehouse_b", "key_pair", "authType"),
        ("WAREHOUSE_A", "key_pair", "authProvider"),
    ] {
        let problem = send(with("c", provider, kind), 400).await;
        assert_eq!(fields(&problem), [field]);
    }
    let problem = send(json!({"name": "", "platformConnectionType": "x"}), 400).await;
    assert_eq!(
        fields(&problem),
        ["name", "platformConnectionType", "authProvider", "authType"]
    );
}

// Endpoint: POST /v1/secrets/{agentId}/secret-value
#[tokio::test]
async fn post_secrets_takes_exactly_the_property_that_key_names() {
    let platform = Platform::empty().await;
    let path = format!("/v1/secrets/{AGENT}/secret-value");
    let secret = |value: Value| json!({"name": "n", "type": "DWH_PASSWORD", "key": "k", "value": value});
    let created = platform
        .post(&path, secret(json!({"k": "-----BEGIN\\n"})), 201)
        .await;
    same_keys(
        &created,
        include_str!("../../../../tests/fixtures/api/secret-created.json"),
    );
    assert_eq!(created["vaultSecretName"], "n");
    for (value, field) in [
        (json!({}), "value.k"),
        (json!({"other": "x"}), "value.k"),
        (json!({"k": "x", "other": "y"}), "value.other"),
        (json!({"k": ""}), "value.k"),
        (json!({"k": 1}), "value.k"),
        (json!("x"), "value"),
        (Value::Null, "value"),
    ] {
        let problem = platform.post(&path, secret(value.clone()), 400).await;
        assert_eq!(fields(&problem)[0], field, "{value}");
        assert!(!problem.to_string().contains("\"x\""), "{problem}");
    }
    for value in [json!({"k": null}), json!({"k": 1})] {
        let problem = platform.post(&path, secret(value), 400).await;
        assert_eq!(fields(&problem), ["value.k"]);
    }
    for other in [json!("y"), json!(1), Value::Null] {
        let problem = platform
            .post(&path, secret(json!({"k": "x", "z": other})), 400)
            .await;
        assert_eq!(fields(&problem), ["value.z"]);
    }
    let problem = platform.post(&path, json!({"name": "", "value": {}}), 400).await;
    assert_eq!(fields(&problem), ["name", "type", "key"]);
    platform
        .post("/v1/secrets/no-uuid/secret-value", secret(json!({"k": "v"})), 400)
        .await;
}

// Endpoint: POST /v1/secrets/{agentId}/secret-value
#[tokio::test]
async fn post_secrets_records_replaced_secret_as_changed() {
    let platform = Platform::empty().await;
    let path = format!("/v1/secrets/{AGENT}/secret-value");
    for name in ["n", "n", "other"] {
        let secret = json!({"name": name, "type": "DWH_PASSWORD", "key": "k", "value": {"k": "v"}});
        platform.post(&path, secret, 201).await;
    }
    assert_eq!(
        platform.events().await,
        [
            "Credentials created",
            "Credentials changed in project",
            "Credentials created"
        ]
    );
}

// Endpoint: POST /v1/secrets/{agentId}/secret-value
#[tokio::test]
async fn post_secrets_refuses_runner_of_hybrid_projects() {
    let platform = Platform::empty().await;
    let path = format!("/v1/secrets/{AGENT}/secret-value");
    let secret = json!({"name": "n", "type": "DWH_PASSWORD", "key": "k", "value": {"k": "v"}});
    let send = |status| platform.call("root", (Method::POST, &path), Some(secret.clone()), status);
    let hybrid = create_project(&platform, project("h")).await;
    with_environments(&platform, &hybrid, &["e"]).await;
    assert_eq!(fields(&send(400).await), ["agentId"]);
    // The same runner in a full SaaS project may have secrets.
    let full_saas = json!({"name": "f", "warehouse": "WAREHOUSE_A", "agentDeploymentType": "FULL_SAAS"});
    let full_saas = create_project(&platform, full_saas).await;
    with_environments(&platform, &full_saas, &["e"]).await;
    send(201).await;
}

// Endpoint: GET /v1/projects/{projectId}/environments
#[tokio::test]
async fn get_environments_lists_and_pages() {
    let (platform, _world) = with_given().await;
    let given = format!("/v1/projects/{GIVEN}");
    with_environments(&platform, &given, &["production", "test"]).await;
    let list = platform.read(&format!("{given}/environments")).await;
    same_keys(
        &list,
        include_str!("../../../../tests/fixtures/api/environments.json"),
    );
    assert_eq!(column(&list["results"], "name"), ["production", "test"]);
    assert_eq!(list["results"][0]["defaultAgentId"], AGENT);
    let second = platform
        .read(&format!("{given}/environments?page=1&size=1"))
        .await;
    assert_eq!(column(&second["results"], "name"), ["test"]);
    for query in ["size=0", "size=101", "page=x"] {
        platform
            .get_refused(&format!("{given}/environments?{query}"), 400)
            .await;
    }
}

// Endpoint: POST /v1/projects/{projectId}/environments
#[tokio::test]
async fn post_environments_makes_one_on_a_connection_of_the_project() {
    let (platform, _world) = with_given().await;
    let given = format!("/v1/projects/{GIVEN}");
    with_environments(&platform, &given, &[]).await;
    let path = format!("{given}/environments");
    assert_eq!(
        platform.post(&path, environment_request("third"), 201).await,
        json!({})
    );
    platform.post(&path, environment_request("third"), 409).await;
    let mut short = environment_request("short");
    for optional in ["displayName", "description"] {
        short.as_object_mut().unwrap().remove(optional);
    }
    platform.post(&path, short, 201).await;
}

// Endpoint: POST /v1/projects/{projectId}/environments
#[tokio::test]
async fn post_environments_refuses_connections_that_the_project_does_not_have() {
    let platform = Platform::empty().await;
    let (one, other) = (
        create_project(&platform, project("p")).await,
        create_project(&platform, project("q")).await,
    );
    with_environments(&platform, &other, &[]).await;
    let path = format!("{one}/environments");
    let send = |body: Value| platform.call("root", (Method::POST, &path), Some(body), 400);
    let problem = send(environment_request("e")).await;
    assert_eq!(fields(&problem), ["defaultConnections.DWH.warehouse_a"]);
    let path = format!("{other}/environments");
    let send = |body: Value| platform.call("root", (Method::POST, &path), Some(body), 400);
    let mut body = environment_request("e");
    body["defaultConnections"] = json!({"DWH": {"warehouse_b": "main"}});
    assert_eq!(fields(&send(body).await), ["defaultConnections.DWH.warehouse_b"]);
}

// Endpoint: POST /v1/projects/{projectId}/environments
#[tokio::test]
async fn post_environments_names_missing_connections_with_all_other_errors() {
    let (platform, _world) = with_given().await;
    let given = format!("/v1/projects/{GIVEN}");
    with_environments(&platform, &given, &[]).await;
    let path = format!("{given}/environments");
    let mut body = environment_request("e");
    body["defaultConnections"] = json!({"DWH": {"warehouse_a": "missing", "warehouse_b": ""}});
    let problem = platform.post(&path, body, 400).await;
    let expected = [
        "defaultConnections.DWH.warehouse_b",
        "connectionOverrides[0].connectionName",
        "defaultConnections.DWH.warehouse_a",
    ];
    assert_eq!(fields(&problem), expected);
    platform.post(&path, environment_request("e"), 201).await;
}

// Endpoint: POST /v1/projects/{projectId}/environments
#[tokio::test]
async fn post_environments_names_every_wrong_field() {
    let (platform, _world) = with_given().await;
    let path = format!("/v1/projects/{GIVEN}/environments");
    let problem = platform.post(&path, json!({}), 400).await;
    let required = [
        "name",
        "defaultAgentId",
        "defaultUserAccessLevel",
        "defaultConnections",
        "connectionOverrides",
    ];
    assert_eq!(fields(&problem), required);
    let body = json!({
        "name": "", "displayName": 1, "description": [], "defaultAgentId": "x", "defaultUserAccessLevel": "owner",
        "defaultConnections": {"DWH": {"other": "main"}},
        "connectionOverrides": [{"connectionName": "unknown", "connectionProperties": {
            "account": "plain", "port": {"value": 1}, "password": {"secretName": "s"}, "privateKey": {},
        }}],
    });
    let problem = platform.post(&path, body, 400).await;
    let properties = "connectionOverrides[0].connectionProperties";
    let expected = [
        "name",
        "defaultAgentId",
        "defaultUserAccessLevel",
        "displayName",
        "description",
        "defaultConnections.DWH.other",
        "connectionOverrides[0].connectionName",
        &format!("{properties}.account"),
        &format!("{properties}.port.value"),
        &format!("{properties}.privateKey.secretName"),
        &format!("{properties}.password.secretKey"),
    ];
    assert_eq!(fields(&problem), expected);
    for level in ["default", "admin", "runner", "readOnly", "noAccess"] {
        let mut body = environment_request(level);
        body["defaultUserAccessLevel"] = level.into();
        let problem = platform.post(&path, body, 400).await;
        assert_eq!(fields(&problem), ["defaultConnections.DWH.warehouse_a"]);
    }
}

// Endpoint: POST /v1/projects/{projectId}/environments
#[tokio::test]
async fn post_environments_takes_the_second_warehouse_kind_too() {
    let platform = Platform::empty().await;
    let project = create_project(
        &platform,
        json!({"name": "p", "warehouse": "WAREHOUSE_B", "agentDeploymentType": "FULL_SAAS"}),
    )
    .await;
    let connection = json!({"name": "b", "platformConnectionType": "dwh", "authProvider": "warehouse_b", "authType": "password"});
    let send = |rest: &str, body: Value| {
        let path = format!("{project}/{rest}");
        let platform = &platform;
        async move {
            platform
                .call("root", (Method::POST, &path), Some(body), 201)
                .await
        }
    };
    send("data-platform-connections", connection).await;
    let mut body = environment_request("e");
    body["defaultConnections"] = json!({"DWH": {"warehouse_b": "b"}});
    let value = |text: &str| json!({"value": text});
    body["connectionOverrides"] = json!([{"connectionName": "b", "connectionProperties": {
        "url": value("u"), "username": value("u"), "port": value("443"), "defaultDatabase": value("d"),
        "useSsl": value("true"), "defaultSchema": value("s"), "defaultStorageLocation": value("l"),
        "password": {"secretName": "n", "secretKey": "k"},
    }}]);
    send("environments", body).await;
}

// Endpoint: POST /v1/projects/{projectId}/repositories
#[tokio::test]
async fn post_repositories_is_for_one_provider_and_not_for_full_saas() {
    let platform = Platform::empty().await;
    let body = json!({"provider": "git_provider_a", "providerParameters": {"ownerName": "o"}, "repositoryName": "r"});
    let project_path = create_project(&platform, project("p")).await;
    let path = format!("{project_path}/repositories");
    let send =
        |body: &Value, status| platform.call("root", (Method::POST, &path), Some(body.clone()), status);
    let problem = send(&json!({"provider": "other", "providerParameters": {}}), 400).await;
    assert_eq!(
        fields(&problem),
        ["provider", "providerParameters.ownerName", "repositoryName"]
    );
    assert_eq!(send(&body, 201).await, json!({}));
    send(&body, 409).await;
    let full_saas = json!({"name": "f", "warehouse": "WAREHOUSE_A", "agentDeploymentType": "FULL_SAAS"});
    let path = format!("{}/repositories", create_project(&platform, full_saas).await);
    let problem = platform
        .call("root", (Method::POST, &path), Some(body), 400)
        .await;
    assert_eq!(fields(&problem), ["projectId"]);
}
