//! A running platform and the ways to talk to it.

use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use sluicegate::service::{Options, Role, Running, Vocabulary, start};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Where the artifact endpoints are.
pub const ARTIFACTS: &str = "/v1/shared-pipelines/artifacts";
/// The artifact details.
pub const DETAILS: &str = "/v1/shared-pipelines/artifacts/details";
/// The list of shared pipelines.
pub const SHARED: &str = "/v1/shared-pipelines";

const BOUNDARY: &str = "the-boundary";

/// A running platform with one token for each role: `root`, `admin`, `member`.
pub struct Platform {
    running: Running,
    client: Client,
}

/// Options with the three tokens and nothing else.
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
    }
}

impl Platform {
    /// In memory and without projects.
    pub async fn empty() -> Self {
        Self::with(options()).await
    }

    /// On disk.
    pub async fn on(folder: &Path) -> Self {
        Self::with(Options {
            data: Some(folder.to_owned()),
            ..options()
        })
        .await
    }

    /// With one project.
    pub async fn with_project(id: Uuid, repository: PathBuf) -> Self {
        Self::with(Options {
            projects: vec![(id, repository)],
            ..options()
        })
        .await
    }

    /// With these options.
    pub async fn with(options: Options) -> Self {
        Self {
            running: start(options).await.unwrap(),
            client: client(),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.running.address()
    }

    pub fn running(&self) -> &Running {
        &self.running
    }

    pub async fn stop(self) {
        self.running.stop().await;
    }

    /// A request without a token.
    pub fn anonymous(&self, method: Method, path: &str) -> RequestBuilder {
        self.client
            .request(method, format!("http://{}{path}", self.address()))
    }

    /// A request with a token.
    pub fn request(&self, token: &str, method: Method, path: &str) -> RequestBuilder {
        self.anonymous(method, path).bearer_auth(token)
    }

    /// What an admin gets; it must be a success.
    pub async fn get(&self, path: &str) -> Value {
        success(self.request("admin", Method::GET, path).send().await.unwrap()).await
    }

    /// What an admin is refused with.
    pub async fn get_refused(&self, path: &str, status: u16) -> Value {
        refused(
            self.request("admin", Method::GET, path).send().await.unwrap(),
            status,
        )
        .await
    }

    /// Publishes these parts as an admin.
    pub async fn publish(&self, prefix: &str, version: &str, parts: &[(&str, &str)]) -> Response {
        self.publish_form(prefix, version, form(parts)).await
    }

    /// Publishes this body as an admin.
    pub async fn publish_form(&self, prefix: &str, version: &str, form: Vec<u8>) -> Response {
        self.publish_request(prefix, version)
            .body(form)
            .send()
            .await
            .unwrap()
    }

    /// The headers of a publish.
    pub fn publish_request(&self, prefix: &str, version: &str) -> RequestBuilder {
        self.request("admin", Method::POST, ARTIFACTS)
            .header("sharedPipelineIdPrefix", prefix)
            .header("versionName", version)
            .header(
                "content-type",
                format!("multipart/form-data; boundary={BOUNDARY}"),
            )
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

/// A client that needs neither certificates nor proxies.
fn client() -> Client {
    // A second test of the process finds it installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().tls_certs_only([]).build().unwrap()
}

/// Form data with these parts.
pub fn form(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut form = Vec::new();
    for (name, content) in parts {
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        form.extend([head.as_bytes(), content.as_bytes(), b"\r\n"].concat());
    }
    form.extend(format!("--{BOUNDARY}--\r\n").bytes());
    form
}

/// The body of a success.
pub async fn success(response: Response) -> Value {
    let status = response.status();
    assert!(response.headers().contains_key("x-request-id"));
    let text = response.text().await.unwrap();
    assert_eq!(status, StatusCode::OK, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// The body of a refusal, which has the same members everywhere.
pub async fn refused(response: Response, status: u16) -> Value {
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

/// The fields that a 400 names.
pub fn fields(body: &Value) -> Vec<&str> {
    let findings = body["validation-errors"].as_array().unwrap();
    findings
        .iter()
        .map(|finding| finding["field"].as_str().unwrap())
        .collect()
}

/// The keys of a JSON value at every level, without the values; items of a list are put together.
pub fn keys(value: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                found.insert(key.clone(), serde_json::to_value(keys(member)).unwrap());
            }
        }
        Value::Array(items) => items.iter().for_each(|item| found.extend(keys(item))),
        _ => {}
    }
    found
}
