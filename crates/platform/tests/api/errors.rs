//! The messages of client errors.

use crate::support::{TOKEN, json, platform};
use sluicegate_platform::http::{ErrorKind, HttpError};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

async fn failure(answer: ResponseTemplate) -> (HttpError, String) {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(answer).mount(&server).await;
    let base = format!("{}/dpc", server.uri());
    let error = platform(&base)
        .fetch_artifact_details("sales", Some("1.0"))
        .await
        .unwrap_err();
    let text = error.to_string().replace(&server.uri(), "https://h");
    (error, text)
}

#[tokio::test]
async fn every_body_shape_is_shown() {
    let shown = |answer| async { failure(answer).await.1 };
    let validation = include_str!("../../../../tests/fixtures/api/validation-error.json");
    insta::assert_snapshot!(shown(json(400, validation)).await, @r"
    GET https://h/dpc/v1/shared-pipelines/artifacts/details?sharedPipelineIdPrefix=sales&versionName=1.0: 400 Bad Request: There are validation errors (instance /v1/projects/9c5b94b1-35ad-49bb-b118-8e8fc24abf80/streaming-pipelines)
    - streamingSource.connection.username: must not be empty
    - streamingTarget.connection.authentication: must not be null
    ");
    let conflict = include_str!("../../../../tests/fixtures/api/conflict.json");
    insta::assert_snapshot!(shown(json(409, conflict)).await, @"GET https://h/dpc/v1/shared-pipelines/artifacts/details?sharedPipelineIdPrefix=sales&versionName=1.0: 409 Conflict: An execution with the same tag is running");
    let problem = r#"{ "type": "about:blank", "title": "Invalid", "status": 422, "detail": "two things",
        "violations": [{ "field": "a", "message": "is missing" }, "b is wrong"] }"#;
    let problem = ResponseTemplate::new(422).set_body_raw(problem, "application/problem+json");
    insta::assert_snapshot!(shown(problem).await, @r"
    GET https://h/dpc/v1/shared-pipelines/artifacts/details?sharedPipelineIdPrefix=sales&versionName=1.0: 422 Unprocessable Entity: Invalid: two things
    - a: is missing
    - b is wrong
    ");
    let oauth = json(
        401,
        r#"{ "error": "invalid_token", "error_description": "it has expired" }"#,
    );
    insta::assert_snapshot!(shown(oauth).await, @"GET https://h/dpc/v1/shared-pipelines/artifacts/details?sharedPipelineIdPrefix=sales&versionName=1.0: 401 Unauthorized: invalid_token: it has expired");
    let text = ResponseTemplate::new(404).set_body_string("no such version\n");
    insta::assert_snapshot!(shown(text).await, @"GET https://h/dpc/v1/shared-pipelines/artifacts/details?sharedPipelineIdPrefix=sales&versionName=1.0: 404 Not Found: no such version");
    let page = "<html><head><title>403 Forbidden</title></head><body><center>nginx</center></body></html>";
    let page = ResponseTemplate::new(403).set_body_raw(page, "text/html");
    insta::assert_snapshot!(shown(page).await, @"GET https://h/dpc/v1/shared-pipelines/artifacts/details?sharedPipelineIdPrefix=sales&versionName=1.0: 403 Forbidden: nginx");
    insta::assert_snapshot!(shown(ResponseTemplate::new(410)).await, @"GET https://h/dpc/v1/shared-pipelines/artifacts/details?sharedPipelineIdPrefix=sales&versionName=1.0: 410 Gone: the response contains no text");
}

#[tokio::test]
async fn request_id_is_shown_under_any_name() {
    for name in [
        "X-Request-Id",
        "x-correlation-id",
        "request-id",
        "x-amzn-requestid",
        "cf-ray",
    ] {
        let (_, text) = failure(ResponseTemplate::new(404).insert_header(name, "abc-123")).await;
        assert!(
            text.contains("404 Not Found (request id abc-123): "),
            "{name}: {text}"
        );
    }
}

#[tokio::test]
async fn token_that_server_repeats_is_never_shown() {
    let echo = format!(r#"{{ "detail": "the token {TOKEN} is bad" }}"#);
    let answer = json(403, &echo).insert_header("x-request-id", TOKEN);
    let (error, text) = failure(answer).await;
    assert!(text.contains("the token *** is bad"), "{text}");
    assert!(!format!("{error:?}").contains(TOKEN));
    let (error, text) = failure(json(200, &format!("you are {TOKEN}"))).await;
    assert!(text.contains("you are ***"), "{text}");
    assert!(!format!("{error:?}").contains(TOKEN));
}

#[tokio::test]
async fn token_is_redacted_before_message_of_server_is_shortened() {
    let (_, text) = failure(json(200, &format!("{}{TOKEN}", "x".repeat(294)))).await;
    assert!(text.contains("xx***") && !text.contains("t0ken"), "{text}");
}

#[tokio::test]
async fn long_answers_are_cut() {
    let (_, text) = failure(ResponseTemplate::new(400).set_body_string("x".repeat(1_000_000))).await;
    assert!(text.len() < 2_300, "{}", text.len());
    assert!(text.ends_with("more characters)"), "{text}");
}

#[tokio::test]
async fn decode_errors_name_the_place() {
    let body = r#"{ "artifactDetails": { "enabled": "yes" }, "sharedPipelines": [] }"#;
    let (error, text) = failure(json(200, body)).await;
    assert_eq!(
        (error.kind(), error.is_accepted()),
        (ErrorKind::BadResponse, true)
    );
    insta::assert_snapshot!(text, @r#"GET https://h/dpc/v1/shared-pipelines/artifacts/details?sharedPipelineIdPrefix=sales&versionName=1.0: 200 OK: the response cannot be used: at artifactDetails.enabled: invalid type: string "yes", expected a boolean at line 1 column 39"#);
    insta::assert_snapshot!(failure(json(200, "<html>login</html>")).await.1, @"GET https://h/dpc/v1/shared-pipelines/artifacts/details?sharedPipelineIdPrefix=sales&versionName=1.0: 200 OK: the response cannot be used: the body is not JSON (expected value at line 1 column 1): login");
    insta::assert_snapshot!(failure(json(200, "")).await.1, @"GET https://h/dpc/v1/shared-pipelines/artifacts/details?sharedPipelineIdPrefix=sales&versionName=1.0: 200 OK: the response cannot be used: the body is empty");
}

#[tokio::test]
async fn hint_of_403_names_role() {
    let (error, _) = failure(ResponseTemplate::new(403)).await;
    assert_eq!(error.kind(), ErrorKind::Forbidden);
    insta::assert_snapshot!(error.hint(), @"shared pipelines and their artifacts need a token with the account role Admin or Super Admin");
}

#[tokio::test]
async fn each_status_has_its_kind() {
    for (status, kind) in [
        (400, ErrorKind::BadRequest),
        (401, ErrorKind::Unauthorized),
        (403, ErrorKind::Forbidden),
        (404, ErrorKind::NotFound),
        // The request only reads, so no name is taken.
        (409, ErrorKind::OtherStatus(409)),
        (413, ErrorKind::TooLarge),
        (418, ErrorKind::OtherStatus(418)),
        (422, ErrorKind::BadRequest),
    ] {
        assert_eq!(failure(ResponseTemplate::new(status)).await.0.kind(), kind);
    }
}
