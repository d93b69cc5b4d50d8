//! Responses that exceed a limit: as sent, after decompression, or as parsed values.

use crate::raw::{RawServer, Script};
use crate::support::{PROJECT, platform};
use flate2::{Compression, write::GzEncoder};
use sluicegate_platform::api::{ReviewFields, ReviewRequest, ReviewResponse};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::io::Write;

#[tokio::test]
async fn large_answer_is_given_up() {
    let server = RawServer::start(vec![Box::new(|mut connection| {
        connection.request();
        connection.answer("HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n[");
        connection.flood(99_999_998);
    })]);
    let error = platform(&server.url())
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadResponse);
    let text = error.to_string().replace(&server.url(), "URL");
    insta::assert_snapshot!(text, @"GET URL/v1/shared-pipelines?page=0&size=100: 200 OK: the response cannot be used: it has more than 67108864 bytes");
    assert_eq!(server.wait_for_requests(1), 1);
}

#[tokio::test]
async fn small_answer_that_unpacks_to_large_one_is_given_up() {
    let packed = gzip(&vec![b' '; 80_000_000]);
    assert!(packed.len() < 1_000_000);
    let server = server_with_packed_body(packed);
    let error = platform(&server.url())
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadResponse);
    assert!(error.to_string().contains("more than 67108864 bytes"), "{error}");
}

#[tokio::test]
async fn answer_of_countless_values_is_given_up_before_they_are_made() {
    for body in [
        listing(&"{},".repeat(1_000_000)),
        listing(&r#"{"a":1},"#.repeat(1_000_000)),
        listing(&"[[1]],".repeat(1_000_000)),
    ] {
        let server = server_with_packed_body(gzip(body.as_bytes()));
        let error = platform(&server.url())
            .fetch_shared_pipelines()
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadResponse);
        let text = error.to_string().replace(&server.url(), "URL");
        insta::allow_duplicates! {
            insta::assert_snapshot!(text, @"GET URL/v1/shared-pipelines?page=0&size=100: 200 OK: the response cannot be used: its values would take more than 480 MB of memory");
        }
    }
}

#[tokio::test]
async fn review_of_countless_findings_is_given_up_and_large_one_is_read() {
    let countless = format!(
        r#"[{{"ruleName":"r","status":"FAILED","violations":[{}"x"]}}]"#,
        r#""","#.repeat(2_000_000)
    );
    let server = server_with_packed_body(gzip(review(&countless).as_bytes()));
    let error = request_review(&server).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadResponse);
    assert!(
        error.to_string().contains("more than 480 MB of memory"),
        "{error}"
    );

    let value = vec![r#""component \"Load, {then}: [x]\" breaks the convention""#; 15].join(",");
    let failed = format!(r#"{{"ruleName":"r","status":"FAILED","errorDetail":null,"violations":[{value}]}}"#);
    let passed = r#"{"ruleName":"p","status":"PASSED","errorDetail":null,"violations":[]}"#;
    let rules = [&failed, passed, passed, passed, &failed, passed, passed, passed].join(",");
    let files: Vec<String> = (0..10_000)
        .map(|index| format!(r#""a{index}.orch.yaml":[{rules}]"#))
        .collect();
    let large = format!(r#"{{"reviewStatus":"FAILED","results":{{{}}}}}"#, files.join(","));
    let server = server_with_packed_body(gzip(large.as_bytes()));
    let results = request_review(&server).await.unwrap().results.unwrap();
    let all = results.values().flatten().map(|rule| rule.violations.len());
    assert_eq!(all.sum::<usize>(), 300_000);
}

#[tokio::test]
async fn sum_of_all_pages_has_a_limit() {
    let page = |number: usize| {
        let entries = format!(r#"{{"n":{number}}},"#) + &"{},".repeat(400_000);
        let entries = entries.trim_end_matches(',').to_owned();
        gzip(format!(r#"{{"results":[{entries}],"page":{number},"total":9000000}}"#).as_bytes())
    };
    let server = RawServer::start(vec![
        script_with_packed_body(page(0)),
        script_with_packed_body(page(1)),
    ]);
    let error = platform(&server.url())
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadResponse);
    let expected_text = "all values up to this page would take more than 480 MB of memory";
    assert!(error.to_string().contains(expected_text), "{error}");
}

#[tokio::test]
async fn response_with_corrupt_data_is_bad_and_not_retried() {
    let mut packed = gzip(b"")[..10].to_vec();
    packed.extend([0xff; 60]);
    let error = platform(&server_with_packed_body(packed).url())
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.tries()),
        (ErrorKind::BadResponse, 1),
        "{error}"
    );
    assert!(
        error.to_string().contains("the response cannot be used"),
        "{error}"
    );
}

fn listing(entries: &str) -> String {
    format!("[{}]", entries.trim_end_matches(','))
}

fn review(rules: &str) -> String {
    format!(r#"{{"reviewStatus":"FAILED","results":{{"a.orch.yaml":{rules}}}}}"#)
}

async fn request_review(server: &RawServer) -> Result<ReviewResponse, HttpError> {
    let request = ReviewRequest {
        branch_name: "main".to_owned(),
        commit_id: "c".repeat(40),
        pipelines: vec!["a.orch.yaml".to_owned()],
    };
    platform(&server.url())
        .review(PROJECT, "1", &request, &ReviewFields::default())
        .await
}

/// Starts a server that responds to one request with this compressed body.
fn server_with_packed_body(packed: Vec<u8>) -> RawServer {
    RawServer::start(vec![script_with_packed_body(packed)])
}

fn script_with_packed_body(packed: Vec<u8>) -> Script {
    Box::new(move |mut connection| {
        let (head, _) = connection.request();
        assert!(
            head.to_ascii_lowercase().contains("accept-encoding: gzip"),
            "{head}"
        );
        let length = packed.len();
        connection.answer(&format!(
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-encoding: gzip\r\ncontent-length: {length}\r\n\r\n"
        ));
        connection.send(&packed);
    })
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}
