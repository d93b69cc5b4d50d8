//! Clients for test servers, with delays too short to notice.

use secrecy::SecretString;
use sluicegate_platform::api::Platform;
use sluicegate_platform::http::{BaseUrl, Client, Delays, HttpError, Observer, Settings, TokenSource};
use std::time::Duration;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

/// The token that the tests send; no message may contain it.
pub const TOKEN: &str = "t0ken-s3cret";

/// Returns settings for a test server: two retries, and a timeout that no correct exchange reaches.
pub fn settings(base_url: &str) -> Settings {
    Settings {
        base_url: BaseUrl::parse(base_url).unwrap(),
        token: TokenSource::Value(SecretString::from(TOKEN)),
        timeout: Duration::from_secs(20),
        retries: 2,
        ca_cert: None,
        client_certificate: None,
        observer: Observer::default(),
    }
}

/// Delays of a few milliseconds.
pub const SHORT: Delays = Delays {
    base: Duration::from_millis(1),
    max: Duration::from_millis(4),
    max_requested: Duration::from_millis(60),
};

/// Returns a client with these settings.
pub fn platform_with(settings: Settings) -> Platform {
    Platform::new(Client::with_delays(settings, SHORT).unwrap())
}

/// Returns a client for the platform at this URL.
pub fn platform(base_url: &str) -> Platform {
    platform_with(settings(base_url))
}

/// Returns a response with a JSON body.
pub fn json(status: u16, body: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_raw(body, "application/json")
}

/// Returns an empty list, the simplest valid response.
pub fn empty_list() -> ResponseTemplate {
    json(200, r#"{ "results": [], "page": 0, "size": 100, "total": 0 }"#)
}

/// The project of the tests.
pub const PROJECT: uuid::Uuid = uuid::Uuid::from_u128(7);

/// Starts a platform that responds to this call, which must be sent exactly once, and with this body if there is one.
pub async fn server_expecting(
    verb: &str,
    path: &str,
    body: Option<serde_json::Value>,
    answer: ResponseTemplate,
) -> (MockServer, Platform) {
    let server = MockServer::start().await;
    let mut mock = Mock::given(matchers::method(verb))
        .and(matchers::path(path))
        .and(matchers::header("authorization", format!("Bearer {TOKEN}")));
    if let Some(body) = body {
        mock = mock
            .and(matchers::header("content-type", "application/json"))
            .and(matchers::body_json(body));
    }
    mock.respond_with(answer).expect(1).mount(&server).await;
    let platform = platform(&server.uri());
    (server, platform)
}

/// Sends a call to a server that always responds with this status; returns the number of requests and the error.
pub async fn call_refusing_server<T>(
    status: u16,
    call: impl AsyncFnOnce(Platform) -> Result<T, HttpError>,
) -> (usize, HttpError) {
    let server = MockServer::start().await;
    Mock::given(matchers::any())
        .respond_with(json(status, r#"{ "detail": "the server's own words" }"#))
        .mount(&server)
        .await;
    let error = call(platform(&server.uri())).await.err().unwrap();
    assert!(error.to_string().contains("the server's own words"), "{error}");
    (server.received_requests().await.unwrap().len(), error)
}

/// Checks that a call that creates a resource is retried only if the server certainly did not process it.
pub async fn creates_only_once<T>(call: impl AsyncFn(Platform) -> Result<T, HttpError>) {
    let (request_count, error) = call_refusing_server(500, &call).await;
    assert!(request_count == 1 && error.is_maybe_processed(), "{error}");
    let (request_count, error) = call_refusing_server(429, &call).await;
    assert!(request_count == 3 && !error.is_maybe_processed(), "{error}");
}

/// Checks that an idempotent call is retried.
pub async fn is_repeated<T>(call: impl AsyncFn(Platform) -> Result<T, HttpError>) {
    assert_eq!(call_refusing_server(500, &call).await.0, 3);
}
