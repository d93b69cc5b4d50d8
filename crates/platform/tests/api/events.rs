//! Audit events: each operation as in the API document.

use crate::support::{json, platform, server_expecting};
use sluicegate_platform::api::EventWindow;
use wiremock::matchers::query_param;
use wiremock::{Mock, MockServer};

// Endpoint: GET /v1/events
#[tokio::test]
async fn list_is_read_as_documented_with_all_fields() {
    let answer = json(200, include_str!("../../../../tests/fixtures/api/events.json"));
    let (server, platform) = server_expecting("GET", "/v1/events", None, answer).await;
    let page = platform
        .fetch_event_page(&EventWindow::default(), 0, Some(100))
        .await
        .unwrap();
    assert_eq!(page.total, Some(1));
    insta::assert_debug_snapshot!(page.events[0].value, @r#"
    Event {
        event_id: Some(
            "f0e1d2c3-b4a5-4697-8879-6a5b4c3d2e1f",
        ),
        event_name: Some(
            "Artifact created",
        ),
        event_type: Some(
            "ARTIFACT_CREATED",
        ),
        event_description: Some(
            "The version 1.2.0 of sales was published",
        ),
        event_timestamp: Some(
            "2026-11-20T09:30:00Z",
        ),
        event_source: Some(
            "public-api",
        ),
        event_project_id: Some(
            "9c5b94b1-35ad-49bb-b118-8e8fc24abf80",
        ),
        event_subject_id: Some(
            "sales/1.2.0",
        ),
        event_subject_name: Some(
            "1.2.0",
        ),
        event_subject_type: Some(
            "ARTIFACT",
        ),
        actor_id: Some(
            "d1c2b3a4-9f8e-4d7c-a6b5-4c3d2e1f0a9b",
        ),
        actor_email: Some(
            "admin@example.com",
        ),
        additional_info: Some(
            "branch main",
        ),
    }
    "#);
    let requests = server.received_requests().await.unwrap();
    assert_eq!(requests[0].url.query(), Some("page=0&size=100"));
}

// Endpoint: GET /v1/events
#[tokio::test]
async fn list_of_a_window_and_page_asks_for_them() {
    let server = MockServer::start().await;
    let body = r#"{ "results": [{ "eventId": "1", "additionalInfo": { "a": 1 }, "new": true }], "page": 3, "size": 100, "total": 301 }"#;
    Mock::given(query_param("from", "2026-11-01T00:00:00+01:00"))
        .and(query_param("to", "2026-11-02T00:00:00Z"))
        .and(query_param("page", "3"))
        .and(query_param("size", "100"))
        .respond_with(json(200, body))
        .expect(1)
        .mount(&server)
        .await;
    let window = EventWindow {
        from: Some("2026-11-01T00:00:00+01:00".to_owned()),
        to: Some("2026-11-02T00:00:00Z".to_owned()),
    };
    let page = platform(&server.uri())
        .fetch_event_page(&window, 3, Some(100))
        .await
        .unwrap();
    assert_eq!(page.events[0].additional_info.as_deref(), Some(r#"{"a":1}"#));
    assert_eq!(page.events[0].raw["new"], true);
    assert_eq!((page.size, page.total), (Some(100), Some(301)));
}

// Endpoint: GET /v1/events
#[tokio::test]
async fn list_without_a_usable_page_size_has_none() {
    for body in [r#"{ "results": [], "size": 0 }"#, r#"{ "results": [] }"#] {
        let (_server, platform) = server_expecting("GET", "/v1/events", None, json(200, body)).await;
        let page = platform
            .fetch_event_page(&EventWindow::default(), 0, Some(100))
            .await
            .unwrap();
        assert_eq!((page.size, page.total), (None, None));
    }
}

// Endpoint: GET /v1/events
#[tokio::test]
async fn list_that_is_forbidden_names_the_role() {
    let (_server, platform) = server_expecting("GET", "/v1/events", None, json(403, "{}")).await;
    let error = platform
        .fetch_event_page(&EventWindow::default(), 0, Some(100))
        .await
        .unwrap_err();
    assert!(error.hint().contains("Super Admin"));
}
