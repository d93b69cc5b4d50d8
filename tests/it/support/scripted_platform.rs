//! Fixtures of most tests: a project in git, and a platform with scripted responses.

use crate::support::{Arguments, Call, ProgramOutput, RULES_FILE, World, orchestration_text};
use serde_json::{Value, json};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use wiremock::matchers::{method, path_regex};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

pub const RULES: &str = "\
rules:
  - { id: component-naming-convention, enabled: true, enforcementLevel: error, config: { regexMatchPattern: '[A-Z].*' } }
  - { id: maximum-components, enabled: true, enforcementLevel: warn, config: { maxComponents: 3 } }
";

/// Creates a repository whose `main` has one pipeline and the rules, and no other file.
pub fn project() -> World {
    let world = World::new()
        .with_file(RULES_FILE, RULES)
        .with_pipeline("a.orch.yaml", &["Start", "Done"]);
    world.commit("first");
    world.push();
    world.git("remote set-head origin main");
    world
}

/// Creates the project with a pushed and checked out branch `change` that adds these files.
pub fn change(files: &[(&str, &str)]) -> World {
    let world = project();
    world.git("checkout -q -b change");
    for (path, content) in files {
        world.write(path, content);
    }
    world.commit("change");
    world.push();
    world
}

/// Creates the project with a pushed and checked out branch `change` that adds a good pipeline of three components.
pub fn one_change() -> World {
    change(&[("b.orch.yaml", &orchestration_text(&["Start", "Load", "Done"]))])
}

/// A platform with scripted responses.
pub struct Platform {
    runtime: Runtime,
    pub server: MockServer,
}

impl Platform {
    pub fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(MockServer::start());
        Self { runtime, server }
    }

    /// Responds to each review with `respond`.
    pub fn reviews(&self, respond: impl Respond + 'static) {
        self.respond_to("POST", "/reviews$", respond);
    }

    /// Responds to requests with this method and a matching path.
    pub fn respond_to(&self, verb: &str, path: &str, respond: impl Respond + 'static) {
        let mock = Mock::given(method(verb))
            .and(path_regex(path))
            .respond_with(respond);
        self.runtime.block_on(mock.mount(&self.server));
    }

    /// Responds to every other request with a server's error.
    pub fn is_down(&self) {
        for verb in ["GET", "POST"] {
            self.respond_to(verb, "", ResponseTemplate::new(503));
        }
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.runtime.block_on(self.server.received_requests()).unwrap()
    }

    /// Waits until the program has sent the expected requests. Fails if the program ends first, or after a minute.
    #[track_caller]
    pub fn wait_for_requests(&self, child: &mut Child, are_expected: impl Fn(&[Request]) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !are_expected(&self.requests()) {
            let status = child.try_wait().unwrap();
            if status.is_some() || Instant::now() > deadline {
                let _ = child.kill();
                let mut log = String::new();
                if let Some(mut stderr) = child.stderr.take() {
                    stderr.read_to_string(&mut log).unwrap();
                }
                panic!("the program did not send the expected requests ({status:?}): {log}");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Returns a call of the program with this platform and short delays between retries.
    pub fn call(&self, world: &World) -> Call {
        Call::with_platform(&world.work(), &self.server.uri())
            .variable("SLUICEGATE_RETRIES", "0")
            .variable("SLUICEGATE_LOOKUP_TIMEOUT", "0")
    }
}

/// Returns a call of the program that polls without a delay.
pub fn polling_call(platform: &Platform, world: &World) -> Call {
    platform.call(world).variable("SLUICEGATE_POLL_INTERVAL", "0.001")
}

/// Returns the bodies of the requests so far.
pub fn sent_bodies(platform: &Platform) -> Vec<Value> {
    let body = |request: &Request| serde_json::from_slice(&request.body).unwrap_or_default();
    platform.requests().iter().map(body).collect()
}

/// Returns the pipelines in a review request.
pub fn requested_pipelines(request: &Request) -> Vec<String> {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    body["pipelines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| path.as_str().unwrap().to_owned())
        .collect()
}

/// Returns a passed result for each rule of [`RULES`].
pub fn passed_results() -> Value {
    json!([
        { "ruleName": "component-naming-convention", "status": "PASSED" },
        { "ruleName": "maximum-components", "status": "PASSED" },
    ])
}

/// Responds with these rule results for every requested pipeline.
pub fn respond_for_each(review_status: &str, results: Value) -> impl Respond + use<> {
    let review_status = review_status.to_owned();
    move |request: &Request| {
        let files: serde_json::Map<String, Value> = requested_pipelines(request)
            .into_iter()
            .map(|path| (path, results.clone()))
            .collect();
        answer(&json!({ "reviewStatus": review_status, "results": files, "excludedFiles": [] }))
    }
}

/// Returns a 200 with this JSON.
pub fn answer(body: &Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

/// Sends the responses in turn, and repeats the last one.
pub fn in_turn(answers: Vec<ResponseTemplate>) -> impl Respond {
    let answers = Arc::new(Mutex::new(answers));
    move |_: &Request| {
        let mut left = answers.lock().unwrap();
        if left.len() > 1 {
            left.remove(0)
        } else {
            left[0].clone()
        }
    }
}

/// Returns a pipeline that passes [`RULES`].
pub fn good_pipeline() -> String {
    orchestration_text(&["Start", "Done"])
}

/// Returns a pipeline with a component whose name violates [`RULES`].
pub fn bad_pipeline() -> String {
    orchestration_text(&["Start", "load it", "Done"])
}

/// Checks the clone, with a JSON report on standard output.
pub fn check(world: &World, args: impl Arguments) -> ProgramOutput {
    check_folder(&world.work(), args)
}

/// Checks a directory, with a JSON report on standard output.
pub fn check_folder(folder: &Path, args: impl Arguments) -> ProgramOutput {
    Call::new(folder).run(("check --report json=-", args))
}

/// Returns a platform that reports a violation of the naming rule with this text in every pipeline.
pub fn failing_platform(violation: &str) -> Platform {
    let platform = Platform::new();
    let result =
        json!([{ "ruleName": "component-naming-convention", "status": "FAILED", "violations": [violation] }]);
    platform.reviews(respond_for_each("FAILED", result));
    platform
}

/// Returns a platform that reports every pipeline with a bad name.
pub fn strict_platform() -> Platform {
    let platform = Platform::new();
    platform.reviews(|request: &Request| {
        let paths = requested_pipelines(request);
        let result = |path: &String| {
            let bad = path.contains("bad");
            let rule = json!([{ "ruleName": "component-naming-convention", "status": if bad { "FAILED" } else { "PASSED" } }]);
            (path.clone(), rule)
        };
        let failed = paths.iter().any(|path| path.contains("bad"));
        let results: serde_json::Map<String, Value> = paths.iter().map(result).collect();
        let status = if failed { "FAILED" } else { "PASSED" };
        answer(&json!({ "reviewStatus": status, "results": results, "excludedFiles": [] }))
    });
    platform
}

/// Returns the paths of the files in a report.
pub fn report_paths(report: &Value) -> Vec<&str> {
    let files = report["files"].as_array().unwrap().iter();
    files.map(|file| file["path"].as_str().unwrap()).collect()
}

/// Reads a JSON file.
#[track_caller]
pub fn read_json(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).unwrap()
}

/// Returns the value with this key of each finding in a result of a JSON report.
pub fn finding_values(result: &Value, key: &str) -> Vec<Value> {
    let findings = result["findings"].as_array().unwrap().iter();
    findings.map(|finding| finding[key].clone()).collect()
}
