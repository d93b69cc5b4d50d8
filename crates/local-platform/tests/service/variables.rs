//! Project variables.

use crate::platform::{Platform, column, fields, same_keys};
use crate::projects::{GIVEN, with_given};
use reqwest::Method;
use serde_json::{Value, json};
use sluicegate_test_support::platform_requests::text_variable;
use std::sync::Arc;

fn path() -> String {
    format!("/v1/projects/{GIVEN}/variables")
}

/// Returns the body of a variable of type NUMBER.
pub fn number(name: &str, value: impl Into<Value>) -> Value {
    json!({"name": name, "type": "NUMBER", "behaviour": "COPIED", "value": value.into()})
}

async fn change(platform: &Platform, name: &str, body: Value, status: u16) -> Value {
    let path = format!("{}/{name}", path());
    platform
        .call("member", (Method::PATCH, &path), Some(body), status)
        .await
}

async fn single_variable(platform: &Platform) -> Value {
    platform.read(&path()).await["results"][0].clone()
}

// Endpoint: POST /v1/projects/{projectId}/variables
#[tokio::test]
async fn post_variables_makes_one() {
    let (platform, _world) = with_given().await;
    let mut body = text_variable("region", "eu");
    body["description"] = "Where".into();
    body["supportsDoubleResolution"] = true.into();
    let created = platform.post(&path(), body, 201).await;
    same_keys(
        &created,
        include_str!("../../../../tests/fixtures/api/variable-created.json"),
    );
    assert_eq!(
        (&created["name"], &created["value"]),
        (&json!("region"), &json!("eu"))
    );
    for value in [
        json!(30),
        json!(-0.5),
        json!(1e300),
        json!(9_007_199_254_740_993_u64),
    ] {
        let created = platform
            .post(&path(), number(&value.to_string(), value.clone()), 201)
            .await;
        assert_eq!(created["value"], value);
    }
    let list = platform.read(&path()).await;
    same_keys(
        &list,
        include_str!("../../../../tests/fixtures/api/variables.json"),
    );
    let first = &list["results"][0];
    assert_eq!(
        first,
        &json!({"id": created["id"], "name": "region", "type": "TEXT", "behaviour": "SHARED",
            "description": "Where", "value": "eu", "supportsDoubleResolution": true})
    );
}

// Endpoint: POST /v1/projects/{projectId}/variables
#[tokio::test]
async fn post_variables_refuses_a_second_of_the_same_name() {
    let (platform, _world) = with_given().await;
    platform.post(&path(), text_variable("a", ""), 201).await;
    platform.post(&path(), number("a", 1), 409).await;
    platform.post(&path(), text_variable("A", ""), 201).await;
    assert_eq!(single_variable(&platform).await["value"], "");
}

// Endpoint: POST /v1/projects/{projectId}/variables
#[tokio::test]
async fn post_variables_refuses_values_that_do_not_fit_the_type() {
    let (platform, _world) = with_given().await;
    for (body, expected) in [
        (text_variable("", "x"), &["name"][..]),
        (number("n", "30"), &["value"]),
        (
            json!({"name": "n", "type": "TEXT", "behaviour": "SHARED", "value": 1}),
            &["value"],
        ),
        (
            json!({"name": "n", "type": "TEXT", "behaviour": "SHARED", "value": true}),
            &["value"],
        ),
        (
            json!({"name": "n", "type": "GRID", "behaviour": "LOCAL", "value": "x"}),
            &["type", "behaviour"],
        ),
        (json!({}), &["name", "type", "behaviour", "value"]),
        (
            json!({"name": "n", "type": "TEXT", "behaviour": "SHARED", "value": "", "description": 1,
                "supportsDoubleResolution": "yes"}),
            &["description", "supportsDoubleResolution"],
        ),
    ] {
        let problem = platform.post(&path(), body, 400).await;
        assert_eq!(fields(&problem), expected);
    }
    assert_eq!(platform.read(&path()).await["total"], 0);
}

// Endpoint: POST /v1/projects/{projectId}/variables
#[tokio::test]
async fn post_variables_lets_one_of_32_callers_win() {
    let (platform, _world) = with_given().await;
    let platform = Arc::new(platform);
    let callers = (0..32).map(|number| {
        let platform = Arc::clone(&platform);
        tokio::spawn(async move {
            let request = platform.request("member", Method::POST, &path());
            let response = request
                .json(&text_variable("one", &number.to_string()))
                .send()
                .await
                .unwrap();
            (response.status().as_u16(), number.to_string())
        })
    });
    let mut won = Vec::new();
    for caller in callers.collect::<Vec<_>>() {
        match caller.await.unwrap() {
            (201, value) => won.push(value),
            (status, _) => assert_eq!(status, 409),
        }
    }
    assert_eq!(won.len(), 1);
    assert_eq!(single_variable(&platform).await["value"], won[0]);
}

