//! Certificates: rejected at once if unknown, accepted if their root certificate is configured.

use crate::support::{platform_with, settings};
use sluicegate_platform::http::{CaFile, ErrorKind};
use sluicegate_test_support::tls_server::TlsServer;

#[tokio::test]
async fn unknown_certificate_is_refused_and_not_asked_twice() {
    let server = TlsServer::start(&["127.0.0.1"]);
    let error = platform_with(settings(&server.url()))
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Certificate);
    assert!(!error.is_maybe_processed());
    let text = error.to_string().replace(&server.url(), "https://h");
    insta::assert_snapshot!(text, @"GET https://h/v1/shared-pipelines?page=0&size=100: the server's certificate was rejected: invalid peer certificate: UnknownIssuer");
    insta::assert_snapshot!(error.hint(), @"if your company's own authority signed the certificate, pass the authority's root certificate with --ca-cert (SLUICEGATE_CA_CERT)");
    assert_eq!(server.connection_count(), 1);
}

#[tokio::test]
async fn its_root_makes_it_known() {
    let server = TlsServer::start(&["127.0.0.1"]);
    let mut settings = settings(&server.url());
    settings.ca_cert = Some(CaFile::from_flag(server.root_certificate_path()));
    assert_eq!(
        platform_with(settings)
            .fetch_shared_pipelines()
            .await
            .unwrap()
            .len(),
        0
    );
}

#[tokio::test]
async fn certificate_for_another_name_is_refused() {
    let server = TlsServer::start(&["elsewhere.example"]);
    let mut settings = settings(&server.url());
    settings.ca_cert = Some(CaFile::from_flag(server.root_certificate_path()));
    let error = platform_with(settings)
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Certificate);
    assert_eq!(server.connection_count(), 1);
}

#[tokio::test]
async fn certificate_of_an_authority_is_explained() {
    let server = TlsServer::start_with_ca_certificate(&["127.0.0.1"]);
    let mut settings = settings(&server.url());
    settings.ca_cert = Some(CaFile::from_flag(server.root_certificate_path()));
    let error = platform_with(settings)
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Certificate);
    let text = error.to_string().replace(&server.url(), "https://h");
    insta::assert_snapshot!(text, @"GET https://h/v1/shared-pipelines?page=0&size=100: the server's certificate was rejected: this is the certificate of a certificate authority (CA:TRUE); a server must not present such a certificate as its own");
    insta::assert_snapshot!(error.hint(), @"the platform's operators have to give the server its own certificate (CA:FALSE), which the authority signs; --ca-cert cannot make this certificate valid");
}

#[tokio::test]
async fn hint_for_unknown_issuer_does_not_advise_used_setting() {
    let server = TlsServer::start(&["127.0.0.1"]);
    let other = TlsServer::start(&["127.0.0.1"]);
    let mut settings = settings(&server.url());
    settings.ca_cert = Some(CaFile::from_flag(other.root_certificate_path()));
    let error = platform_with(settings)
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    let hint = error.hint();
    assert!(
        hint.contains(&other.root_certificate_path().display().to_string()),
        "{hint}"
    );
    assert!(hint.contains("add the root certificate"), "{hint}");
}

#[tokio::test]
async fn expired_certificate_is_named_with_its_date() {
    let server = TlsServer::start_until(&["127.0.0.1"], 2020);
    let mut settings = settings(&server.url());
    settings.ca_cert = Some(CaFile::from_flag(server.root_certificate_path()));
    let error = platform_with(settings)
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("the certificate expired on 2020-01-01; the local clock shows 20"),
        "{message}"
    );
    assert!(!message.contains("seconds"), "{message}");
    let hint = error.hint();
    assert!(hint.contains("clock") && !hint.contains("--ca-cert"), "{hint}");
}
