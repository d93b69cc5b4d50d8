//! Publishing: accepted, excluded and rejected files.

use crate::platform::{Platform, SHARED, expect_problem, fields, keys, success};
use reqwest::Method;
use serde_json::{Value, json};
use sluicegate_test_support::platform_requests::{
    ARTIFACTS, CONFIGURATION, DETAILS, PUBLISH_PARTS, SHARED_PIPELINES_PART, build_form,
};
use std::collections::BTreeSet;

async fn nothing_is_stored(platform: &Platform) {
    assert_eq!(platform.get(ARTIFACTS).await["total"], 0);
    assert_eq!(platform.get(SHARED).await["total"], 0);
}

// Endpoint: GET /v1/shared-pipelines/artifacts/details
// Endpoint: POST /v1/shared-pipelines/artifacts
#[tokio::test]
async fn version_is_shown_as_it_was_published() {
    let platform = Platform::empty().await;
    let request = platform
        .publish_request("sales", "1.2.0")
        .header("commitHash", "4b825dc642cb6eb9a060e54bf8d69288fbee4904")
        .header("branch", "größe");
    let published = success(request.body(build_form(&PUBLISH_PARTS)).send().await.unwrap()).await;
    assert_eq!(published, json!({"versionName": "1.2.0", "ignoredResources": []}));

    let mut details = platform
        .get(&format!("{DETAILS}?sharedPipelineIdPrefix=sales"))
        .await;
    let document: Value = serde_json::from_str(include_str!(
        "../../../../tests/fixtures/api/artifacts-details.json"
    ))
    .unwrap();
    assert_eq!(keys(&details), keys(&document));
    let created = details["artifactDetails"]["createdAt"].take();
    let created: jiff::Timestamp = created.as_str().unwrap().parse().unwrap();
    assert!(created <= jiff::Timestamp::now());
    let expected = json!({
        "artifactDetails": {
            "sharedPipelineIdPrefix": "sales", "versionName": "1.2.0", "enabled": true, "createdAt": null,
            "provider": "public-api", "commitHash": "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "branch": "größe",
        },
        "sharedPipelines": [
            {"sharedPipelineId": "load", "sourcePipeline": "folder/load it", "description": "Loads it"},
            {"sharedPipelineId": "clean", "sourcePipeline": "clean", "description": null},
        ],
    });
    assert_eq!(details, expected);
}

