//! A checkout, the host's variables, and the program's view of them.

use crate::support::{Call, ProgramOutput};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The changes of `feature` in a project since it branched off `main`.
pub const FEATURE: [&str; 2] = ["A first.orch.yaml", "A second.tran.yaml"];
/// Every pipeline of `feature`.
pub const ALL_OF_FEATURE: [&str; 3] = ["A first.orch.yaml", "A old.orch.yaml", "A second.tran.yaml"];
/// Every pipeline of `main`.
pub const ALL_OF_MAIN: [&str; 2] = ["A old.orch.yaml", "A other.orch.yaml"];

/// A checkout in a host's environment.
pub struct Checkout {
    pub folder: PathBuf,
    variables: Vec<(String, String)>,
}

impl Checkout {
    pub fn new(folder: &Path, variables: &[(&str, &str)]) -> Self {
        let job = Self {
            folder: folder.to_owned(),
            variables: Vec::new(),
        };
        job.with_variables(variables)
    }

    /// Adds variables to the job; hosts set an empty value for "none".
    pub fn with_variables(mut self, variables: &[(&str, &str)]) -> Self {
        let owned = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.variables.extend(owned);
        self
    }

    /// Names the checkout's remote as the target's repository, as if the job had cloned it under that name.
    pub fn with_remote_as_target(self) -> Self {
        let url = crate::support::git(&self.folder, "remote get-url origin");
        self.with_variables(&[("SLUICEGATE_TARGET_REPOSITORY", &url)])
    }

    /// Adds an event payload in a file next to the checkout.
    pub fn payload(self, payload: &Value) -> Self {
        let file = self.folder.with_extension("event.json");
        fs::write(&file, payload.to_string()).unwrap();
        let path = file.display().to_string();
        self.with_variables(&[("GITHUB_EVENT_PATH", &path)])
    }

    /// Returns a call in this environment; every host sets `CI`, a local run does not.
    pub fn call(&self) -> Call {
        let is_of_host = |(name, _): &(String, String)| !name.starts_with("SLUICEGATE_");
        let call = Call::new(&self.folder);
        let call = if self.variables.iter().any(is_of_host) {
            call.variable("CI", "true")
        } else {
            call
        };
        self.variables
            .iter()
            .fold(call, |call, (name, value)| call.variable(name, value))
    }

    /// Returns a call with all settings of a review; no server listens at the platform's address.
    pub fn review_call(&self) -> Call {
        self.call()
            .variable("SLUICEGATE_BASE_URL", "http://127.0.0.1:9")
            .variable("SLUICEGATE_PROJECT_ID", crate::support::PROJECT)
            .variable("SLUICEGATE_AGENT_VERSION", "9.0.0")
            .variable("SLUICEGATE_TOKEN", crate::support::TOKEN)
            .variable("SLUICEGATE_RETRIES", "0")
    }

    /// Returns the result of `context --json`.
    #[track_caller]
    pub fn says(&self) -> ContextReport {
        let output = self.call().run("context --json").expect(0);
        ContextReport {
            json: output.json(),
            output,
        }
    }

    /// Checks that a review sends no request for a fork and prints how to check it.
    #[track_caller]
    pub fn leaves_the_fork(&self) -> ProgramOutput {
        self.review_call()
            .run("review")
            .expect(7)
            .saying(&["fork", "sluicegate check"])
    }

    /// Checks that the run ends with exit code 7 and prints these texts.
    #[track_caller]
    pub fn expect_unsettled(&self, words: &[&str]) -> ProgramOutput {
        self.call().run("context").expect(7).saying(words)
    }
}

/// The output of `context --json`.
pub struct ContextReport {
    pub json: Value,
    output: ProgramOutput,
}

impl ContextReport {
    /// Checks host and event.
    #[track_caller]
    pub fn event(self, host: &str, event: &str) -> Self {
        self.has("ci", host).has("event", event)
    }

    /// Checks the branch and the commit to review.
    #[track_caller]
    pub fn head(self, branch: &str, commit: &str) -> Self {
        self.has("branch", branch).has("head", commit)
    }

    /// Checks the base, and that its source contains this text.
    #[track_caller]
    pub fn base(self, commit: &str, source: &str) -> Self {
        let text = self.has("base", commit);
        text.source(source);
        text
    }

    /// Checks that all pipelines are selected, for this reason.
    #[track_caller]
    pub fn selects_everything(self, reason: &str) -> Self {
        let text = self.has("base", Value::Null);
        text.source(reason);
        text
    }

    #[track_caller]
    fn source(&self, words: &str) {
        let source = self.json["baseSource"].as_str().unwrap();
        assert!(source.contains(words), "{words:?} is not in {source:?}");
    }

    /// Checks that these are the changes, such as `A a.orch.yaml` or `R old.orch.yaml -> new.orch.yaml`, and that all
    /// except deleted files are selected.
    #[track_caller]
    pub fn changes(self, expected: &[&str]) -> Self {
        let entries = self.json["changed"].as_array().unwrap();
        let matches: Vec<String> = entries.iter().map(short).collect();
        assert_eq!(matches, expected, "{}", self.output.all());
        let paths = entries.iter().filter(|entry| entry["change"] != "deleted");
        let paths: Vec<&Value> = paths.map(|entry| &entry["path"]).collect();
        assert_eq!(json!(paths), self.json["selected"], "{}", self.output.all());
        self
    }

    /// Checks the value of a key.
    #[track_caller]
    pub fn has(self, key: &str, value: impl Into<Value>) -> Self {
        assert_eq!(self.json[key], value.into(), "{key}: {}", self.output.all());
        self
    }

    /// Checks that there is exactly one warning, with this text.
    #[track_caller]
    pub fn warns(self, words: &str) -> Self {
        let warnings = self.json["warnings"].as_array().unwrap();
        assert!(
            warnings.len() == 1 && warnings[0].as_str().unwrap().contains(words),
            "{warnings:?}"
        );
        assert!(self.output.err.contains(words), "{}", self.output.all());
        self
    }

    /// Checks that there is no warning.
    #[track_caller]
    pub fn quietly(self) -> Self {
        self.has("warnings", json!([]))
    }
}

fn short(entry: &Value) -> String {
    let text = |key: &str| entry[key].as_str().unwrap();
    match text("change") {
        "added" => format!("A {}", text("path")),
        "modified" => format!("M {}", text("path")),
        "renamed" => format!("R {} -> {}", text("from"), text("path")),
        "deleted" => format!("D {}", text("path")),
        "type-changed" => format!("T {}", text("path")),
        other => panic!("{other} is no change"),
    }
}
