//! Redirects: followed only within the origin, and never with the token to another one.

use crate::support::{TOKEN, empty_list, json, platform};
use serde_json::Value;
use sluicegate_platform::http::{ErrorKind, HttpError};
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

fn redirect_to(status: u16, location: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).insert_header("location", location)
}

/// Sends a PATCH, which enables a version.
async fn enable_version(server: &MockServer) -> Result<Value, HttpError> {
    platform(&server.uri()).set_artifact_enabled("p", "v", true).await
}

#[tokio::test]
async fn reads_follow_within_the_origin() {
    for status in [301, 302, 303, 307, 308] {
        let server = MockServer::start().await;
        Mock::given(path("/v1/shared-pipelines"))
            .respond_with(redirect_to(status, "/new/list"))
            .mount(&server)
            .await;
        Mock::given(path("/new/list"))
            .and(method("GET"))
            .and(header("authorization", format!("Bearer {TOKEN}")))
            .respond_with(empty_list())
            .expect(1)
            .mount(&server)
            .await;
        platform(&server.uri()).fetch_shared_pipelines().await.unwrap();
    }
}

#[tokio::test]
async fn other_methods_follow_only_what_keeps_them() {
    let server = MockServer::start().await;
    Mock::given(path("/v1/shared-pipelines/artifacts"))
        .respond_with(redirect_to(308, "/new"))
        .mount(&server)
        .await;
    Mock::given(path("/new"))
        .and(method("PATCH"))
        .respond_with(json(200, "{}"))
        .expect(1)
        .mount(&server)
        .await;
    enable_version(&server).await.unwrap();
    server.reset().await;
    Mock::given(path("/v1/shared-pipelines/artifacts"))
        .respond_with(redirect_to(303, "/new"))
        .mount(&server)
        .await;
    Mock::given(path("/new"))
        .respond_with(json(200, "{}"))
        .expect(0)
        .mount(&server)
        .await;
    let error = enable_version(&server).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadResponse);
    assert!(error.is_maybe_processed());
    let text = error.to_string().replace(&server.uri(), "https://h");
    let hint = error.hint();
    assert!(
        hint.starts_with("the request may have been processed nevertheless"),
        "{hint}"
    );
    insta::assert_snapshot!(text, @"PATCH https://h/v1/shared-pipelines/artifacts: 303 See Other: a redirect that would turn PATCH into GET is not followed");
}

#[tokio::test]
async fn change_that_is_redirected_to_another_origin_is_to_be_checked() {
    let server = MockServer::start().await;
    Mock::given(method("PATCH"))
        .respond_with(redirect_to(302, "https://other.example/new"))
        .mount(&server)
        .await;
    let error = enable_version(&server).await.unwrap_err();
    insta::assert_snapshot!(error.hint(), @"the request may have been processed nevertheless: check whether the request took effect before you repeat the command; then if this origin is the platform, set it as the base URL");
}

#[tokio::test]
async fn another_origin_gets_nothing() {
    let elsewhere = MockServer::start().await;
    Mock::given(method("GET"))
        .respond_with(empty_list())
        .expect(0)
        .mount(&elsewhere)
        .await;
    let server = MockServer::start().await;
    let target = format!("{}/steal?secret=1", elsewhere.uri());
    Mock::given(method("GET"))
        .respond_with(redirect_to(302, &target))
        .expect(1)
        .mount(&server)
        .await;
    let error = platform(&server.uri())
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadResponse);
    let text = error
        .to_string()
        .replace(&server.uri(), "https://h")
        .replace(&elsewhere.uri(), "https://other");
    insta::assert_snapshot!(text, @"GET https://h/v1/shared-pipelines?page=0&size=100: 302 Found: a redirect to another origin, https://other, is not followed");
    insta::assert_snapshot!(error.hint(), @"if this origin is the platform, set it as the base URL");
}

#[tokio::test]
async fn circle_of_redirects_ends_with_error() {
    let server = MockServer::start().await;
    Mock::given(method("GET"))
        .respond_with(redirect_to(307, "/v1/shared-pipelines"))
        .expect(6)
        .mount(&server)
        .await;
    let error = platform(&server.uri())
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadResponse);
    assert!(error.to_string().ends_with("more than 5 redirects"), "{error}");
    assert!(!error.is_maybe_processed());
    Mock::given(method("PATCH"))
        .respond_with(redirect_to(308, "/v1/shared-pipelines/artifacts"))
        .mount(&server)
        .await;
    let error = enable_version(&server).await.unwrap_err();
    // The first address may have changed the version before its response.
    assert!(error.is_maybe_processed());
}
