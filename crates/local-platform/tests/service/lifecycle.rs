//! Start, stop, and the data that exists afterwards.

use crate::platform::{Platform, expect_problem, options, success};
use reqwest::Method;
use secrecy::ExposeSecret;
use sluicegate_local_platform::{Options, Role, ServiceError, StoreError, start};
use sluicegate_test_support::platform_requests::{ARTIFACTS, DETAILS, PUBLISH_PARTS};
use sluicegate_test_support::scratch;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use uuid::Uuid;

#[tokio::test]
async fn acknowledged_change_exists_after_restart() {
    let folder = scratch::create_scratch_directory();
    let data = folder.path().join("made/when/missing");
    let platform = Platform::in_folder(&data).await;
    for version in ["1", "2"] {
        success(platform.publish("p", version, &PUBLISH_PARTS).await).await;
    }
    success(platform.set_enabled("p", "2", false).await).await;
    let before = (
        platform.get(ARTIFACTS).await,
        platform.get(&format!("{DETAILS}?sharedPipelineIdPrefix=p")).await,
    );
    platform.stop().await;

    let platform = Platform::in_folder(&data).await;
    let after = (
        platform.get(ARTIFACTS).await,
        platform.get(&format!("{DETAILS}?sharedPipelineIdPrefix=p")).await,
    );
    assert_eq!(before, after);
    assert_eq!(after.1["artifactDetails"]["versionName"], "1");
    expect_problem(platform.publish("p", "1", &PUBLISH_PARTS).await, 409).await;
}

#[tokio::test]
async fn two_servers_do_not_share_a_folder() {
    let folder = scratch::create_scratch_directory();
    let platform = Platform::in_folder(folder.path()).await;
    let second = start(Options {
        data: Some(folder.path().to_owned()),
        ..options()
    })
    .await
    .unwrap_err();
    assert!(
        matches!(second, ServiceError::Store(StoreError::Locked { .. })),
        "{second}"
    );
    success(platform.publish("p", "1", &PUBLISH_PARTS).await).await;
    platform.stop().await;
    Platform::in_folder(folder.path()).await.stop().await;
}

#[tokio::test]
async fn stop_does_not_wait_for_idle_connections() {
    let platform = Platform::empty().await;
    let address = platform.address();
    let silent = TcpStream::connect(address).await.unwrap();
    let mut halfway = TcpStream::connect(address).await.unwrap();
    halfway
        .write_all(b"GET /v1/shared-pipelines HTTP/1.1\r\nHost:")
        .await
        .unwrap();
    let mut unfinished = TcpStream::connect(address).await.unwrap();
    let head = b"PATCH /v1/shared-pipelines/artifacts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n\
        Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{";
    unfinished.write_all(head).await.unwrap();
    let mut kept = TcpStream::connect(address).await.unwrap();
    kept.write_all(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    kept.read_u8().await.unwrap();

    // Far less than the maximum idle time of a connection.
    timeout(Duration::from_secs(10), platform.stop()).await.unwrap();
    for mut connection in [silent, halfway, unfinished, kept] {
        let mut rest = Vec::new();
        // Either the end of the stream or a reset means that the connection is closed.
        let _ = connection.read_to_end(&mut rest).await;
    }
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn without_tokens_one_of_a_super_admin_is_generated() {
    let platform = Platform::with_options(Options {
        tokens: Vec::new(),
        ..options()
    })
    .await;
    let token = platform
        .handle()
        .generated_token()
        .unwrap()
        .expose_secret()
        .to_owned();
    success(
        platform
            .request(&token, Method::GET, ARTIFACTS)
            .send()
            .await
            .unwrap(),
    )
    .await;
    expect_problem(
        platform
            .request("admin", Method::GET, ARTIFACTS)
            .send()
            .await
            .unwrap(),
        401,
    )
    .await;
    assert!(Platform::empty().await.handle().generated_token().is_none());
}

#[tokio::test]
async fn failed_start_reports_its_reason() {
    let folder = scratch::create_scratch_directory();
    let missing = folder.path().join("missing");
    let project = Uuid::from_u128(7);
    let cases = [
        Options {
            projects: vec![(project, missing.clone())],
            ..options()
        },
        Options {
            projects: vec![(project, folder.path().to_owned())],
            ..options()
        },
        Options {
            tokens: vec![("a".into(), Role::Admin), ("a".into(), Role::Member)],
            ..options()
        },
        Options {
            listen: "192.0.2.1:1".parse().unwrap(),
            ..options()
        },
    ];
    let mut text = Vec::new();
    for options in cases {
        text.push(start(options).await.unwrap_err());
    }
    assert!(matches!(&text[0], ServiceError::Repository { path, .. } if *path == missing));
    assert!(matches!(&text[1], ServiceError::Repository { .. }));
    assert!(matches!(&text[2], ServiceError::DuplicateToken));
    assert!(matches!(&text[3], ServiceError::Listen { address, .. } if address.port() == 1));
}
