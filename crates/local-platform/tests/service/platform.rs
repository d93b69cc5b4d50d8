//! A running platform and helpers to send requests to it.

use crate::description::Description;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use sluicegate_local_platform::{AgentBehavior, Clock, Options, Role, RunningPlatform, Vocabulary, start};
use sluicegate_test_support::platform_requests::{ARTIFACTS, FORM, build_form, build_test_client};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::OnceCell;
use uuid::Uuid;

/// Path of the list of shared pipelines.
pub const SHARED: &str = "/v1/shared-pipelines";

/// A running platform with one token for each role: `root`, `admin`, `member`.
pub struct Platform {
    running: RunningPlatform,
    client: Client,
    clock: Clock,
    description: OnceCell<Description>,
}

/// Returns options with the three tokens and no other settings.
pub fn options() -> Options {
    Options {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        data: None,
        projects: Vec::new(),
        tokens: vec![
            ("root".into(), Role::SuperAdmin),
            ("admin".into(), Role::Admin),
            ("member".into(), Role::Member),
        ],
        vocabulary: Vocabulary::default(),
        clock: Clock::default(),
        agent_behavior: AgentBehavior::default(),
    }
}

/// Returns a clock that moves only on request.
pub fn stepped_clock() -> Clock {
    Clock::stepped_from("2026-11-20T09:30:00Z".parse().unwrap())
}

impl Platform {
    /// Starts a platform in memory and without projects.
    pub async fn empty() -> Self {
        Self::with_options(options()).await
    }

    /// Starts a platform on disk.
    pub async fn in_folder(folder: &Path) -> Self {
        Self::with_options(Options {
            data: Some(folder.to_owned()),
            ..options()
        })
        .await
    }

    /// Starts a platform with one project.
    pub async fn with_project(id: Uuid, repository: PathBuf) -> Self {
        Self::with_options(Options {
            projects: vec![(id, repository)],
            ..options()
        })
        .await
    }

    /// Starts a platform with these options.
    pub async fn with_options(options: Options) -> Self {
        Self {
            clock: options.clock.clone(),
            running: start(options).await.unwrap(),
            client: build_test_client(),
            description: OnceCell::new(),
        }
    }

    /// Starts a platform with one project with this ID and repository, and a clock that moves only on request.
    pub async fn with_stepped_clock(id: Uuid, repository: PathBuf) -> Self {
        Self::with_options(Options {
            projects: vec![(id, repository)],
            clock: stepped_clock(),
            ..options()
        })
        .await
    }

