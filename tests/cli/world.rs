//! What most tests begin with: a project in git, and a platform that answers as it is told.

use crate::program::Call;
use crate::repo::World;
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

/// An orchestration with these components, in a row; the last one ends it.
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

/// A repository whose `main` has one pipeline and the rules; nothing else.
pub fn project() -> World {
    let world = World::new();
    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    world.write("a.orch.yaml", pipeline(&["Start", "Done"]));
    world.commit("first");
    world.push();
    world.git(&["remote", "set-head", "origin", "main"]);
    world
}

/// The same, with a pushed branch `change` checked out that adds these files.
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

/// A platform that answers as it is told.
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

    /// Answers each review by `respond`.
    pub fn reviews(&self, respond: impl Respond + 'static) {
        self.on("POST", "/reviews$", respond);
    }

    /// Answers requests of this method to paths that match.
    pub fn on(&self, verb: &str, path: &str, respond: impl Respond + 'static) {
        let mock = Mock::given(method(verb))
            .and(path_regex(path))
            .respond_with(respond);
        self.runtime.block_on(mock.mount(&self.server));
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.runtime.block_on(self.server.received_requests()).unwrap()
    }

    /// A call of the program against this platform, without waits between tries being long.
    pub fn call(&self, world: &World) -> Call {
        Call::with_platform(&world.work(), &self.server.uri())
            .variable("SLUICEGATE_RETRIES", "0")
            .variable("SLUICEGATE_LOOKUP_TIMEOUT", "0")
    }
}

/// The pipelines that a review asks for.
pub fn asked(request: &Request) -> Vec<String> {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    body["pipelines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| path.as_str().unwrap().to_owned())
        .collect()
}

/// A result of each rule of [`RULES`], all passed.
pub fn passed() -> Value {
    json!([
        { "ruleName": "component-naming-convention", "status": "PASSED" },
        { "ruleName": "maximum-components", "status": "PASSED" },
    ])
}

/// Answers every asked pipeline with these rule results.
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

/// A 200 with this JSON.
pub fn answer(body: &Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

/// Gives the answers in turn, the last one again and again.
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