#[tokio::test]
async fn publish_leaves_out_and_lists_foreign_files() {
    let platform = Platform::empty().await;
    let parts = [
        (SHARED_PIPELINES_PART, CONFIGURATION),
        ("folder/load it.orch.yaml", ""),
        ("child.orch.yaml", ""),
        ("q.sql", ""),
        ("notes.md", ""),
        ("all.zip", ""),
    ];
    let published = success(platform.publish("p", "v", &parts).await).await;
    let document: Value =
        serde_json::from_str(include_str!("../../../../tests/fixtures/api/publish.json")).unwrap();
    assert_eq!(keys(&published), keys(&document));
    let ignored = published["ignoredResources"].as_array().unwrap();
    let names: Vec<&str> = ignored
        .iter()
        .map(|entry| entry["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["all.zip", "notes.md", "clean.tran.yaml"]);
    assert!(
        ignored
            .iter()
            .all(|entry| !entry["reason"].as_str().unwrap().is_empty())
    );
    let details = platform.get(&format!("{DETAILS}?sharedPipelineIdPrefix=p")).await;
    assert_eq!(details["sharedPipelines"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn names_that_leave_the_artifact_are_refused_and_nothing_is_stored() {
    let platform = Platform::empty().await;
    for name in [
        "/etc/x.sql",
        "../x.sql",
        "a/../../x.sql",
        "..\\x.sql",
        "C:/x.sql",
        "nul\0.sql",
        "",
        "clean.tran.yaml",
    ] {
        let mut parts = PUBLISH_PARTS.to_vec();
        parts.push((name, ""));
        let body = expect_problem(platform.publish("p", "v", &parts).await, 400).await;
        assert_eq!(fields(&body), [name], "{body}");
    }
    nothing_is_stored(&platform).await;
}

#[tokio::test]
async fn broken_form_stores_nothing() {
    let platform = Platform::empty().await;
    let whole = build_form(&PUBLISH_PARTS);
    for length in [0, 10, 60, whole.len() - 40, whole.len() - 5] {
        expect_problem(
            platform.publish_form("p", "v", whole[..length].to_vec()).await,
            400,
        )
        .await;
    }
    let mut torn = tokio::net::TcpStream::connect(platform.address()).await.unwrap();
    let head = format!(
        "POST {ARTIFACTS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\nsharedPipelineIdPrefix: p\r\n\
         versionName: v\r\nContent-Type: multipart/form-data; boundary=the-boundary\r\nContent-Length: {}\r\n\r\n",
        whole.len()
    );
    tokio::io::AsyncWriteExt::write_all(&mut torn, &[head.as_bytes(), &whole[..whole.len() - 20]].concat())
        .await
        .unwrap();
    tokio::io::AsyncWriteExt::shutdown(&mut torn).await.unwrap();
    let mut rest = Vec::new();
    // The end of the response or a reset: either way, the platform has finished the request.
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut torn, &mut rest).await;
    nothing_is_stored(&platform).await;
}

#[tokio::test]
async fn publish_needs_exactly_one_readable_shared_pipelines_file() {
    let platform = Platform::empty().await;
    let broken = "pipelines: [";
    for parts in [
        &[][..],
        &[("clean.tran.yaml", "")],
        &[("a/.any/shared-pipelines.yaml", CONFIGURATION)],
        &[
            (SHARED_PIPELINES_PART, CONFIGURATION),
            (".other/shared-pipelines.yaml", CONFIGURATION),
        ],
        &[(SHARED_PIPELINES_PART, broken)],
        &[(SHARED_PIPELINES_PART, "pipelines: [{ pipeline: a.orch.yaml }]")],
        &[(SHARED_PIPELINES_PART, "")],
    ] {
        expect_problem(platform.publish("p", "v", parts).await, 400).await;
    }
    nothing_is_stored(&platform).await;
}

#[tokio::test]
async fn prefix_version_and_form_data_are_needed() {
    let platform = Platform::empty().await;
    let request = || {
        platform
            .request("admin", Method::POST, ARTIFACTS)
            .body(build_form(&PUBLISH_PARTS))
    };
    let body = expect_problem(request().header("versionName", "").send().await.unwrap(), 400).await;
    assert_eq!(fields(&body), ["sharedPipelineIdPrefix", "versionName"]);
    let named = request()
        .header("sharedPipelineIdPrefix", "p")
        .header("versionName", "v");
    let doubled = named.try_clone().unwrap().header("versionName", "w");
    let body = expect_problem(doubled.send().await.unwrap(), 400).await;
    assert_eq!(fields(&body), ["versionName"]);
    let body = expect_problem(
        named
            .header("content-type", "application/json")
            .send()
            .await
            .unwrap(),
        400,
    )
    .await;
    assert_eq!(fields(&body), ["content-type"]);
    nothing_is_stored(&platform).await;
}

#[tokio::test]
async fn part_over_limit_is_refused() {
    let platform = Platform::empty().await;
    let large = "x".repeat(64 * 1024 * 1024 + 1);
    let mut parts = PUBLISH_PARTS.to_vec();
    parts.push(("q.sql", &large[1..]));
    success(platform.publish("p", "fits", &parts).await).await;
    parts.push(("r.sql", &large));
    expect_problem(platform.publish("p", "does not", &parts).await, 413).await;
    assert_eq!(platform.get(ARTIFACTS).await["total"], 1);
}

// Endpoint: POST /v1/shared-pipelines/artifacts
#[tokio::test]
async fn version_is_published_once() {
    let platform = Platform::empty().await;
    success(platform.publish("p", "v", &PUBLISH_PARTS).await).await;
    expect_problem(platform.publish("p", "v", &PUBLISH_PARTS).await, 409).await;
    success(platform.publish("P", "v", &PUBLISH_PARTS).await).await;
    success(platform.publish("p", "V", &PUBLISH_PARTS).await).await;
    success(platform.set_enabled("p", "v", false).await).await;
    expect_problem(platform.publish("p", "v", &PUBLISH_PARTS).await, 409).await;
    let list = platform
        .get(&format!("{ARTIFACTS}?sharedPipelineIdPrefix=p"))
        .await;
    let names: Vec<&str> = list["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["versionName"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["V", "v"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_clients_that_race_for_a_version_one_wins() {
    let platform = Platform::empty().await;
    let racers = (0..32).map(|racer| {
        let request = platform
            .publish_request("p", "v")
            .header("branch", racer.to_string())
            .body(build_form(&PUBLISH_PARTS));
        tokio::spawn(async move { (racer.to_string(), request.send().await.unwrap().status().as_u16()) })
    });
    let mut winners = Vec::new();
    for racer in racers.collect::<Vec<_>>() {
        match racer.await.unwrap() {
            (name, 200) => winners.push(name),
            (_, status) => assert_eq!(status, 409),
        }
    }
    let list = platform.get(ARTIFACTS).await;
    assert_eq!(winners.len(), 1);
    assert_eq!(list["total"], 1);
    assert_eq!(list["results"][0]["branch"], winners[0].as_str());
}

#[tokio::test]
async fn names_come_in_as_clients_write_them() {
    let platform = Platform::empty().await;
    let configuration = "pipelines: [{ pipeline: \"a \\\"b\\\"\\nc.orch.yaml\", id: x, enabled: true }]";
    let parts = [
        (SHARED_PIPELINES_PART, configuration),
        ("a %22b%22%0Ac.orch.yaml", ""),
    ];
    let published = success(platform.publish("p", "v", &parts).await).await;
    assert_eq!(published["ignoredResources"], json!([]));
    let details = platform.get(&format!("{DETAILS}?sharedPipelineIdPrefix=p")).await;
    assert_eq!(details["sharedPipelines"][0]["sourcePipeline"], "a \"b\"\nc");
}

#[tokio::test]
async fn many_small_parts_are_taken() {
    let platform = Platform::empty().await;
    let names: BTreeSet<String> = (0..2_000).map(|number| format!("sql/{number}.sql")).collect();
    let mut parts = PUBLISH_PARTS.to_vec();
    parts.extend(names.iter().map(|name| (name.as_str(), "select 1")));
    let published = success(platform.publish("p", "v", &parts).await).await;
    assert_eq!(published["ignoredResources"], json!([]));
}
