//! Retries: which requests are sent again, how often, and when.

use crate::raw::{Connection, RawServer};
use crate::support::{SHORT, empty_list, json, platform, platform_with, settings};
use sluicegate_platform::api::{NewExecution, PartSource, Platform, ReviewFields, ReviewRequest, Upload};
use sluicegate_platform::http::{Client, Delays, ErrorKind, HttpError, Settings};
use std::collections::BTreeMap;
use std::io::Read;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

const OK: &str = r#"{ "results": [] }"#;

/// Starts a server that responds with `first` to the first `times` requests, and then with `then`.
async fn server(first: ResponseTemplate, times: u64, then: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(first)
        .up_to_n_times(times)
        .mount(&server)
        .await;
    Mock::given(any()).respond_with(then).mount(&server).await;
    server
}

async fn requests(server: &MockServer) -> usize {
    server.received_requests().await.unwrap().len()
}

struct Nothing;

impl PartSource for Nothing {
    fn open_part(&self, _: usize) -> std::io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(std::io::empty()))
    }
}

fn upload() -> Upload {
    Upload {
        prefix: "p".to_owned(),
        version: "1".to_owned(),
        commit_hash: None,
        branch: None,
        parts: Vec::new(),
        source: Arc::new(Nothing),
        progress: None,
    }
}

async fn review(platform: &Platform) -> Result<(), HttpError> {
    let request = ReviewRequest {
        branch_name: "b".into(),
        commit_id: "c".into(),
        pipelines: vec!["a".into()],
    };
    platform
        .review(Uuid::nil(), "9.0.0", &request, &ReviewFields::default())
        .await
        .map(|_| ())
}

#[tokio::test]
async fn passing_troubles_are_retried_for_what_may_be_repeated() {
    for status in [408, 425, 429, 500, 502, 503, 504] {
        let read = server(ResponseTemplate::new(status), 2, empty_list()).await;
        assert_eq!(
            platform(&read.uri())
                .fetch_shared_pipelines()
                .await
                .unwrap()
                .len(),
            0,
            "{status}"
        );
        assert_eq!(requests(&read).await, 3, "{status}");
        let reviewed = server(ResponseTemplate::new(status), 1, json(200, "{}")).await;
        review(&platform(&reviewed.uri())).await.unwrap();
        let patched = server(ResponseTemplate::new(status), 1, ResponseTemplate::new(204)).await;
        platform(&patched.uri())
            .set_artifact_enabled("p", "v", false)
            .await
            .unwrap();
        assert_eq!(requests(&patched).await, 2, "{status}");
    }
}

#[tokio::test]
async fn other_refusals_are_final() {
    for status in [400, 401, 403, 404, 405, 409, 410, 413, 422, 501] {
        let server = server(ResponseTemplate::new(status), 1, empty_list()).await;
        let error = platform(&server.uri())
            .fetch_shared_pipelines()
            .await
            .unwrap_err();
        assert_eq!(error.status(), Some(status));
        assert!(!error.is_maybe_processed() || status == 501, "{status}");
        assert_eq!(requests(&server).await, 1, "{status}");
    }
}

#[tokio::test]
async fn failed_retries_report_their_number() {
    let server = server(ResponseTemplate::new(502), 9, empty_list()).await;
    let error = platform(&server.uri())
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OtherStatus(502));
    assert!(
        error.to_string().contains("502 Bad Gateway (3 tries): "),
        "{error}"
    );
    assert_eq!(requests(&server).await, 3);
}

#[tokio::test]
async fn upload_is_repeated_only_when_surely_unprocessed() {
    let done = || json(201, r#"{ "versionName": "1", "ignoredResources": [] }"#);
    let second_args = [
        ResponseTemplate::new(429),
        ResponseTemplate::new(503).insert_header("retry-after", "0"),
        ResponseTemplate::new(503).insert_header("retry-after", "Fri, 20 Nov 2026 09:00:00 GMT"),
    ];
    for answer in second_args {
        let server = server(answer, 1, done()).await;
        assert_eq!(
            platform(&server.uri())
                .publish(upload())
                .await
                .unwrap()
                .version_name
                .as_deref(),
            Some("1")
        );
        assert_eq!(requests(&server).await, 2);
    }
    for status in [408, 500, 502, 503, 504] {
        let server = server(ResponseTemplate::new(status), 1, done()).await;
        let error = platform(&server.uri()).publish(upload()).await.unwrap_err();
        assert!(error.is_maybe_processed(), "{status}");
        assert_eq!(requests(&server).await, 1, "{status}");
    }
}

#[tokio::test]
async fn execution_without_tag_is_repeated_only_after_429() {
    let started = || json(201, r#"{ "pipelineExecutionId": "1" }"#);
    let busy = |status| ResponseTemplate::new(status).insert_header("retry-after", "0");
    for (status, tag, count) in [
        (429, None, 2),
        (503, None, 1),
        (429, Some("tag"), 2),
        (503, Some("tag"), 2),
    ] {
        let server = server(busy(status), 1, started()).await;
        let execution = NewExecution {
            pipeline_name: "p".to_owned(),
            environment_name: "e".to_owned(),
            execution_tag: tag.map(str::to_owned),
            scalar_variables: BTreeMap::new(),
            grid_variables: BTreeMap::new(),
        };
        let result = platform(&server.uri())
            .start_execution(Uuid::nil(), &execution)
            .await;
        assert_eq!(requests(&server).await, count, "{status} {tag:?}");
        assert_eq!(result.is_err(), count == 1, "{status} {tag:?}");
        assert!(
            result.err().is_none_or(|error| error.is_maybe_processed()),
            "{status}"
        );
    }
}

#[tokio::test]
async fn retry_after_is_waited_for_and_bounded() {
    let delays = Delays {
        max_requested: Duration::from_secs(2),
        ..SHORT
    };
    let patient = |url: &str| Platform::new(Client::with_delays(settings(url), delays).unwrap());
    let answer = |asked: &str| ResponseTemplate::new(503).insert_header("retry-after", asked);
    let waited = server(answer("1"), 1, empty_list()).await;
    let start = Instant::now();
    patient(&waited.uri()).fetch_shared_pipelines().await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1));
    // The client does not wait for a longer one.
    let refused = server(answer("3"), 1, empty_list()).await;
    patient(&refused.uri())
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(requests(&refused).await, 1);
}

