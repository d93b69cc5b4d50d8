//! Each call: the request that it sends, and how it reads documented and other responses.

use crate::support::{TOKEN, call_refusing_server, json, platform, server_expecting};
use sluicegate_platform::api::{ReviewFields, ReviewRequest};
use sluicegate_platform::http::ErrorKind;
use uuid::Uuid;
use wiremock::matchers::{
    body_json, header, header_regex, method, path, query_param, query_param_is_missing,
};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

const PROJECT: Uuid = Uuid::from_u128(7);

fn review_request() -> ReviewRequest {
    ReviewRequest {
        branch_name: "feature/x".to_owned(),
        commit_id: "c0ffee".to_owned(),
        pipelines: vec!["sales/load orders.orch.yaml".to_owned()],
    }
}

// Endpoint: POST /v1/projects/{projectId}/reviews
#[tokio::test]
async fn review_is_sent_and_read_as_documented() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path(format!("/v1/projects/{PROJECT}/reviews")))
        .and(header("agent-version", "9.0.0"))
        .and(header("authorization", format!("Bearer {TOKEN}")))
        .and(header("content-type", "application/json"))
        // The address follows once the project has one.
        .and(header_regex(
            "user-agent",
            concat!("^sluicegate/", env!("CARGO_PKG_VERSION"), r"( \(\+https://[^ ]+\))?$"),
        ))
        .and(body_json(
            serde_json::json!({ "branchName": "feature/x", "commitId": "c0ffee",
            "pipelines": ["sales/load orders.orch.yaml"] }),
        ))
        .respond_with(json(200, include_str!("../../../../tests/fixtures/api/review.json")))
        .expect(1)
        .mount(&server)
        .await;
    let answer = platform(&server.uri())
        .review(PROJECT, "9.0.0", &review_request(), &ReviewFields::Pipelines)
        .await
        .unwrap();
    insta::assert_debug_snapshot!(answer, @r#"
    ReviewResponse {
        review_status: Some(
            "FAILED",
        ),
        results: Some(
            {
                "sales/clean.tran.yaml": [],
                "sales/load orders.orch.yaml": [
                    RuleResponse {
                        rule_name: Some(
                            "component-naming-convention",
                        ),
                        status: Some(
                            "PASSED",
                        ),
                        error_type: None,
                        violations: [],
                    },
                    RuleResponse {
                        rule_name: Some(
                            "maximum-components",
                        ),
                        status: Some(
                            "FAILED",
                        ),
                        error_type: None,
                        violations: [
                            "14 components are more than the 10 allowed",
                        ],
                    },
                    RuleResponse {
                        rule_name: Some(
                            "start-and-end-components",
                        ),
                        status: Some(
                            "ERROR",
                        ),
                        error_type: Some(
                            "designer/no-start-component",
                        ),
                        violations: [],
                    },
                ],
            },
        ),
        message: None,
        excluded_files: [
            "sales/notes.md",
        ],
    }
    "#);
}

