//! Permissions of the roles, and requests that are rejected before anything else is checked.

use crate::platform::{Platform, SHARED, expect_problem, fields, success};
use reqwest::Method;
use serde_json::json;
use sluicegate_test_support::platform_requests::{ARTIFACTS, DETAILS};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const REVIEWS: &str = "/v1/projects/9c5b94b1-35ad-49bb-b118-8e8fc24abf80/reviews";

#[tokio::test]
async fn unknown_callers_are_refused_before_anything_else() {
    let platform = Platform::empty().await;
    for (method, path) in [
        (Method::GET, SHARED),
        (Method::GET, "/nowhere"),
        (Method::DELETE, ARTIFACTS),
        (Method::POST, "/v1/projects/no-uuid/reviews"),
        (Method::POST, "/openapi.json"),
    ] {
        let request = || platform.anonymous(method.clone(), path).body("{ broken");
        for request in [
            request(),
            request().bearer_auth("wrong"),
            request().basic_auth("admin", Some("admin")),
        ] {
            let response = request.send().await.unwrap();
            assert_eq!(response.headers()["www-authenticate"], "Bearer");
            expect_problem(response, 401).await;
        }
    }
}

#[tokio::test]
async fn shared_pipelines_are_for_admins() {
    let platform = Platform::empty().await;
    for (method, path) in [
        (Method::GET, SHARED),
        (Method::GET, ARTIFACTS),
        (Method::GET, DETAILS),
        (Method::POST, ARTIFACTS),
        (Method::PATCH, ARTIFACTS),
    ] {
        let request = platform.request("member", method.clone(), path).body("{ broken");
        expect_problem(request.send().await.unwrap(), 403).await;
        for token in ["admin", "root"] {
            let request = platform.request(token, method.clone(), path).body("{ broken");
            assert_ne!(
                request.send().await.unwrap().status(),
                403,
                "{token} {method} {path}"
            );
        }
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_distinguished() {
    let platform = Platform::empty().await;
    for path in [
        "/",
        "/v1",
        "/v2/shared-pipelines",
        "/v1/shared-pipelines/",
        "/v1/%FF",
    ] {
        let response = platform
            .request("member", Method::GET, path)
            .send()
            .await
            .unwrap();
        expect_problem(response, 404).await;
    }
    let response = platform
        .request("member", Method::DELETE, ARTIFACTS)
        .send()
        .await
        .unwrap();
    let allowed = response.headers()["allow"].to_str().unwrap().to_owned();
    expect_problem(response, 405).await;
    let mut allowed: Vec<&str> = allowed.split(',').collect();
    allowed.sort_unstable();
    assert_eq!(allowed, ["GET", "HEAD", "PATCH", "POST"]);
    let response = platform
        .request("root", Method::GET, REVIEWS)
        .send()
        .await
        .unwrap();
    assert_eq!(response.headers()["allow"], "POST");
    expect_problem(response, 405).await;
}

#[tokio::test]
async fn bodies_that_are_no_json_objects_are_refused() {
    let platform = Platform::empty().await;
    let deep = "[".repeat(100_000);
    for body in ["", "{", "[]", "null", "{\"a\": 1,}", "\u{feff}{}", deep.as_str()] {
        let request = platform
            .request("admin", Method::PATCH, ARTIFACTS)
            .header("content-type", "application/json")
            .body(body.to_owned());
        let body = expect_problem(request.send().await.unwrap(), 400).await;
        assert_eq!(fields(&body), [""]);
    }
}

#[tokio::test]
async fn every_wrong_field_is_named_at_once() {
    let platform = Platform::empty().await;
    let body = json!({"sharedPipelineIdPrefix": " ", "enabled": "yes", "other": 1});
    let request = platform.request("admin", Method::PATCH, ARTIFACTS).json(&body);
    let body = expect_problem(request.send().await.unwrap(), 400).await;
    assert_eq!(
        fields(&body),
        ["sharedPipelineIdPrefix", "versionName", "enabled"]
    );
    assert_eq!(body["validation-errors"][1]["message"], "must not be null");
}

#[tokio::test]
async fn response_400_has_keys_of_api_document() {
    let platform = Platform::empty().await;
    let body = platform.get_refused(DETAILS, 400).await;
    let document = serde_json::from_str(include_str!(
        "../../../../tests/fixtures/api/validation-error.json"
    ))
    .unwrap();
    assert_eq!(crate::platform::keys(&body), crate::platform::keys(&document));
}

#[tokio::test]
async fn paging_outside_its_bounds_is_refused() {
    let platform = Platform::empty().await;
    for path in [SHARED, ARTIFACTS] {
        for (query, field) in [
            ("size=0", "size"),
            ("size=101", "size"),
            ("page=-1", "page"),
            ("page=x&size=5", "page"),
            ("page=18446744073709551616", "page"),
            ("page=1&page=2", "page"),
        ] {
            let body = platform.get_refused(&format!("{path}?{query}"), 400).await;
            assert_eq!(fields(&body), [field]);
        }
        let past = platform
            .get(&format!("{path}?page=18446744073709551615&size=100"))
            .await;
        assert_eq!(
            past,
            json!({"results": [], "page": u64::MAX, "size": 100, "total": 0})
        );
    }
}

#[tokio::test]
async fn declared_length_over_limit_is_refused_before_body_comes() {
    let platform = Platform::empty().await;
    for (method, length) in [
        ("PATCH", 16 * 1024 * 1024 + 1),
        ("POST", 1024 * 1024 * 1024 + 1_u64),
    ] {
        let mut stream = TcpStream::connect(platform.address()).await.unwrap();
        let head = format!(
            "{method} {ARTIFACTS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\nConnection: close\r\n\
             Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 413 "), "{method}: {answer}");
        assert!(answer.contains("\"status\":413"), "{answer}");
    }
}

#[tokio::test]
async fn json_body_needs_one_matching_content_type() {
    let platform = Platform::empty().await;
    let send = |types: &[&str]| {
        let request = platform.request("admin", Method::PATCH, ARTIFACTS);
        let request = types
            .iter()
            .fold(request, |request, kind| request.header("content-type", *kind));
        request.body("{}").send()
    };
    for types in [
        &[][..],
        &["text/plain"],
        &["application/x-www-form-urlencoded"],
        &["application/jsonx"],
        &["application/json", "application/json"],
    ] {
        let body = expect_problem(send(types).await.unwrap(), 400).await;
        assert_eq!(fields(&body), ["content-type"], "{types:?}");
    }
    for kind in ["application/json", "Application/JSON; charset=utf-8"] {
        let body = expect_problem(send(&[kind]).await.unwrap(), 400).await;
        assert_ne!(fields(&body), ["content-type"], "{kind}");
    }
}

#[tokio::test]
async fn repeated_authorization_is_no_identity() {
    let platform = Platform::empty().await;
    let request = || platform.request("admin", Method::GET, SHARED);
    success(request().send().await.unwrap()).await;
    let doubled = request().header("authorization", "Bearer wrong");
    expect_problem(doubled.send().await.unwrap(), 401).await;
}

#[tokio::test]
async fn body_without_declared_length_is_counted() {
    let platform = Platform::empty().await;
    let piece = bytes::Bytes::from(vec![b' '; 1024 * 1024]);
    let pieces = std::iter::repeat_n(piece, 20).map(Ok::<_, std::io::Error>);
    let body = reqwest::Body::wrap_stream(futures_util::stream::iter(pieces));
    let response = platform
        .request("admin", Method::PATCH, ARTIFACTS)
        .header("content-type", "application/json")
        .body(body)
        .send()
        .await
        .unwrap();
    expect_problem(response, 413).await;
}

#[tokio::test]
async fn refusal_reaches_client_that_sends_everything_before_it_reads() {
    let platform = Platform::empty().await;
    let body = vec![b'x'; 16 * 1024 * 1024];
    for (token, status) in [("wrong", 401), ("member", 403), ("admin", 400)] {
        let mut stream = TcpStream::connect(platform.address()).await.unwrap();
        let head = format!(
            "POST {ARTIFACTS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&body).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
}
