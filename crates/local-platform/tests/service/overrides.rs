//! Overrides of variables in environments.

use crate::platform::{Platform, fields, same_keys};
use crate::projects::{GIVEN, with_environments, with_given};
use crate::variables::number;
use reqwest::Method;
use serde_json::{Value, json};
use sluicegate_test_support::World;
use sluicegate_test_support::platform_requests::{environment_request, text_variable};

fn project() -> String {
    format!("/v1/projects/{GIVEN}")
}

fn path(variable: &str) -> String {
    format!("{}/variables/{variable}/environment-overrides", project())
}

/// Creates the environments `production` and `test`, a text variable `t` and a number variable `n`.
async fn platform_with_variables() -> (Platform, World) {
    let (platform, world) = with_given().await;
    with_environments(&platform, &project(), &["production", "test"]).await;
    for variable in [text_variable("t", "x"), number("n", 1)] {
        platform
            .post(&format!("{}/variables", project()), variable, 201)
            .await;
    }
    (platform, world)
}

fn one(environment: &str, value: impl Into<Value>) -> Value {
    json!({"overrides": [{"environmentName": environment, "value": value.into()}]})
}

// Endpoint: POST /v1/projects/{projectId}/variables/{variableName}/environment-overrides
#[tokio::test]
async fn post_overrides_makes_and_changes_them() {
    let (platform, _world) = platform_with_variables().await;
    let body = json!({"overrides": [
        {"environmentName": "production", "value": "a"}, {"environmentName": "test", "value": ""},
    ]});
    let applied = platform.post(&path("t"), body, 200).await;
    assert_eq!(applied["failedOverrides"], json!([]));
    platform.post(&path("t"), one("production", "b"), 200).await;
    let document = platform.read(&path("t")).await;
    same_keys(
        &document,
        include_str!("../../../../tests/fixtures/api/variable-overrides.json"),
    );
    assert_eq!(
        document["overrides"],
        json!([{"environmentName": "production", "value": "b"}, {"environmentName": "test", "value": ""}])
    );
    platform.post(&path("none"), one("test", "x"), 404).await;
}