// Endpoint: POST /v1/projects/{projectId}/reviews
#[tokio::test]
async fn review_of_wrong_shape_names_place() {
    for (body, place) in [
        (r#"{ "results": [] }"#, "results"),
        (
            r#"{ "results": { "a.orch.yaml": [{ "status": 1 }] } }"#,
            "results.a.orch.yaml[0].status",
        ),
        (
            r#"{ "results": { "a": [{ "violations": {} }] } }"#,
            "results.a[0].violations",
        ),
    ] {
        let server = MockServer::start().await;
        Mock::given(method("POST"))
            .respond_with(json(200, body))
            .mount(&server)
            .await;
        let error = platform(&server.uri())
            .review(PROJECT, "9.0.0", &review_request(), &ReviewFields::Pipelines)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadResponse);
        assert!(
            error.to_string().contains(&format!(" at {place}: invalid type")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn agent_version_that_no_header_can_carry_is_not_sent() {
    let server = MockServer::start().await;
    let error = platform(&server.uri())
        .review(PROJECT, "9\r\nx: y", &review_request(), &ReviewFields::Pipelines)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert_eq!(server.received_requests().await.unwrap().len(), 0);
}

// Endpoint: GET /v1/shared-pipelines
#[tokio::test]
async fn shared_pipelines_are_read_to_the_last_page() {
    let server = MockServer::start().await;
    Mock::given(path("/v1/shared-pipelines"))
        .respond_with(pages(250, None))
        .expect(3)
        .mount(&server)
        .await;
    let all = platform(&server.uri()).fetch_shared_pipelines().await.unwrap();
    let ids: Vec<_> = all
        .iter()
        .map(|entry| entry.shared_pipeline_id.clone().unwrap())
        .collect();
    assert_eq!(ids, (0..250).map(|number| number.to_string()).collect::<Vec<_>>());
    server.reset().await;
    let documented = json(
        200,
        include_str!("../../../../tests/fixtures/api/shared-pipelines.json"),
    );
    Mock::given(query_param("page", "0"))
        .respond_with(documented)
        .expect(1)
        .mount(&server)
        .await;
    let all = platform(&server.uri()).fetch_shared_pipelines().await.unwrap();
    assert_eq!(all[0].latest_version_name.as_deref(), Some("1.2.0"));
    assert_eq!(all[1].latest_version_name, None);
    assert_eq!(all[1].raw["description"], "Removes orders without lines");
}

/// Responds with pages of `total` numbered entries; with `most`, a page has at most that many.
fn pages(total: usize, most: Option<usize>) -> impl Fn(&Request) -> ResponseTemplate {
    move |request| {
        let number = |name: &str| -> Option<usize> {
            request
                .url
                .query_pairs()
                .find(|(key, _)| key == name)?
                .1
                .parse()
                .ok()
        };
        let asked = number("size").unwrap_or(20);
        let size = most.map_or(asked, |most| most.min(asked));
        let first = number("page").unwrap_or(0) * size;
        let entries: Vec<_> = (first..total.min(first + size))
            .map(
                |id| serde_json::json!({ "sharedPipelineId": id.to_string(), "versionName": id.to_string() }),
            )
            .collect();
        ResponseTemplate::new(200).set_body_json(
            serde_json::json!({ "results": entries, "page": number("page"), "size": size, "total": total }),
        )
    }
}

#[tokio::test]
async fn server_that_gives_smaller_pages_is_followed() {
    let server = MockServer::start().await;
    Mock::given(method("GET"))
        .respond_with(pages(45, Some(20)))
        .expect(3)
        .mount(&server)
        .await;
    assert_eq!(
        platform(&server.uri())
            .fetch_shared_pipelines()
            .await
            .unwrap()
            .len(),
        45
    );
}

#[tokio::test]
async fn server_that_repeats_its_page_is_an_error() {
    let server = MockServer::start().await;
    let page = r#"{ "results": [{ "sharedPipelineId": "1" }], "total": 2 }"#;
    Mock::given(method("GET"))
        .respond_with(json(200, page))
        .expect(2)
        .mount(&server)
        .await;
    let error = platform(&server.uri())
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert!(
        error.to_string().ends_with("page 1 repeats the previous page"),
        "{error}"
    );
    // A full page without a page number may be the first of several, too.
    let entries: Vec<_> = (0..100)
        .map(|id| serde_json::json!({ "sharedPipelineId": id.to_string() }))
        .collect();
    let server = MockServer::start().await;
    Mock::given(method("GET"))
        .respond_with(ResponseTemplate::new(200).set_body_json(entries))
        .expect(2)
        .mount(&server)
        .await;
    let error = platform(&server.uri())
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert!(
        error.to_string().ends_with("page 1 repeats the previous page"),
        "{error}"
    );
}

#[tokio::test]
async fn list_without_an_end_is_an_error() {
    let server = MockServer::start().await;
    Mock::given(method("GET"))
        .respond_with(pages(1_000_000, Some(1)))
        .mount(&server)
        .await;
    let error = platform(&server.uri())
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert!(
        error.to_string().ends_with("the list has more than 1000 pages"),
        "{error}"
    );
}

// Endpoint: GET /v1/shared-pipelines/artifacts
#[tokio::test]
async fn artifacts_are_read_in_any_shape() {
    for body in [
        r#"[{ "versionName": "1", "enabled": true }]"#,
        r#"{ "artifacts": [{ "versionName": "1", "enabled": true }] }"#,
        r#"{ "items": [{ "versionName": "1", "enabled": true }], "total": 1 }"#,
        r#"{ "content": [{ "versionName": "1", "enabled": true }], "number": 0, "totalElements": 1 }"#,
    ] {
        let server = MockServer::start().await;
        Mock::given(path("/v1/shared-pipelines/artifacts"))
            .and(query_param("sharedPipelineIdPrefix", "a & b"))
            .and(query_param_is_missing("page"))
            .respond_with(json(200, body))
            .expect(1)
            .mount(&server)
            .await;
        let all = platform(&server.uri())
            .fetch_artifacts(Some("a & b"))
            .await
            .unwrap();
        assert_eq!(
            (all[0].version_name.as_deref(), all[0].enabled),
            (Some("1"), Some(true))
        );
        assert_eq!(all[0].raw["versionName"], "1");
    }
    let server = MockServer::start().await;
    Mock::given(query_param_is_missing("sharedPipelineIdPrefix"))
        .respond_with(pages(45, None))
        .expect(3)
        .mount(&server)
        .await;
    assert_eq!(
        platform(&server.uri()).fetch_artifacts(None).await.unwrap().len(),
        45
    );
}

#[tokio::test]
async fn list_without_size_and_total_is_read_to_its_end() {
    let page = |names: &[&str]| {
        let entries: Vec<_> = names
            .iter()
            .map(|name| serde_json::json!({ "versionName": name }))
            .collect();
        ResponseTemplate::new(200).set_body_json(serde_json::json!({ "results": entries, "page": 0 }))
    };
    let paged = MockServer::start().await;
    // A page may be smaller than requested: only an empty page is the last one.
    for (number, names) in [(1, &["c", "d"][..]), (2, &["e"][..]), (3, &[])] {
        Mock::given(query_param("page", number.to_string()))
            .respond_with(page(names))
            .expect(1)
            .mount(&paged)
            .await;
    }
    Mock::given(query_param_is_missing("page"))
        .respond_with(page(&["a", "b"]))
        .expect(1)
        .mount(&paged)
        .await;
    assert_eq!(
        platform(&paged.uri()).fetch_artifacts(None).await.unwrap().len(),
        5
    );
    let whole = MockServer::start().await;
    Mock::given(method("GET"))
        .respond_with(page(&["a", "b"]))
        .expect(2)
        .mount(&whole)
        .await;
    assert_eq!(
        platform(&whole.uri()).fetch_artifacts(None).await.unwrap().len(),
        2
    );
}

#[tokio::test]
async fn list_entry_of_wrong_shape_names_place() {
    let server = MockServer::start().await;
    let body = r#"{ "results": [{}, { "enabled": 1 }] }"#;
    Mock::given(method("GET"))
        .respond_with(json(200, body))
        .mount(&server)
        .await;
    let error = platform(&server.uri())
        .fetch_artifacts(None)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains(" at results[1].enabled: invalid type"), "{error}");
    server.reset().await;
    Mock::given(method("GET"))
        .respond_with(json(200, r#"{ "page": 0 }"#))
        .mount(&server)
        .await;
    let error = platform(&server.uri())
        .fetch_artifacts(None)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("the response does not contain a list"), "{error}");
}

// Endpoint: GET /v1/shared-pipelines/artifacts/details
#[tokio::test]
async fn details_are_read_as_documented() {
    let server = MockServer::start().await;
    Mock::given(path("/v1/shared-pipelines/artifacts/details"))
        .and(query_param("sharedPipelineIdPrefix", "sales"))
        .and(query_param_is_missing("versionName"))
        .respond_with(json(
            200,
            include_str!("../../../../tests/fixtures/api/artifacts-details.json"),
        ))
        .expect(1)
        .mount(&server)
        .await;
    let details = platform(&server.uri())
        .fetch_artifact_details("sales", None)
        .await
        .unwrap();
    assert_eq!(
        details.artifact.commit_hash.as_deref(),
        Some("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
    );
    assert_eq!(details.artifact.provider.as_deref(), Some("public-api"));
    assert_eq!(
        details.shared_pipelines[0].source_pipeline.as_deref(),
        Some("sales/load orders")
    );
    assert_eq!(
        details.shared_pipelines[0].shared_pipeline_id.as_deref(),
        Some("load-orders")
    );
}

// Endpoint: PATCH /v1/shared-pipelines/artifacts
#[tokio::test]
async fn version_is_enabled_as_documented() {
    let server = MockServer::start().await;
    let body = serde_json::json!({ "sharedPipelineIdPrefix": "sales", "versionName": "1", "enabled": false });
    Mock::given(method("PATCH"))
        .and(path("/v1/shared-pipelines/artifacts"))
        .and(body_json(body))
        .respond_with(ResponseTemplate::new(200).set_body_string("whatever"))
        .expect(1)
        .mount(&server)
        .await;
    platform(&server.uri())
        .set_artifact_enabled("sales", "1", false)
        .await
        .unwrap();
}

// Endpoint: GET /v1/shared-pipelines/artifacts
#[tokio::test]
async fn artifacts_are_read_as_documented() {
    let documented = json(200, include_str!("../../../../tests/fixtures/api/artifacts.json"));
    let (_server, platform) =
        server_expecting("GET", "/v1/shared-pipelines/artifacts", None, documented).await;
    let all = platform.fetch_artifacts(None).await.unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(
        (
            all[0].version_name.as_deref(),
            all[0].enabled,
            all[0].branch.as_deref()
        ),
        (Some("1.2.0"), Some(true), Some("main"))
    );
}

#[tokio::test]
async fn details_of_a_version_that_is_not_there_are_not_found() {
    let (request_count, error) = call_refusing_server(404, async |platform| {
        platform.fetch_artifact_details("sales", Some("latest")).await
    })
    .await;
    assert_eq!((request_count, error.kind()), (1, ErrorKind::NotFound));
    assert!(error.to_string().contains("versionName=latest"), "{error}");
}

// Endpoint: POST /v1/projects/{projectId}/reviews
#[tokio::test]
async fn review_of_what_is_not_there_is_not_found() {
    let (request_count, error) = call_refusing_server(404, async |platform| {
        platform
            .review(PROJECT, "9.0.0", &review_request(), &ReviewFields::Pipelines)
            .await
    })
    .await;
    assert_eq!((request_count, error.kind()), (1, ErrorKind::NotFound));
}

#[tokio::test]
async fn refused_review_has_a_hint_about_values_to_check_unless_access_is_denied() {
    for (status, has_hint) in [(400, true), (404, true), (403, false)] {
        let path = format!("/v1/projects/{PROJECT}/reviews");
        let answer = json(status, r#"{ "detail": "no" }"#);
        let (_server, platform) = server_expecting("POST", &path, None, answer).await;
        let error = platform
            .review(PROJECT, "9.0.0", &review_request(), &ReviewFields::Pipelines)
            .await
            .unwrap_err();
        let hint = error.hint();
        assert_eq!(hint.contains("check the base URL"), has_hint, "{status}: {hint}");
    }
}

#[tokio::test]
async fn access_to_shared_pipelines_fails_with_the_status_of_the_platform() {
    for status in [200, 403] {
        let answer = json(status, r#"{ "artifacts": [] }"#);
        let (_server, platform) = server_expecting("GET", "/v1/shared-pipelines", None, answer).await;
        let access = platform.check_shared_pipelines_access().await;
        assert_eq!(
            access.err().and_then(|error| error.status()),
            (status == 403).then_some(403)
        );
    }
}

#[tokio::test]
async fn review_is_read_from_status_200_and_201_and_no_other() {
    for (status, is_valid) in [(200, true), (201, true), (202, false)] {
        let answer = json(status, include_str!("../../../../tests/fixtures/api/review.json"));
        let path = format!("/v1/projects/{PROJECT}/reviews");
        let (_server, platform) = server_expecting("POST", &path, None, answer).await;
        let review = platform
            .review(PROJECT, "9.0.0", &review_request(), &ReviewFields::Pipelines)
            .await;
        assert_eq!(review.is_ok(), is_valid, "{status}");
    }
}