    /// Moves the clock forward.
    pub fn wait(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Sends a request and returns the response body, or null if it is empty. Checks the status, and that the response
    /// and, unless it is rejected, the request match the API description. A rejection must have the common members.
    pub async fn call(
        &self,
        token: &str,
        operation: (Method, &str),
        body: Option<Value>,
        status: u16,
    ) -> Value {
        let (method, path) = operation;
        let described = self.description.get_or_init(|| Description::fetch(self)).await;
        let mut request = self.request(token, method.clone(), path);
        if let Some(body) = body {
            if status < 400 && !body.is_null() {
                described.holds_request((method.as_str(), path), &body);
            }
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let result = response.status().as_u16();
        let is_conflict_of_tags = result == 409 && path.ends_with("/pipeline-executions");
        let value = if result >= 400 && !is_conflict_of_tags {
            expect_problem(response, status).await
        } else {
            let text = response.text().await.unwrap();
            assert_eq!(result, status, "{method} {path}: {text}");
            serde_json::from_str(if text.is_empty() { "null" } else { &text }).unwrap()
        };
        described.holds_value((method.as_str(), path), status, &value);
        value
    }

    /// Returns the response to an admin's GET.
    pub async fn read(&self, path: &str) -> Value {
        self.call("admin", (Method::GET, path), None, 200).await
    }

    /// Returns the response to an admin's POST.
    pub async fn post(&self, path: &str, body: Value, status: u16) -> Value {
        self.call("admin", (Method::POST, path), Some(body), status).await
    }

    /// Returns the names of the audit events so far, in order.
    pub async fn events(&self) -> Vec<String> {
        let events = self
            .call("root", (Method::GET, "/v1/events?size=100"), None, 200)
            .await;
        let events = events["results"].as_array().unwrap().clone();
        events
            .iter()
            .map(|event| event["eventName"].as_str().unwrap().to_owned())
            .collect()
    }

    pub fn address(&self) -> SocketAddr {
        self.running.address()
    }

    pub fn handle(&self) -> &RunningPlatform {
        &self.running
    }

    pub async fn stop(self) {
        self.running.stop().await;
    }

    /// Returns a request without a token.
    pub fn anonymous(&self, method: Method, path: &str) -> RequestBuilder {
        self.client
            .request(method, format!("http://{}{path}", self.address()))
    }

    /// Returns a request with a token.
    pub fn request(&self, token: &str, method: Method, path: &str) -> RequestBuilder {
        self.anonymous(method, path).bearer_auth(token)
    }

    /// Returns the response to an admin's GET, which must succeed.
    pub async fn get(&self, path: &str) -> Value {
        success(self.request("admin", Method::GET, path).send().await.unwrap()).await
    }

    /// Returns the rejection of an admin's GET.
    pub async fn get_refused(&self, path: &str, status: u16) -> Value {
        expect_problem(
            self.request("admin", Method::GET, path).send().await.unwrap(),
            status,
        )
        .await
    }

    /// Publishes these parts as an admin.
    pub async fn publish(&self, prefix: &str, version: &str, parts: &[(&str, &str)]) -> Response {
        self.publish_form(prefix, version, build_form(parts)).await
    }

    /// Publishes this body as an admin.
    pub async fn publish_form(&self, prefix: &str, version: &str, form: Vec<u8>) -> Response {
        self.publish_request(prefix, version)
            .body(form)
            .send()
            .await
            .unwrap()
    }

    /// Returns a publish request with its headers.
    pub fn publish_request(&self, prefix: &str, version: &str) -> RequestBuilder {
        self.request("admin", Method::POST, ARTIFACTS)
            .header("sharedPipelineIdPrefix", prefix)
            .header("versionName", version)
            .header("content-type", FORM)
    }

    /// Enables or disables a version as an admin.
    pub async fn set_enabled(&self, prefix: &str, version: &str, enabled: bool) -> Response {
        let body =
            serde_json::json!({"sharedPipelineIdPrefix": prefix, "versionName": version, "enabled": enabled});
        self.request("admin", Method::PATCH, ARTIFACTS)
            .json(&body)
            .send()
            .await
            .unwrap()
    }
}

/// Returns the body of a successful response.
pub async fn success(response: Response) -> Value {
    let status = response.status();
    assert!(response.headers().contains_key("x-request-id"));
    let text = response.text().await.unwrap();
    assert_eq!(status, StatusCode::OK, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// Returns the body of a rejection, which always has the same members.
pub async fn expect_problem(response: Response, status: u16) -> Value {
    let headers = response.headers().clone();
    let (actual, path) = (response.status(), response.url().path().to_owned());
    let text = response.text().await.unwrap();
    assert_eq!(actual, status, "{path}: {text}");
    assert_eq!(headers["content-type"], "application/json", "{path}");
    assert!(headers.contains_key("x-request-id"), "{path}");
    let body: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(body["status"], status, "{path}");
    assert_eq!(body["instance"], path);
    assert!(body["title"].is_string() && body["detail"].is_string(), "{text}");
    assert_eq!(body.get("validation-errors").is_some(), status == 400, "{text}");
    body
}

/// Returns the fields in the validation errors of a 400.
pub fn fields(body: &Value) -> Vec<&str> {
    let findings = body["validation-errors"].as_array().unwrap();
    findings
        .iter()
        .map(|finding| finding["field"].as_str().unwrap())
        .collect()
}

/// Returns the keys of a JSON value at every level, without the values; the items of a list are merged.
pub fn keys(value: &Value) -> BTreeMap<String, Value> {
    let mut entries = BTreeMap::new();
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                entries.insert(key.clone(), serde_json::to_value(keys(member)).unwrap());
            }
        }
        Value::Array(items) => items.iter().for_each(|item| entries.extend(keys(item))),
        _ => {}
    }
    entries
}

/// Asserts that a value has the same keys as a fixture, at every level.
#[track_caller]
pub fn same_keys(value: &Value, fixture: &str) {
    let document: Value = serde_json::from_str(fixture).unwrap();
    assert_eq!(keys(value), keys(&document));
}

/// Returns the member `name` of each item of a list.
pub fn column<'v>(list: &'v Value, name: &str) -> Vec<&'v str> {
    let items = list.as_array().unwrap();
    items.iter().map(|item| item[name].as_str().unwrap()).collect()
}
