//! Runs the example.

#[allow(dead_code, reason = "the test does not call the example's main function")]
#[path = "../../examples/list_versions.rs"]
mod list_versions;

use crate::support::{TOKEN, expecting, json};
use secrecy::SecretString;
use sluicegate_platform::http::{BaseUrl, TokenSource};

#[tokio::test]
async fn example_lists_versions() {
    let answer = json(200, include_str!("../../../../tests/fixtures/api/artifacts.json"));
    let (server, _) = expecting("GET", "/v1/shared-pipelines/artifacts", None, answer).await;
    let base_url = BaseUrl::parse(&server.uri()).unwrap();
    let token = TokenSource::Value(SecretString::from(TOKEN));
    let lines = list_versions::list_versions(base_url, token).await.unwrap();
    assert!(!lines.is_empty());
    assert!(lines.iter().all(|line| line.starts_with("version ")), "{lines:?}");
}
