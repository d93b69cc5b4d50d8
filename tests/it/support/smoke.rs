//! A platform with scripted responses to a publish and to its smoke runs.

use crate::support::{Call, Platform, World, answer, in_turn, publishing};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use wiremock::{Request, Respond, ResponseTemplate};

/// The execution that the platform starts.
pub const EXECUTION: &str = "7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d";
/// The project that consumes the version.
pub const CONSUMER: &str = "b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60";

const EXECUTIONS: &str = "/pipeline-executions$";
const ONE_EXECUTION: &str = "/pipeline-executions/[^/]+$";

/// A response that a test may replace.
type Replaceable = Arc<Mutex<Box<dyn Respond>>>;

/// A pushed project, and a platform that has version 0 of it and accepts version 1.
pub struct SmokePlatform {
    pub world: World,
    pub platform: Platform,
    is_published: Arc<AtomicBool>,
    is_disabled: Arc<AtomicBool>,
    /// The latest version that another job published.
    latest: Arc<Mutex<Option<Value>>>,
    /// A file that is removed when the program requests the details of a version.
    lost_file: Arc<Mutex<Option<PathBuf>>>,
    upload: Replaceable,
    execution: Replaceable,
}

impl SmokePlatform {
    /// Creates the project and the platform, which does not execute anything yet.
    pub fn new() -> Self {
        let world = publishing::project_to_publish();
        let first_commit = world.git("rev-parse HEAD");
        world.write("sql/it.sql", "select 2;\n");
        world.write("notes.md", "not a pipeline\n");
        world.commit("second");
        world.push();
        world.write(".git/info/exclude", "receipt.json\n");
        let stage = Self {
            world,
            platform: Platform::new(),
            is_published: Arc::default(),
            is_disabled: Arc::default(),
            latest: Arc::default(),
            lost_file: Arc::default(),
            upload: replaceable(publishing::upload_response(&json!([]))),
            execution: replaceable(ResponseTemplate::new(404)),
        };
        stage.script_versions(&first_commit);
        let execution = Arc::clone(&stage.execution);
        stage
            .platform
            .respond_to("GET", ONE_EXECUTION, move |request: &Request| {
                execution.lock().unwrap().respond(request)
            });
        stage
    }

    /// Creates a platform whose executions have these statuses, one after the other.
    pub fn with_statuses(statuses: &[&str]) -> Self {
        let stage = Self::new();
        stage.start_with(answer(&json!({ "pipelineExecutionId": EXECUTION })));
        stage.show(in_turn(
            statuses.iter().map(|status| answer(&execution(status))).collect(),
        ));
        stage
    }

    /// Responds to the request to start an execution.
    pub fn start_with(&self, respond: impl Respond + 'static) {
        self.platform.respond_to("POST", EXECUTIONS, respond);
    }

    /// Responds to the request to start an execution, before which another job disables version 1.
    pub fn disable_at_start_with(&self, response: ResponseTemplate) {
        let is_disabled = Arc::clone(&self.is_disabled);
        self.start_with(move |_: &Request| {
            is_disabled.store(true, Ordering::SeqCst);
            response.clone()
        });
    }

    /// Responds to the request for the state of an execution.
    pub fn show(&self, respond: impl Respond + 'static) {
        *self.execution.lock().unwrap() = Box::new(respond);
    }

    /// Responds to the upload of version 1.
    pub fn accept_upload_with(&self, respond: impl Respond + 'static) {
        *self.upload.lock().unwrap() = Box::new(respond);
    }

    /// Responds to each upload with an error, and has no version 1 afterwards.
    pub fn lose_uploads(&self) {
        let is_published = Arc::clone(&self.is_published);
        self.accept_upload_with(move |_: &Request| {
            is_published.store(false, Ordering::SeqCst);
            ResponseTemplate::new(500)
        });
    }

    /// Makes version 2 of the same commit the latest one.
    pub fn publish_newer_version(&self) {
        *self.latest.lock().unwrap() = Some(self.newer_version());
    }

    /// Removes the file when the program requests the details of a version.
    pub fn lose_at_lookup(&self, file: PathBuf) {
        *self.lost_file.lock().unwrap() = Some(file);
    }

    /// Withdraws the newer version, so that version 1 is the latest one again if it is enabled.
    pub fn withdraw_newer_version(&self) {
        *self.latest.lock().unwrap() = None;
    }

    /// Lets the execution end in SUCCESS, and another job publish version 2 or, if `is_disabled` is set, disable
    /// version 1 before that.
    pub fn change_latest_during_run(&self, is_disabled: bool) {
        let (newer_version, latest) = (self.newer_version(), Arc::clone(&self.latest));
        let disabled_state = Arc::clone(&self.is_disabled);
        self.show(move |_: &Request| {
            if is_disabled {
                disabled_state.store(true, Ordering::SeqCst);
            } else {
                *latest.lock().unwrap() = Some(newer_version.clone());
            }
            answer(&execution("SUCCESS"))
        });
    }

    fn newer_version(&self) -> Value {
        let mut details = publishing::version_details(&self.world);
        details["artifactDetails"]["versionName"] = "2".into();
        details
    }

    /// Accepts the request to disable a version.
    pub fn accept_disable(&self) {
        let (is_published, is_disabled) = (Arc::clone(&self.is_published), Arc::clone(&self.is_disabled));
        self.platform
            .respond_to("PATCH", "/artifacts$", move |_: &Request| {
                // Only a version that exists can be disabled.
                is_published.store(true, Ordering::SeqCst);
                is_disabled.store(true, Ordering::SeqCst);
                answer(&json!({}))
            });
    }

