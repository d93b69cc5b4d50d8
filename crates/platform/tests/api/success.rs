//! A call succeeds only with the response that the API document shows.

use crate::support::{PROJECT, json, platform};
use sluicegate_platform::api::{FollowUp, NewConnection, Platform, StreamingCommand, VariableFields};
use sluicegate_platform::http::{ErrorKind, HttpError};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

/// Starts a platform that always sends this response.
async fn always(answer: ResponseTemplate) -> (MockServer, Platform) {
    let server = MockServer::start().await;
    Mock::given(matchers::any())
        .respond_with(answer)
        .mount(&server)
        .await;
    let platform = platform(&server.uri());
    (server, platform)
}

fn page() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw("<html><body>Sign in</body></html>", "text/html")
}

fn connection() -> NewConnection {
    NewConnection {
        name: "dwh".to_owned(),
        platform_connection_type: "dwh".to_owned(),
        auth_provider: "warehouse_a".to_owned(),
        auth_type: "key_pair".to_owned(),
    }
}

/// Runs every call that changes the platform and returns each result with the name of the call.
async fn changes(platform: &Platform) -> Vec<(&'static str, Result<(), HttpError>)> {
    let fields = VariableFields::default();
    let start = StreamingCommand::Start;
    vec![
        (
            "connection",
            platform.create_connection(PROJECT, &connection()).await.map(drop),
        ),
        ("update", platform.update_variable(PROJECT, "v", &fields).await),
        ("delete", platform.delete_variable(PROJECT, "v").await),
        ("unset", platform.delete_override(PROJECT, "v", "e").await),
        (
            "start",
            platform
                .send_streaming_command(PROJECT, "s", start)
                .await
                .map(drop),
        ),
        (
            "enable",
            platform.set_artifact_enabled("p", "1", true).await.map(drop),
        ),
        ("stop task", platform.stop_task("t").await),
        ("delete task", platform.delete_task("t").await),
        (
            "send",
            platform
                .send_task_message("t", &FollowUp::default())
                .await
                .map(drop),
        ),
    ]
}

#[tokio::test]
async fn page_is_no_success_and_leaves_outcome_open() {
    let (server, platform) = always(page()).await;
    let outcomes = changes(&platform).await;
    let count = outcomes.len();
    for (label, outcome) in outcomes {
        let error = outcome
            .err()
            .unwrap_or_else(|| panic!("{label} took a page for a success"));
        assert_eq!(error.kind(), ErrorKind::BadResponse, "{label}: {error}");
        assert!(error.is_maybe_processed(), "{label}");
        assert!(error.to_string().contains("Sign in"), "{label}: {error}");
    }
    // No request is sent twice.
    assert_eq!(server.received_requests().await.unwrap().len(), count);
}

#[tokio::test]
async fn empty_body_where_one_is_due_is_no_success() {
    for status in [200, 201] {
        let (_server, platform) = always(ResponseTemplate::new(status)).await;
        let error = platform
            .create_connection(PROJECT, &connection())
            .await
            .unwrap_err();
        assert!(error.is_maybe_processed(), "{error}");
        assert!(error.to_string().contains("the body is empty"), "{error}");
        // If the document shows no body, no body is required.
        platform.set_artifact_enabled("p", "1", true).await.unwrap();
    }
}

#[tokio::test]
async fn statuses_that_the_document_does_not_show_are_no_success() {
    for status in [202, 206] {
        let (_server, platform) = always(json(status, r#"{ "results": [], "taskId": "t" }"#)).await;
        let error = platform.fetch_projects().await.unwrap_err();
        assert!(
            error.to_string().contains("expected status 200 or 201"),
            "{error}"
        );
        for (label, outcome) in changes(&platform).await {
            assert_eq!(
                outcome.is_ok(),
                label == "send" && status == 202,
                "{label} {status}"
            );
        }
    }
    let (_server, platform) = always(json(202, "{}")).await;
    let error = platform.set_artifact_enabled("p", "1", true).await.unwrap_err();
    assert!(
        error.to_string().contains("expected status 200, 201 or 204"),
        "{error}"
    );
    let (_server, platform) = always(json(200, "{}")).await;
    let error = platform.delete_variable(PROJECT, "v").await.unwrap_err();
    assert!(error.to_string().contains("expected status 204"), "{error}");
}

#[tokio::test]
async fn names_that_no_path_can_hold_are_never_sent() {
    let (server, platform) = always(ResponseTemplate::new(204)).await;
    for name in ["", " ", ".", "..", "a\tb", "a\nb", "a\rb", "\u{7f}"] {
        for outcome in [
            platform.delete_variable(PROJECT, name).await,
            platform.delete_override(PROJECT, "v", name).await,
            platform.stop_task(name).await,
            platform.delete_task(name).await,
        ] {
            assert_eq!(outcome.unwrap_err().kind(), ErrorKind::InvalidName, "{name:?}");
        }
    }
    assert!(server.received_requests().await.unwrap().is_empty());
    platform.delete_variable(PROJECT, "a/../b %2e").await.unwrap();
    let requests = server.received_requests().await.unwrap();
    assert!(
        requests[0].url.path().ends_with("/variables/a%2F..%2Fb%20%252e"),
        "{}",
        requests[0].url
    );
}
