//! Names that replace the neutral tokens.

use crate::platform::{Platform, fields, options, success};
use reqwest::Method;
use serde_json::{Value, json};
use sluicegate_local_platform::{Options, Vocabulary};

async fn platform_with_vocabulary() -> Platform {
    let text = "WAREHOUSE_A: Alpha\nwarehouse_b: beta\ngit_provider_a: Hub\nsource_db_a: Db\nCLOUD_A_KEY_VAULT: sky_vault\n";
    Platform::with_options(Options {
        vocabulary: Vocabulary::parse(text).unwrap(),
        ..options()
    })
    .await
}

#[tokio::test]
async fn names_of_a_vocabulary_are_the_allowed_values() {
    let platform = platform_with_vocabulary().await;
    let project =
        |warehouse: &str| json!({"name": "p", "warehouse": warehouse, "agentDeploymentType": "HYBRID"});
    let create =
        |body: Value, status| platform.call("root", (Method::POST, "/v1/projects"), Some(body), status);
    for refused in ["WAREHOUSE_A", "alpha"] {
        assert_eq!(fields(&create(project(refused), 400).await), ["warehouse"]);
    }
    let created = create(project("ALPHA"), 201).await;
    let path = format!("/v1/projects/{}", created["projectId"].as_str().unwrap());
    let send = |rest: &str, body: Value, status| {
        let path = format!("{path}/{rest}");
        let platform = &platform;
        async move {
            platform
                .call("root", (Method::POST, &path), Some(body), status)
                .await
        }
    };
    for (provider, authentication, status) in [
        ("alpha", "key_pair", 201),
        ("beta", "password", 201),
        ("warehouse_a", "key_pair", 400),
        ("beta", "key_pair", 400),
    ] {
        let connection = json!({"name": provider, "platformConnectionType": "dwh", "authProvider": provider, "authType": authentication});
        send("data-platform-connections", connection, status).await;
    }
    for (provider, status) in [("git_provider_a", 400), ("hub", 201)] {
        let repository =
            json!({"provider": provider, "providerParameters": {"ownerName": "o"}, "repositoryName": "r"});
        send("repositories", repository, status).await;
    }
    let mut definition = sluicegate_test_support::platform_requests::streaming_definition();
    let problem = send("streaming-pipelines", definition.clone(), 400).await;
    assert_eq!(
        fields(&problem),
        [
            "streamingSource.type",
            "streamingSource.connection.password.secretType",
            "streamingTarget.type",
            "streamingTarget.connection.authentication.privateKey.secretType",
            "streamingTarget.connection.authentication.passphrase.secretType",
        ]
    );
    let text = definition
        .to_string()
        .replace("source_db_a", "db")
        .replace("warehouse_a", "alpha");
    definition = serde_json::from_str(&text.replace("CLOUD_A_KEY_VAULT", "SKY_VAULT")).unwrap();
    send("streaming-pipelines", definition, 201).await;
}

#[tokio::test]
async fn description_has_names_as_enumerations() {
    let described = |platform: Platform| async move {
        let request = platform.anonymous(Method::GET, "/openapi.json");
        success(request.send().await.unwrap()).await["components"]["schemas"].clone()
    };
    let schemas = described(platform_with_vocabulary().await).await;
    let enumeration = |schemas: &Value, path: &str| schemas.pointer(&format!("/{path}/enum")).cloned();
    for (path, neutral, spoken) in [
        (
            "ProjectRequest/properties/warehouse",
            json!(["WAREHOUSE_A", "WAREHOUSE_B"]),
            json!(["ALPHA", "BETA"]),
        ),
        (
            "ConnectionRequest/allOf/1/properties/authProvider",
            json!(["warehouse_a", "warehouse_b"]),
            json!(["alpha", "beta"]),
        ),
        (
            "RepositoryRequest/properties/provider",
            json!(["git_provider_a"]),
            json!(["hub"]),
        ),
        (
            "SecretReference/properties/secretType",
            json!(["CLOUD_A_KEY_VAULT"]),
            json!(["SKY_VAULT"]),
        ),
    ] {
        assert_eq!(enumeration(&schemas, path), Some(spoken), "{path}");
        assert_eq!(
            enumeration(&described(Platform::empty().await).await, path),
            Some(neutral),
            "{path}"
        );
    }
    assert!(schemas["WarehouseConnections"]["properties"]["alpha"].is_object());
    let text = schemas.to_string();
    for token in ["\"source_db_a\"", "\"warehouse_a\"", "\"git_provider_a\""] {
        assert!(!text.contains(token), "{token}");
    }
}
