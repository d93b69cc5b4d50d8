//! Project variables: each operation as in the API document.

use crate::support::{PROJECT, creates_only_once, is_repeated, json, platform, server_expecting};
use serde_json::json;
use sluicegate_platform::api::{NewVariable, Override, VariableFields};
use wiremock::matchers::{method, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

fn base() -> String {
    format!("/v1/projects/{PROJECT}/variables")
}

fn region() -> NewVariable {
    NewVariable {
        name: "region".to_owned(),
        fields: VariableFields {
            r#type: Some("TEXT".to_owned()),
            behaviour: Some("SHARED".to_owned()),
            description: Some("Where the orders come from".to_owned()),
            value: Some(json!("eu")),
            supports_double_resolution: Some(false),
        },
    }
}

// Endpoint: GET /v1/projects/{projectId}/variables
#[tokio::test]
async fn list_is_read_as_documented_page_by_page() {
    let answer = json(200, include_str!("../../../../tests/fixtures/api/variables.json"));
    let (_server, platform) = server_expecting("GET", &base(), None, answer).await;
    let all = platform.fetch_variables(PROJECT).await.unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].r#type.as_deref(), Some("TEXT"));
    assert_eq!(all[0].behaviour.as_deref(), Some("SHARED"));
    assert_eq!(all[0].description.as_deref(), Some("Where the orders come from"));
    assert_eq!(all[1].value.value, Some(json!(30)));
    assert_eq!(all[1].supports_double_resolution, Some(true));
    assert_eq!(all[1].raw["id"], "1a2b3c4d-5e6f-4a8b-9c0d-e1f2a3b4c5d6");
}

// Endpoint: GET /v1/projects/{projectId}/variables
#[tokio::test]
async fn list_goes_to_the_last_page() {
    let server = MockServer::start().await;
    for (page, names) in [("0", vec!["a"; 100]), ("1", vec!["b"; 3])] {
        let results: Vec<_> = names
            .iter()
            .enumerate()
            .map(|(n, name)| json!({ "name": format!("{name}{n}") }))
            .collect();
        let body = json!({ "results": results, "page": page, "size": 100, "total": 103 });
        Mock::given(method("GET"))
            .and(query_param("page", page))
            .and(query_param("size", "100"))
            .respond_with(ResponseTemplate::new(200).set_body_json(body))
            .expect(1)
            .mount(&server)
            .await;
    }
    assert_eq!(
        platform(&server.uri())
            .fetch_variables(PROJECT)
            .await
            .unwrap()
            .len(),
        103
    );
}