    /// Accepts the request to disable a version, whose details show it later. From then on, the latest version has this
    /// name.
    pub fn accept_disable_late(&self, delay: Duration, latest_name: &Value) {
        let mut details = publishing::version_details(&self.world);
        details["artifactDetails"]["versionName"] = latest_name.clone();
        let (latest, is_disabled) = (Arc::clone(&self.latest), Arc::clone(&self.is_disabled));
        self.platform
            .respond_to("PATCH", "/artifacts$", move |_: &Request| {
                *latest.lock().unwrap() = Some(details.clone());
                let is_disabled = Arc::clone(&is_disabled);
                thread::spawn(move || {
                    thread::sleep(delay);
                    is_disabled.store(true, Ordering::SeqCst);
                });
                answer(&json!({}))
            });
    }

    /// Sets whether version 1 exists, and whether it is disabled.
    pub fn set_version(&self, is_published: bool, is_disabled: bool) {
        self.is_published.store(is_published, Ordering::SeqCst);
        self.is_disabled.store(is_disabled, Ordering::SeqCst);
    }

    fn script_versions(&self, first_commit: &str) {
        let head = self.world.git("rev-parse HEAD");
        let details = publishing::version_details(&self.world);
        let version = move |name: &str, commit: &str, is_enabled: bool| {
            let mut details = details.clone();
            details["artifactDetails"]["versionName"] = name.into();
            details["artifactDetails"]["commitHash"] = commit.into();
            details["artifactDetails"]["enabled"] = is_enabled.into();
            details
        };
        let old_version = version("0", first_commit, true);
        let (is_published, is_disabled) = (Arc::clone(&self.is_published), Arc::clone(&self.is_disabled));
        let new_version = Arc::new(move || {
            let is_enabled = !is_disabled.load(Ordering::SeqCst);
            is_published
                .load(Ordering::SeqCst)
                .then(|| version("1", &head, is_enabled))
        });
        let (listed_version, old_entry) = (Arc::clone(&new_version), old_version["artifactDetails"].clone());
        self.platform
            .respond_to("GET", "/artifacts$", move |_: &Request| {
                let mut entries = vec![old_entry.clone()];
                entries.extend(listed_version().map(|version| version["artifactDetails"].clone()));
                answer(&json!({ "results": entries }))
            });
        let (latest, lost_file) = (Arc::clone(&self.latest), Arc::clone(&self.lost_file));
        self.platform
            .respond_to("GET", "/artifacts/details$", move |request: &Request| {
                if let Some(file) = lost_file.lock().unwrap().take() {
                    fs::remove_file(file).unwrap();
                }
                let name = request.url.query_pairs().find(|(key, _)| key == "versionName");
                let enabled_version =
                    new_version().filter(|version| version["artifactDetails"]["enabled"] == true);
                let latest_version = latest.lock().unwrap().clone().or(enabled_version);
                match name.as_ref().map(|(_, value)| value.as_ref()) {
                    Some("0") => answer(&old_version),
                    Some("1" | "2") => {
                        new_version().map_or_else(|| ResponseTemplate::new(404), |version| answer(&version))
                    }
                    Some(_) => ResponseTemplate::new(404),
                    None => answer(&latest_version.unwrap_or_else(|| old_version.clone())),
                }
            });
        let (is_published, upload) = (Arc::clone(&self.is_published), Arc::clone(&self.upload));
        self.platform
            .respond_to("POST", "/artifacts$", move |request: &Request| {
                is_published.store(true, Ordering::SeqCst);
                upload.lock().unwrap().respond(request)
            });
    }

    /// Returns a call with a prefix, a version name and one smoke run, which polls without a delay.
    pub fn call(&self) -> Call {
        self.platform
            .call(&self.world)
            .variable("SLUICEGATE_POLL_INTERVAL", "0.001")
            .variable("SLUICEGATE_PREFIX", "p")
            .variable("SLUICEGATE_VERSION_NAME", "1")
            .variable("SLUICEGATE_SMOKE", "load")
            .variable("SLUICEGATE_SMOKE_PROJECT", CONSUMER)
            .variable("SLUICEGATE_SMOKE_ENVIRONMENT", "test")
            .variable("SLUICEGATE_RECEIPT", "receipt.json")
    }

    pub fn receipt(&self) -> Value {
        let text = fs::read_to_string(self.world.work().join("receipt.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Returns the bodies of the requests to start an execution.
    pub fn starts(&self) -> Vec<Value> {
        self.bodies("POST", "/pipeline-executions")
    }

    /// Returns the bodies of the requests to enable or disable a version.
    pub fn switches(&self) -> Vec<Value> {
        self.bodies("PATCH", "/artifacts")
    }

    fn bodies(&self, verb: &str, path_end: &str) -> Vec<Value> {
        self.platform
            .requests()
            .iter()
            .filter(|request| request.method.as_str() == verb && request.url.path().ends_with(path_end))
            .map(|request| serde_json::from_slice(&request.body).unwrap())
            .collect()
    }
}

fn replaceable(respond: impl Respond + 'static) -> Replaceable {
    Arc::new(Mutex::new(Box::new(respond)))
}

/// Returns the request that disables version 1.
pub fn disable_request() -> Value {
    json!({ "sharedPipelineIdPrefix": "p", "versionName": "1", "enabled": false })
}

/// Returns the response for an execution that started after version 1 was created.
pub fn execution(status: &str) -> Value {
    let finished_at = (status != "RUNNING").then_some("2026-11-20T09:31:03Z");
    json!({ "result": { "status": status, "message": format!("it is {status}"),
        "startedAt": "2026-11-20T09:31:00Z", "finishedAt": finished_at } })
}