#[tokio::test]
async fn refused_connection_is_retried_even_for_upload() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let delays = Delays {
        base: Duration::from_millis(40),
        max: Duration::from_millis(40),
        ..SHORT
    };
    let mut patient = settings(&format!("http://{address}"));
    patient.retries = 1_000;
    let platform = Platform::new(Client::with_delays(patient, delays).unwrap());
    let call = tokio::spawn(async move { platform.publish(upload()).await });
    tokio::task::spawn_blocking(move || {
        let script = |mut connection: Connection| {
            connection.request();
            connection.json("201 Created", r#"{ "versionName": "1" }"#);
        };
        RawServer::on_listener(TcpListener::bind(address).unwrap(), vec![Box::new(script)])
    })
    .await
    .unwrap();
    assert_eq!(call.await.unwrap().unwrap().version_name.as_deref(), Some("1"));
}

#[tokio::test]
async fn request_to_closed_port_is_unreachable_and_unprocessed() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let error = platform(&format!("http://{address}"))
        .publish(upload())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unreachable);
    assert!(!error.is_maybe_processed());
    let message = error.to_string();
    assert!(
        message.contains("/v1/shared-pipelines/artifacts: failed (3 tries): cannot connect: "),
        "{message}"
    );
}

#[tokio::test]
async fn broken_connections_are_retried() {
    let server = RawServer::start(vec![
        // A reset before any response.
        Box::new(Connection::reset),
        // A reset in the middle of the response.
        Box::new(|mut connection| {
            connection.answer("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{ \"results\": [");
            connection.reset();
        }),
        // A truncated body.
        Box::new(|mut connection| {
            connection.request();
            connection.answer("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{ \"results\": [");
        }),
        Box::new(|mut connection| {
            connection.request();
            connection.json("200 OK", OK);
        }),
    ]);
    let patient = Settings {
        retries: 3,
        ..settings(&server.url())
    };
    platform_with(patient).fetch_shared_pipelines().await.unwrap();
    assert_eq!(server.wait_for_requests(4), 4);
}

#[tokio::test]
async fn cut_answer_to_upload_is_not_repeated() {
    let server = RawServer::start(vec![Box::new(|mut connection| {
        connection.request();
        connection.answer("HTTP/1.1 201 Created\r\nx-request-id: r-1\r\ncontent-length: 100\r\n\r\n{");
    })]);
    let error = platform(&server.url()).publish(upload()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unreachable);
    assert!(error.is_maybe_processed() && error.is_accepted());
    let text = error.to_string().replace(&server.url(), "URL");
    insta::assert_snapshot!(text, @"POST URL/v1/shared-pipelines/artifacts: 201 Created (request id r-1): the connection broke during the response: error reading a body from connection: end of file before message length reached");
    assert_eq!(server.wait_for_requests(1), 1);
}

#[tokio::test]
async fn silence_is_a_timeout() {
    let hold = || -> Box<dyn FnOnce(Connection) + Send> { Box::new(|mut entry| entry.hold()) };
    let server = RawServer::start(vec![hold(), hold(), hold()]);
    let mut hasty = settings(&server.url());
    hasty.timeout = Duration::from_millis(150);
    let error = platform_with(hasty).fetch_shared_pipelines().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let text = error.to_string().replace(&server.url(), "URL");
    insta::assert_snapshot!(text, @"GET URL/v1/shared-pipelines?page=0&size=100: failed (3 tries): no complete response arrived within 0.15 s");
    assert_eq!(server.wait_for_requests(3), 3);
}

#[tokio::test]
async fn endless_response_is_timeout_and_review_is_retried_once() {
    let slow = || -> Box<dyn FnOnce(Connection) + Send> {
        Box::new(|mut connection| {
            connection.request();
            connection.answer("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{");
            connection.hold();
        })
    };
    let server = RawServer::start(vec![slow(), slow(), slow()]);
    let mut hasty = settings(&server.url());
    hasty.timeout = Duration::from_millis(150);
    let error = review(&platform_with(hasty)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(server.wait_for_requests(2), 2);
}