// Endpoint: GET /v1/projects/{projectId}/variables
#[tokio::test]
async fn list_keeps_unknown_types_and_fields() {
    let body = r#"{ "results": [{ "name": "g", "type": "GRID", "value": [[1]], "new": true }], "total": 1 }"#;
    let (_server, platform) = server_expecting("GET", &base(), None, json(200, body)).await;
    let all = platform.fetch_variables(PROJECT).await.unwrap();
    assert_eq!(all[0].r#type.as_deref(), Some("GRID"));
    assert_eq!(all[0].raw["new"], true);
}

// Endpoint: POST /v1/projects/{projectId}/variables
#[tokio::test]
async fn create_is_sent_and_read_as_documented() {
    let body = json!({ "name": "region", "type": "TEXT", "behaviour": "SHARED",
        "description": "Where the orders come from", "value": "eu", "supportsDoubleResolution": false });
    let answer = json(
        201,
        include_str!("../../../../tests/fixtures/api/variable-created.json"),
    );
    let (_server, platform) = server_expecting("POST", &base(), Some(body), answer).await;
    let response = platform.create_variable(PROJECT, &region()).await.unwrap();
    assert_eq!(
        response.id.as_deref(),
        Some("0d9c8b7a-6f5e-4d3c-ab2a-190f8e7d6c5b")
    );
    assert_eq!(
        (response.name.as_deref(), &response.value.value),
        (Some("region"), &Some(json!("eu")))
    );
}

// Endpoint: POST /v1/projects/{projectId}/variables
#[tokio::test]
async fn create_leaves_out_what_is_not_given() {
    let answer = json(201, "{}");
    let (_server, platform) = server_expecting("POST", &base(), Some(json!({ "name": "x" })), answer).await;
    let bare = NewVariable {
        name: "x".to_owned(),
        ..NewVariable::default()
    };
    platform.create_variable(PROJECT, &bare).await.unwrap();
}

// Endpoint: POST /v1/projects/{projectId}/variables
#[tokio::test]
async fn create_is_repeated_only_if_surely_unprocessed() {
    creates_only_once(async |platform| platform.create_variable(PROJECT, &region()).await).await;
}

// Endpoint: PATCH /v1/projects/{projectId}/variables/{variableName}
#[tokio::test]
async fn update_sends_what_is_given_and_takes_204() {
    let fields = VariableFields {
        r#type: Some("NUMBER".to_owned()),
        behaviour: Some("COPIED".to_owned()),
        value: Some(json!(30)),
        ..VariableFields::default()
    };
    let body = json!({ "type": "NUMBER", "behaviour": "COPIED", "value": 30 });
    let path = format!("{}/days%20back", base());
    let (_server, platform) = server_expecting("PATCH", &path, Some(body), ResponseTemplate::new(204)).await;
    platform
        .update_variable(PROJECT, "days back", &fields)
        .await
        .unwrap();
    is_repeated(async |platform| platform.update_variable(PROJECT, "days", &fields).await).await;
}

// Endpoint: DELETE /v1/projects/{projectId}/variables/{variableName}
#[tokio::test]
async fn delete_takes_204() {
    let path = format!("{}/region", base());
    let (_server, platform) = server_expecting("DELETE", &path, None, ResponseTemplate::new(204)).await;
    platform.delete_variable(PROJECT, "region").await.unwrap();
}

// Endpoint: DELETE /v1/projects/{projectId}/variables/{variableName}
#[tokio::test]
async fn delete_that_was_done_by_a_try_before_is_done() {
    let server = MockServer::start().await;
    Mock::given(method("DELETE"))
        .respond_with(ResponseTemplate::new(502))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    Mock::given(method("DELETE"))
        .respond_with(ResponseTemplate::new(404))
        .mount(&server)
        .await;
    let platform = platform(&server.uri());
    platform.delete_variable(PROJECT, "region").await.unwrap();
    // On the first attempt, this response means that the variable does not exist.
    assert!(platform.delete_variable(PROJECT, "region").await.is_err());
}

// Endpoint: GET /v1/projects/{projectId}/variables/{variableName}/environment-overrides
#[tokio::test]
async fn overrides_list_is_read_as_documented() {
    let path = format!("{}/region/environment-overrides", base());
    let answer = json(
        200,
        include_str!("../../../../tests/fixtures/api/variable-overrides.json"),
    );
    let (_server, platform) = server_expecting("GET", &path, None, answer).await;
    let value = platform
        .fetch_variable_overrides(PROJECT, "region", None)
        .await
        .unwrap();
    assert_eq!(value.variable.r#type.as_deref(), Some("TEXT"));
    assert_eq!(value.overrides[0].environment_name, "production");
    assert_eq!(value.overrides[0].value, "us");
}

// Endpoint: GET /v1/projects/{projectId}/variables/{variableName}/environment-overrides
#[tokio::test]
async fn overrides_list_of_one_environment_names_it() {
    let server = MockServer::start().await;
    Mock::given(query_param("environmentName", "a&b"))
        .respond_with(json(200, r#"{ "variable": {}, "overrides": [] }"#))
        .expect(1)
        .mount(&server)
        .await;
    let value = platform(&server.uri())
        .fetch_variable_overrides(PROJECT, "region", Some("a&b"))
        .await
        .unwrap();
    assert!(value.overrides.is_empty());
}

// Endpoint: POST /v1/projects/{projectId}/variables/{variableName}/environment-overrides
#[tokio::test]
async fn overrides_set_is_sent_and_read_as_documented() {
    let wanted = ["production", "nowhere"].map(|name| Override {
        environment_name: name.to_owned(),
        value: json!("us"),
    });
    let body = json!({ "overrides": [{ "environmentName": "production", "value": "us" },
        { "environmentName": "nowhere", "value": "us" }] });
    let path = format!("{}/region/environment-overrides", base());
    let answer = json(
        200,
        include_str!("../../../../tests/fixtures/api/variable-overrides-set.json"),
    );
    let (_server, platform) = server_expecting("POST", &path, Some(body), answer).await;
    let set = platform.set_overrides(PROJECT, "region", &wanted).await.unwrap();
    assert_eq!(set.variable_name.as_deref(), Some("region"));
    assert_eq!(set.successful_overrides.as_ref().unwrap().len(), 1);
    assert_eq!(
        set.failed_overrides.as_ref().unwrap()[0]["reason"],
        "the environment does not exist"
    );
    is_repeated(async |platform| platform.set_overrides(PROJECT, "region", &wanted).await).await;
}

// Endpoint: DELETE /v1/projects/{projectId}/variables/{variableName}/environment-overrides/{environmentName}
#[tokio::test]
async fn overrides_unset_takes_204() {
    let path = format!("{}/region/environment-overrides/eu%2Fwest", base());
    let (_server, platform) = server_expecting("DELETE", &path, None, ResponseTemplate::new(204)).await;
    platform
        .delete_override(PROJECT, "region", "eu/west")
        .await
        .unwrap();
}
