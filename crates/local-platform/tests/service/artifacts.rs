//! Published versions: lists, details, [Latest], enabling and disabling.

use crate::platform::{Platform, SHARED, expect_problem, keys, success};
use serde_json::{Value, json};
use sluicegate_test_support::platform_requests::{ARTIFACTS, DETAILS, PUBLISH_PARTS};

async fn with_versions(versions: &[&str]) -> Platform {
    let platform = Platform::empty().await;
    for version in versions {
        success(platform.publish("p", version, &PUBLISH_PARTS).await).await;
    }
    platform
}

async fn latest(platform: &Platform) -> Value {
    let details = platform.get(&format!("{DETAILS}?sharedPipelineIdPrefix=p")).await;
    let list = platform.get(SHARED).await;
    let name = details["artifactDetails"]["versionName"].clone();
    assert_eq!(list["results"][0]["latestVersionName"], name);
    name
}

// Endpoint: PATCH /v1/shared-pipelines/artifacts
#[tokio::test]
async fn latest_is_the_last_published_of_the_enabled() {
    let platform = with_versions(&["b", "c", "a"]).await;
    assert_eq!(latest(&platform).await, "a");
    success(platform.set_enabled("p", "a", false).await).await;
    assert_eq!(latest(&platform).await, "c");
    success(platform.set_enabled("p", "b", false).await).await;
    success(platform.set_enabled("p", "b", true).await).await;
    assert_eq!(latest(&platform).await, "c");
    success(platform.set_enabled("p", "a", true).await).await;
    assert_eq!(latest(&platform).await, "a");
}

#[tokio::test]
async fn without_an_enabled_version_there_is_no_latest() {
    let platform = with_versions(&["v"]).await;
    let changed = success(platform.set_enabled("p", "v", false).await).await;
    assert_eq!(
        (&changed["versionName"], &changed["enabled"]),
        (&json!("v"), &json!(false))
    );
    platform
        .get_refused(&format!("{DETAILS}?sharedPipelineIdPrefix=p"), 404)
        .await;
    let list = platform.get(SHARED).await;
    assert_eq!(list["total"], 2);
    assert_eq!(list["results"][0]["latestVersionName"], Value::Null);
    let details = platform
        .get(&format!("{DETAILS}?sharedPipelineIdPrefix=p&versionName=v"))
        .await;
    assert_eq!(details["artifactDetails"]["enabled"], false);
}

// Endpoint: GET /v1/shared-pipelines/artifacts/details
#[tokio::test]
async fn names_that_do_not_exist_are_not_found() {
    let platform = with_versions(&["v"]).await;
    for query in [
        "p&versionName=latest",
        "p&versionName=V",
        "p&versionName=",
        "P&versionName=v",
        "other",
    ] {
        platform
            .get_refused(&format!("{DETAILS}?sharedPipelineIdPrefix={query}"), 404)
            .await;
    }
    expect_problem(platform.set_enabled("p", "latest", true).await, 404).await;
    expect_problem(platform.set_enabled("P", "v", false).await, 404).await;
    assert_eq!(latest(&platform).await, "v");
}

// Endpoint: GET /v1/shared-pipelines
#[tokio::test]
async fn shared_pipelines_are_listed_once_with_what_the_api_document_names() {
    let platform = with_versions(&["1", "2"]).await;
    let other = [
        (
            ".x/shared-pipelines.yaml",
            "pipelines: [{ pipeline: b.orch.yaml, id: b, description: new, enabled: true }]",
        ),
        ("b.orch.yaml", ""),
    ];
    success(platform.publish("p", "3", &other).await).await;
    success(platform.publish("o", "1", &other).await).await;
    let list = platform.get(SHARED).await;
    let document: Value = serde_json::from_str(include_str!(
        "../../../../tests/fixtures/api/shared-pipelines.json"
    ))
    .unwrap();
    assert_eq!(keys(&list), keys(&document));
    let item = |prefix: &str, id: &str, description: Value, version: &str| {
        json!({
            "sharedPipelineIdPrefix": prefix, "sharedPipelineId": id,
            "description": description, "latestVersionName": version,
        })
    };
    let expected = [
        item("o", "b", json!("new"), "1"),
        item("p", "b", json!("new"), "3"),
        item("p", "clean", Value::Null, "2"),
        item("p", "load", json!("Loads it"), "2"),
    ];
    assert_eq!(
        list,
        json!({"results": expected, "page": 0, "size": 20, "total": 4})
    );
    let second = platform.get(&format!("{SHARED}?page=1&size=3")).await;
    assert_eq!(
        second,
        json!({"results": [expected[3]], "page": 1, "size": 3, "total": 4})
    );
}

// Endpoint: GET /v1/shared-pipelines/artifacts
#[tokio::test]
async fn versions_are_listed_newest_first_and_filtered() {
    let platform = with_versions(&["1", "2", "3"]).await;
    success(platform.publish("größe & co", "1", &PUBLISH_PARTS).await).await;
    success(platform.set_enabled("p", "2", false).await).await;
    for (query, expected) in [
        ("", &["1", "3", "2", "1"][..]),
        ("?sharedPipelineIdPrefix=p", &["3", "2", "1"]),
        ("?sharedPipelineIdPrefix=gr%C3%B6%C3%9Fe%20%26+co", &["1"]),
        ("?sharedPipelineIdPrefix=none", &[]),
        ("?versionName=1", &["1", "1"]),
        ("?enabled=false", &["2"]),
        ("?enabled=true&sharedPipelineIdPrefix=p", &["3", "1"]),
    ] {
        let list = platform.get(&format!("{ARTIFACTS}{query}")).await;
        let names: Vec<&str> = list["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["versionName"].as_str().unwrap())
            .collect();
        assert_eq!(names, expected, "{query}");
        assert_eq!(list["total"], expected.len(), "{query}");
    }
    let page = platform
        .get(&format!("{ARTIFACTS}?sharedPipelineIdPrefix=p&page=1&size=2"))
        .await;
    assert_eq!(
        (&page["results"][0]["versionName"], &page["total"]),
        (&json!("1"), &json!(3))
    );
    let all: Vec<String> = keys(&page["results"][0]).into_keys().collect();
    assert_eq!(
        all,
        [
            "branch",
            "commitHash",
            "createdAt",
            "enabled",
            "provider",
            "sharedPipelineIdPrefix",
            "versionName"
        ]
    );
    platform
        .get_refused(&format!("{ARTIFACTS}?enabled=yes"), 400)
        .await;
}
