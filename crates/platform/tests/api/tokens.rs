//! Tokens: read from each source, fetched once, shared, refreshed, and rejected with a reason.

use crate::support::{SHORT, empty_list, json, platform_with, settings};
use secrecy::SecretString;
use sluicegate_platform::api::Platform;
use sluicegate_platform::http::{BaseUrl, CaFile, Client, ErrorKind, Settings, TokenSource, Url};
use sluicegate_test_support::scratch;
use wiremock::matchers::{body_string_contains, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

const SECRET: &str = "cl1ent-s3cret";

fn with_token(server: &MockServer, token: TokenSource) -> Platform {
    platform_with(Settings {
        token,
        ..settings(&server.uri())
    })
}

fn credentials(server: &MockServer) -> TokenSource {
    TokenSource::ClientCredentials {
        token_url: Url::parse(&format!("{}/oauth/token?key=hidden", server.uri())).unwrap(),
        client_id: "a client".to_owned(),
        client_secret: SecretString::from(SECRET),
        audience: Some("https://audience".to_owned()),
    }
}

/// Responds to lists with this token; all other requests get a 401.
async fn accepts(server: &MockServer, token: &str) {
    Mock::given(path("/v1/shared-pipelines"))
        .and(header("authorization", format!("Bearer {token}")))
        .respond_with(empty_list())
        .mount(server)
        .await;
    Mock::given(path("/v1/shared-pipelines"))
        .respond_with(json(401, r#"{ "error": "invalid_token" }"#))
        .with_priority(9)
        .mount(server)
        .await;
}

async fn grants(server: &MockServer, token: &str, expires_in: u64, times: u64) {
    let body = format!(r#"{{ "access_token": "{token}", "expires_in": {expires_in} }}"#);
    Mock::given(path("/oauth/token"))
        .and(method("POST"))
        .and(body_string_contains("grant_type=client_credentials"))
        .and(body_string_contains("client_id=a+client"))
        .and(body_string_contains(format!("client_secret={SECRET}")))
        .and(body_string_contains("audience=https%3A%2F%2Faudience"))
        .respond_with(json(200, &body))
        .up_to_n_times(times)
        .expect(1..=times)
        .mount(server)
        .await;
}

async fn requests_to(server: &MockServer, path: &str) -> usize {
    let all = server.received_requests().await.unwrap();
    all.iter().filter(|request| request.url.path() == path).count()
}

#[tokio::test]
async fn token_is_granted_once_for_concurrent_calls() {
    let server = MockServer::start().await;
    accepts(&server, "granted").await;
    grants(&server, "granted", 1800, 1).await;
    let platform = with_token(&server, credentials(&server));
    let (a, b, c) = tokio::join!(
        platform.fetch_shared_pipelines(),
        platform.fetch_shared_pipelines(),
        platform.fetch_shared_pipelines()
    );
    assert!(a.is_ok() && b.is_ok() && c.is_ok());
    platform.fetch_shared_pipelines().await.unwrap();
}

#[tokio::test]
async fn token_is_replaced_before_it_expires() {
    let server = MockServer::start().await;
    accepts(&server, "granted").await;
    grants(&server, "granted", 0, 3).await;
    let platform = with_token(&server, credentials(&server));
    platform.fetch_shared_pipelines().await.unwrap();
    platform.fetch_shared_pipelines().await.unwrap();
    assert_eq!(requests_to(&server, "/oauth/token").await, 2);
}

#[tokio::test]
async fn response_401_gets_one_new_token() {
    let server = MockServer::start().await;
    accepts(&server, "second").await;
    grants(&server, "first", 1800, 1).await;
    grants(&server, "second", 1800, 1).await;
    let platform = with_token(&server, credentials(&server));
    platform.fetch_shared_pipelines().await.unwrap();
    assert_eq!(requests_to(&server, "/v1/shared-pipelines").await, 2);
}

#[tokio::test]
async fn second_401_is_final() {
    let server = MockServer::start().await;
    accepts(&server, "another").await;
    grants(&server, "granted", 1800, 9).await;
    let error = with_token(&server, credentials(&server))
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
    assert_eq!(requests_to(&server, "/oauth/token").await, 2);
    assert_eq!(requests_to(&server, "/v1/shared-pipelines").await, 2);
}

#[tokio::test]
async fn client_secret_is_not_shown_in_form_in_which_it_was_sent() {
    let server = MockServer::start().await;
    Mock::given(path("/oauth/token"))
        .respond_with(|request: &wiremock::Request| {
            let form = String::from_utf8(request.body.clone()).unwrap();
            ResponseTemplate::new(400).set_body_string(format!("cannot parse the form: {form}"))
        })
        .mount(&server)
        .await;
    let mut source = credentials(&server);
    if let TokenSource::ClientCredentials { client_secret, .. } = &mut source {
        *client_secret = SecretString::from("p4ss+w0rd/with=signs");
    }
    let error = with_token(&server, source)
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(text.contains("client_secret=***&audience"), "{text}");
    assert!(!text.contains("w0rd"), "{text}");
}

#[tokio::test]
async fn refused_client_is_unauthorized_and_nothing_is_shown() {
    let server = MockServer::start().await;
    let body = format!(r#"{{ "error": "invalid_client", "error_description": "not {SECRET}" }}"#);
    Mock::given(path("/oauth/token"))
        .respond_with(json(401, &body))
        .expect(1)
        .mount(&server)
        .await;
    let error = with_token(&server, credentials(&server))
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
    assert!(!format!("{error} {error:?}").contains(SECRET));
    insta::assert_snapshot!(error.to_string().replace(&server.uri(), "https://h"), @"no usable token: POST https://h/oauth/token: 401 Unauthorized: invalid_client: not ***");
    insta::assert_snapshot!(error.hint(), @"check the client id, the client secret and the audience");
}

#[tokio::test]
async fn token_url_in_trouble_is_retried_and_then_undecided() {
    let server = MockServer::start().await;
    accepts(&server, "granted").await;
    Mock::given(path("/oauth/token"))
        .respond_with(ResponseTemplate::new(503))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    grants(&server, "granted", 1800, 1).await;
    with_token(&server, credentials(&server))
        .fetch_shared_pipelines()
        .await
        .unwrap();
    server.reset().await;
    Mock::given(path("/oauth/token"))
        .respond_with(ResponseTemplate::new(500))
        .mount(&server)
        .await;
    let error = with_token(&server, credentials(&server))
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OtherStatus(500));
    assert!(!error.is_maybe_processed(), "the call itself was never sent");
}

#[tokio::test]
async fn response_without_token_is_reported_but_not_shown() {
    let server = MockServer::start().await;
    Mock::given(path("/oauth/token"))
        .respond_with(json(200, "token=abc"))
        .mount(&server)
        .await;
    let error = with_token(&server, credentials(&server))
        .fetch_shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadResponse);
    insta::assert_snapshot!(error.to_string().replace(&server.uri(), "https://h"), @"no usable token: POST https://h/oauth/token: 200 OK: the response cannot be used: the response contains no `access_token`");
}

#[tokio::test]
async fn file_is_read_again_after_401() {
    let server = MockServer::start().await;
    accepts(&server, "old").await;
    let folder = scratch::create_scratch_directory();
    let file = folder.path().join("token");
    std::fs::write(&file, " old\n").unwrap();
    let platform = with_token(&server, TokenSource::File(file.clone()));
    platform.fetch_shared_pipelines().await.unwrap();
    server.reset().await;
    accepts(&server, "new").await;
    std::fs::write(&file, "new\n").unwrap();
    platform.fetch_shared_pipelines().await.unwrap();
    assert_eq!(requests_to(&server, "/v1/shared-pipelines").await, 2);
}

#[cfg(unix)]
#[tokio::test]
async fn command_is_run_once_and_again_after_401() {
    let server = MockServer::start().await;
    accepts(&server, "token-xx").await;
    let folder = scratch::create_scratch_directory();
    let runs = folder.path().join("runs");
    let line = format!("printf x >> '{0}'; printf token-; cat '{0}'", runs.display());
    let platform = with_token(&server, TokenSource::Command(line));
    platform.fetch_shared_pipelines().await.unwrap();
    platform.fetch_shared_pipelines().await.unwrap();
    assert_eq!(std::fs::read_to_string(&runs).unwrap(), "xx");
}

#[tokio::test]
async fn broken_source_is_a_configuration_error() {
    let server = MockServer::start().await;
    let no_token = |token| with_token(&server, token);
    for token in [
        TokenSource::File("/nonexistent/token".into()),
        TokenSource::Command("exit 1".to_owned()),
        TokenSource::Value(SecretString::from("with blank")),
    ] {
        let error = no_token(token).fetch_shared_pipelines().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
        assert!(error.to_string().starts_with("no usable token: "), "{error}");
    }
    assert_eq!(server.received_requests().await.unwrap().len(), 0);
}

#[test]
fn unreadable_ca_file_is_a_configuration_error() {
    let settings = Settings {
        base_url: BaseUrl::parse("http://localhost").unwrap(),
        ca_cert: Some(CaFile::from_flag("/nonexistent.pem")),
        client_certificate: None,
        ..settings("http://localhost")
    };
    let error = Client::with_delays(settings, SHORT).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Configuration);
}
