//! The client reports its waits, and no wait exceeds its limit.

use crate::support::{SHORT, empty_list, settings};
use sluicegate_platform::api::Platform;
use sluicegate_platform::http::{Client, Delays, ErrorKind, Observer, Settings};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

/// Returns a client for the platform at this URL, and the messages that it reports.
fn observed_platform(url: &str, delays: Delays) -> (Platform, Arc<Mutex<Vec<String>>>) {
    let sentences = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&sentences);
    let observer = Observer::new(move |sentence| heard.lock().unwrap().push(sentence.to_owned()));
    let settings = Settings {
        observer,
        ..settings(url)
    };
    (
        Platform::new(Client::with_delays(settings, delays).unwrap()),
        sentences,
    )
}

async fn server(first: ResponseTemplate, then: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    let once = Mock::given(matchers::any()).respond_with(first).up_to_n_times(1);
    once.mount(&server).await;
    Mock::given(matchers::any())
        .respond_with(then)
        .mount(&server)
        .await;
    server
}

#[tokio::test]
async fn retry_after_that_is_too_long_is_not_waited_for() {
    let in_an_hour = httpdate::fmt_http_date(std::time::SystemTime::now() + Duration::from_secs(3600));
    for asked in ["121", "3600", in_an_hour.as_str()] {
        let busy = ResponseTemplate::new(429).insert_header("retry-after", asked);
        let server = server(busy, empty_list()).await;
        let begin = Instant::now();
        let (platform, _) = observed_platform(&server.uri(), Delays::default());
        let error = platform.fetch_projects().await.unwrap_err();
        assert!(begin.elapsed() < Duration::from_secs(60), "{asked}");
        assert_eq!(error.status(), Some(429));
        assert!(
            error.to_string().contains("the server requested a wait of "),
            "{error}"
        );
        assert!(error.to_string().contains("the limit is 120 s"), "{error}");
        assert!(error.hint().starts_with("try again in "), "{error}");
        assert_eq!(server.received_requests().await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn each_retry_is_reported_with_its_reason() {
    let server = server(
        ResponseTemplate::new(503).insert_header("retry-after", "0"),
        empty_list(),
    )
    .await;
    let (platform, sentences) = observed_platform(&server.uri(), SHORT);
    platform.fetch_projects().await.unwrap();
    let text = sentences.lock().unwrap().join("\n").replace(&server.uri(), "URL");
    assert!(
        text.starts_with(
            "GET URL/v1/projects?page=0&size=100: 503 Service Unavailable; retrying in 0.0 s (attempt 2 of 3)"
        ),
        "{text}"
    );
}

#[tokio::test]
async fn wait_for_late_response_is_reported() {
    let late = empty_list().set_delay(Duration::from_millis(2_600));
    let server = server(late, empty_list()).await;
    let (platform, sentences) = observed_platform(&server.uri(), SHORT);
    platform.fetch_projects().await.unwrap();
    let text = sentences.lock().unwrap().join("\n").replace(&server.uri(), "URL");
    assert_eq!(
        text,
        "waiting for the response to GET URL/v1/projects?page=0&size=100 (timeout 20 s)"
    );
}

#[tokio::test]
async fn refused_connection_is_reported_at_each_try() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let (platform, sentences) = observed_platform(&url, SHORT);
    assert_eq!(
        platform.fetch_projects().await.unwrap_err().kind(),
        ErrorKind::Unreachable
    );
    let sentences = sentences.lock().unwrap();
    assert_eq!(sentences.len(), 2, "{sentences:?}");
    assert!(
        sentences[0].starts_with(&format!(
            "cannot connect to {url}: connection refused; retrying in "
        )) && sentences[0].ends_with(" s (attempt 2 of 3)"),
        "{sentences:?}"
    );
}
