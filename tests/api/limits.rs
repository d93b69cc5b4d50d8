//! Answers that are too large, also behind a compression.

use crate::raw::RawServer;
use crate::support::platform;
use flate2::{Compression, write::GzEncoder};
use sluicegate::http::ErrorKind;
use std::io::Write;

#[tokio::test]
async fn a_large_answer_is_given_up() {
    let server = RawServer::start(vec![Box::new(|mut connection| {
        connection.request();
        connection.answer("HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n[");
        connection.flood(99_999_998);
    })]);
    let error = platform(&server.url()).shared_pipelines().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadAnswer);
    let shown = error.to_string().replace(&server.url(), "URL");
    insta::assert_snapshot!(shown, @"GET URL/v1/shared-pipelines?page=0&size=100: 200 OK: the answer cannot be used: it has more than 67108864 bytes");
    assert_eq!(server.served(1), 1);
}

#[tokio::test]
async fn a_small_answer_that_unpacks_to_a_large_one_is_given_up() {
    let packed = gzip(&vec![b' '; 80_000_000]);
    assert!(packed.len() < 1_000_000);
    let server = RawServer::start(vec![Box::new(move |mut connection| {
        let (head, _) = connection.request();
        assert!(
            head.to_ascii_lowercase().contains("accept-encoding: gzip"),
            "{head}"
        );
        let length = packed.len();
        connection.answer(&format!(
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {length}\r\n\r\n"
        ));
        connection.send(&packed);
    })]);
    let error = platform(&server.url()).shared_pipelines().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadAnswer);
    assert!(error.to_string().contains("more than 67108864 bytes"), "{error}");
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}