// Endpoint: POST /v1/projects/{projectId}/variables/{variableName}/environment-overrides
#[tokio::test]
async fn post_overrides_reports_each_that_cannot_be_applied() {
    let (platform, _world) = platform_with_variables().await;
    let body = json!({"overrides": [
        {"environmentName": "production", "value": 2}, {"environmentName": "nowhere", "value": 3},
        {"environmentName": "test", "value": "4"},
    ]});
    let applied = platform.post(&path("n"), body, 200).await;
    same_keys(
        &applied,
        include_str!("../../../../tests/fixtures/api/variable-overrides-set.json"),
    );
    assert_eq!(
        (&applied["variableName"], &applied["type"]),
        (&json!("n"), &json!("NUMBER"))
    );
    assert_eq!(
        applied["successfulOverrides"],
        json!([{"environmentName": "production"}])
    );
    assert_eq!(
        applied["failedOverrides"],
        json!([
            {"environmentName": "nowhere", "reason": "the environment does not exist"},
            {"environmentName": "test", "reason": "the value must be a number because the type is NUMBER"},
        ])
    );
    assert_eq!(
        platform.read(&path("n")).await["overrides"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

// Endpoint: POST /v1/projects/{projectId}/variables/{variableName}/environment-overrides
#[tokio::test]
async fn post_overrides_needs_the_permission_of_the_environment() {
    let (platform, _world) = platform_with_variables().await;
    for level in ["runner", "readOnly", "noAccess", "admin"] {
        let mut body = environment_request(level);
        body["defaultUserAccessLevel"] = level.into();
        platform
            .post(&format!("{}/environments", project()), body, 201)
            .await;
        let operation = || (Method::POST, path("t"));
        let (method, path) = operation();
        let applied = platform
            .call("member", (method, &path), Some(one(level, "x")), 200)
            .await;
        let failed = applied["failedOverrides"].as_array().unwrap().len();
        assert_eq!(failed, usize::from(level != "admin"), "{level}");
        let (method, path) = operation();
        let applied = platform
            .call("admin", (method, &path), Some(one(level, "x")), 200)
            .await;
        assert_eq!(applied["failedOverrides"], json!([]), "{level}");
        let one = format!("{path}/{level}");
        let status = if level == "admin" { 204 } else { 403 };
        platform
            .call("member", (Method::DELETE, &one), None, status)
            .await;
    }
}

// Endpoint: POST /v1/projects/{projectId}/variables/{variableName}/environment-overrides
#[tokio::test]
async fn post_overrides_names_every_wrong_field() {
    let (platform, _world) = platform_with_variables().await;
    let problem = platform.post(&path("t"), json!({}), 400).await;
    assert_eq!(fields(&problem), ["overrides"]);
    let body = json!({"overrides": [{"environmentName": ""}, 1, {"environmentName": "test", "value": []}]});
    let problem = platform.post(&path("t"), body, 400).await;
    let expected = [
        "overrides[0].environmentName",
        "overrides[0].value",
        "overrides[1]",
        "overrides[2].value",
    ];
    assert_eq!(fields(&problem), expected);
}

// Endpoint: GET /v1/projects/{projectId}/variables/{variableName}/environment-overrides
#[tokio::test]
async fn get_overrides_gives_one_environment_when_asked() {
    let (platform, _world) = platform_with_variables().await;
    for name in ["production", "test"] {
        platform.post(&path("n"), one(name, 5), 200).await;
    }
    let document = platform
        .read(&format!("{}?environmentName=test", path("n")))
        .await;
    assert_eq!(
        document["overrides"],
        json!([{"environmentName": "test", "value": 5}])
    );
    let document = platform
        .read(&format!("{}?environmentName=nowhere", path("n")))
        .await;
    assert_eq!(document["overrides"], json!([]));
    platform.get_refused(&path("none"), 404).await;
}

#[tokio::test]
async fn path_segment_that_is_no_text_is_named() {
    let (platform, _world) = platform_with_variables().await;
    for (path, named) in [
        (path("%ff"), "variableName"),
        (path("t").replace(&GIVEN.to_string(), "%ff"), "projectId"),
    ] {
        let problem = platform.get_refused(&path, 400).await;
        assert_eq!(
            problem["validation-errors"],
            json!([{ "field": named, "message": "must be UTF-8" }])
        );
    }
}

// Endpoint: DELETE /v1/projects/{projectId}/variables/{variableName}/environment-overrides/{environmentName}
#[tokio::test]
async fn delete_overrides_removes_one() {
    let (platform, _world) = platform_with_variables().await;
    platform.post(&path("t"), one("test", "x"), 200).await;
    let one = format!("{}/test", path("t"));
    platform.call("member", (Method::DELETE, &one), None, 204).await;
    platform.call("member", (Method::DELETE, &one), None, 404).await;
    let of_none = format!("{}/test", path("none"));
    platform
        .call("member", (Method::DELETE, &of_none), None, 404)
        .await;
}

#[tokio::test]
async fn delete_variables_removes_their_overrides() {
    let (platform, _world) = platform_with_variables().await;
    platform.post(&path("t"), one("test", "x"), 200).await;
    let variable = format!("{}/variables/t", project());
    platform
        .call("member", (Method::DELETE, &variable), None, 204)
        .await;
    platform
        .post(
            &format!("{}/variables", project()),
            text_variable("t", "new"),
            201,
        )
        .await;
    assert_eq!(platform.read(&path("t")).await["overrides"], json!([]));
}

#[tokio::test]
async fn patch_variables_keeps_overrides_from_losing_their_type() {
    let (platform, _world) = platform_with_variables().await;
    platform.post(&path("t"), one("test", "x"), 200).await;
    let variable = format!("{}/variables/t", project());
    let body = json!({"type": "NUMBER", "behaviour": "SHARED", "value": 1});
    let change = |status| platform.call("member", (Method::PATCH, &variable), Some(body.clone()), status);
    change(409).await;
    let one = format!("{}/test", path("t"));
    platform.call("member", (Method::DELETE, &one), None, 204).await;
    change(204).await;
}