// Endpoint: GET /v1/projects/{projectId}/variables
#[tokio::test]
async fn get_variables_has_pages_of_25() {
    let (platform, _world) = with_given().await;
    for index in 0..27 {
        platform
            .post(&path(), number(&format!("v{index:02}"), index), 201)
            .await;
    }
    let first = platform.read(&path()).await;
    assert_eq!(
        (&first["page"], &first["size"], &first["total"]),
        (&json!(0), &json!(25), &json!(27))
    );
    assert_eq!(first["results"].as_array().unwrap().len(), 25);
    let second = platform.read(&format!("{}?page=1", path())).await;
    assert_eq!(column(&second["results"], "name"), ["v25", "v26"]);
    for query in ["size=0", "size=101", "page=-1"] {
        platform.get_refused(&format!("{}?{query}", path()), 400).await;
    }
}

#[tokio::test]
async fn body_with_duplicate_key_is_refused() {
    let (platform, _world) = with_given().await;
    let body = r#"{"name": "a", "type": "TEXT", "behaviour": "SHARED", "value": "x", "value": "y"}"#;
    let request = platform
        .request("member", Method::POST, &path())
        .header("content-type", "application/json")
        .body(body);
    let problem = crate::platform::expect_problem(request.send().await.unwrap(), 400).await;
    assert!(problem.to_string().contains("ambiguous"), "{problem}");
}

// Endpoint: PATCH /v1/projects/{projectId}/variables/{variableName}
#[tokio::test]
async fn patch_of_variable_needs_type_and_behaviour_and_keeps_other_fields() {
    let (platform, _world) = with_given().await;
    let mut body = text_variable("a", "x");
    body["description"] = "first".into();
    platform.post(&path(), body, 201).await;
    let problem = change(&platform, "a", json!({"value": "y"}), 400).await;
    assert_eq!(fields(&problem), ["type", "behaviour"]);
    let renamed = json!({"type": "TEXT", "behaviour": "COPIED", "name": "b"});
    assert_eq!(fields(&change(&platform, "a", renamed, 400).await), ["name"]);
    let unchanged = json!({"type": "TEXT", "behaviour": "COPIED"});
    assert_eq!(change(&platform, "a", unchanged, 204).await, Value::Null);
    let document = single_variable(&platform).await;
    assert_eq!(
        (
            &document["behaviour"],
            &document["value"],
            &document["description"]
        ),
        (&json!("COPIED"), &json!("x"), &json!("first"))
    );
    let body = json!({"type": "TEXT", "behaviour": "SHARED", "description": "", "value": "",
        "supportsDoubleResolution": true});
    change(&platform, "a", body, 204).await;
    let document = single_variable(&platform).await;
    assert_eq!(
        (&document["value"], &document["description"]),
        (&json!(""), &json!(""))
    );
    assert_eq!(document["supportsDoubleResolution"], true);
    change(
        &platform,
        "none",
        json!({"type": "TEXT", "behaviour": "SHARED"}),
        404,
    )
    .await;
}

// Endpoint: PATCH /v1/projects/{projectId}/variables/{variableName}
#[tokio::test]
async fn patch_variables_lets_type_and_value_change_together() {
    let (platform, _world) = with_given().await;
    platform.post(&path(), text_variable("a", "x"), 201).await;
    let problem = change(
        &platform,
        "a",
        json!({"type": "NUMBER", "behaviour": "SHARED"}),
        400,
    )
    .await;
    assert_eq!(fields(&problem), ["value"]);
    change(
        &platform,
        "a",
        json!({"type": "NUMBER", "behaviour": "SHARED", "value": "1"}),
        400,
    )
    .await;
    change(
        &platform,
        "a",
        json!({"type": "NUMBER", "behaviour": "SHARED", "value": 1}),
        204,
    )
    .await;
    assert_eq!(single_variable(&platform).await["value"], 1);
}

// Endpoint: DELETE /v1/projects/{projectId}/variables/{variableName}
#[tokio::test]
async fn delete_variables_removes_it_for_good() {
    let (platform, _world) = with_given().await;
    platform.post(&path(), text_variable("a / ü", "x"), 201).await;
    let one = format!("{}/a%20%2F%20%C3%BC", path());
    assert_eq!(
        platform.call("member", (Method::DELETE, &one), None, 204).await,
        Value::Null
    );
    platform.call("member", (Method::DELETE, &one), None, 404).await;
    assert_eq!(platform.read(&path()).await["total"], 0);
    platform.post(&path(), number("a / ü", 1), 201).await;
}
