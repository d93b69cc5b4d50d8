//! Fixtures of most tests: a project in git, and a platform with scripted responses.

use crate::support::{Call, World};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use tokio::runtime::Runtime;
use wiremock::matchers::{method, path_regex};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

pub const RULES: &str = "\
rules:
  - { id: component-naming-convention, enabled: true, enforcementLevel: error, config: { regexMatchPattern: '[A-Z].*' } }
  - { id: maximum-components, enabled: true, enforcementLevel: warn, config: { maxComponents: 3 } }
";

/// Returns an orchestration with these components in a row; the last one ends it.
pub fn pipeline(components: &[&str]) -> String {
    let mut text = String::from("type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n");
    for (place, name) in components.iter().enumerate() {
        let kind = match place {
            0 => "start",
            last if last + 1 == components.len() => "end-success",
            _ => "sql-executor",
        };
        let _ = write!(
            text,
            "    {name:?}:\n      type: {kind}\n      parameters: {{ componentName: {name:?} }}\n"
        );
        if let Some(next) = components.get(place + 1) {
            let _ = write!(
                text,
                "      transitions:\n        unconditional:\n          - {next:?}\n"
            );
        }
    }
    text
}

/// Creates a repository whose `main` has one pipeline and the rules, and no other file.
pub fn project() -> World {
    let world = World::new();
    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    world.write("a.orch.yaml", pipeline(&["Start", "Done"]));
    world.commit("first");
    world.push();
    world.git(&["remote", "set-head", "origin", "main"]);
    world
}

/// Creates the project with a pushed and checked out branch `change` that adds these files.
pub fn change(files: &[(&str, &str)]) -> World {
    let world = project();
    world.git(&["checkout", "-q", "-b", "change"]);
    for (path, content) in files {
        world.write(path, content);
    }
    world.commit("change");
    world.push();
    world
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
        self.on("POST", "/reviews$", respond);
    }

    /// Responds to requests with this method and a matching path.
    pub fn on(&self, verb: &str, path: &str, respond: impl Respond + 'static) {
        let mock = Mock::given(method(verb))
            .and(path_regex(path))
            .respond_with(respond);
        self.runtime.block_on(mock.mount(&self.server));
    }

    /// Responds to every other request with a server's error.
    pub fn is_down(&self) {
        for verb in ["GET", "POST"] {
            self.on(verb, "", ResponseTemplate::new(503));
        }
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.runtime.block_on(self.server.received_requests()).unwrap()
    }

    /// Returns a call of the program with this platform and short delays between retries.
    pub fn call(&self, world: &World) -> Call {
        Call::with_platform(&world.work(), &self.server.uri())
            .variable("SLUICEGATE_RETRIES", "0")
            .variable("SLUICEGATE_LOOKUP_TIMEOUT", "0")
    }
}

/// Returns the pipelines in a review request.
pub fn asked(request: &Request) -> Vec<String> {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    body["pipelines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| path.as_str().unwrap().to_owned())
        .collect()
}

/// Returns a passed result for each rule of [`RULES`].
pub fn passed() -> Value {
    json!([
        { "ruleName": "component-naming-convention", "status": "PASSED" },
        { "ruleName": "maximum-components", "status": "PASSED" },
    ])
}

/// Responds with these rule results for every requested pipeline.
pub fn each(review_status: &str, results: Value) -> impl Respond + use<> {
    let review_status = review_status.to_owned();
    move |request: &Request| {
        let files: serde_json::Map<String, Value> = asked(request)
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
