//! A job: a checkout, the host's variables, and what the program makes of them.

use crate::program::{Call, Ended};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// What `feature` of a project changed since it left `main`.
pub const FEATURE: [&str; 2] = ["A first.orch.yaml", "A second.tran.yaml"];
/// Every pipeline of `feature`.
pub const ALL_OF_FEATURE: [&str; 3] = ["A first.orch.yaml", "A old.orch.yaml", "A second.tran.yaml"];
/// Every pipeline of `main`.
pub const ALL_OF_MAIN: [&str; 2] = ["A old.orch.yaml", "A other.orch.yaml"];

/// A checkout in a host's environment.
pub struct Job {
    pub folder: PathBuf,
    variables: Vec<(String, String)>,
}

impl Job {
    pub fn new(folder: &Path, variables: &[(&str, &str)]) -> Self {
        let job = Self {
            folder: folder.to_owned(),
            variables: Vec::new(),
        };
        job.with(variables)
    }

    /// The same job with these variables too; an empty value is what hosts set for "none".
    pub fn with(mut self, variables: &[(&str, &str)]) -> Self {
        let owned = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.variables.extend(owned);
        self
    }

    /// The same job with this event payload, in a file beside the checkout.
    pub fn payload(self, payload: &Value) -> Self {
        let file = self.folder.with_extension("event.json");
        fs::write(&file, payload.to_string()).unwrap();
        let path = file.display().to_string();
        self.with(&[("GITHUB_EVENT_PATH", &path)])
    }

    /// A call in this environment; `CI` is what every host sets.
    pub fn call(&self) -> Call {
        self.variables.iter().fold(
            Call::new(&self.folder).variable("CI", "true"),
            |call, (name, value)| call.variable(name, value),
        )
    }

    /// A call with all that a review needs; nothing listens at the platform.
    pub fn reviewing(&self) -> Call {
        self.call()
            .variable("SLUICEGATE_BASE_URL", "http://127.0.0.1:9")
            .variable("SLUICEGATE_PROJECT_ID", crate::program::PROJECT)
            .variable("SLUICEGATE_AGENT_VERSION", "9.0.0")
            .variable("SLUICEGATE_TOKEN", crate::program::TOKEN)
            .variable("SLUICEGATE_RETRIES", "0")
    }

    /// What `context --json` says.
    #[track_caller]
    pub fn says(&self) -> Said {
        let ended = self.call().run(&["context", "--json"]).expect(0);
        Said {
            json: ended.json(),
            ended,
        }
    }

    /// A review sends nothing of a fork, and says how it can be judged.
    #[track_caller]
    pub fn leaves_the_fork(&self) -> Ended {
        self.reviewing()
            .run(&["review"])
            .expect(7)
            .saying(&["fork", "sluicegate check"])
    }

    /// The end with exit 7, with these words in it.
    #[track_caller]
    pub fn unsettled(&self, words: &[&str]) -> Ended {
        self.call().run(&["context"]).expect(7).saying(words)
    }
}

/// What `context --json` said.
pub struct Said {
    pub json: Value,
    ended: Ended,
}

impl Said {
    /// Host and event.
    #[track_caller]
    pub fn event(self, host: &str, event: &str) -> Self {
        self.has("ci", host).has("event", event)
    }

    /// The branch and commit to review.
    #[track_caller]
    pub fn head(self, branch: &str, commit: &str) -> Self {
        self.has("branch", branch).has("head", commit)
    }

    /// The base, with where it came from in these words.
    #[track_caller]
    pub fn base(self, commit: &str, source: &str) -> Self {
        let said = self.has("base", commit);
        said.source(source);
        said
    }

    /// Every pipeline is taken, for this reason.
    #[track_caller]
    pub fn everything(self, why: &str) -> Self {
        let said = self.has("base", Value::Null);
        said.source(why);
        said
    }

    #[track_caller]
    fn source(&self, words: &str) {
        let source = self.json["baseSource"].as_str().unwrap();
        assert!(source.contains(words), "{words:?} is not in {source:?}");
    }

    /// Exactly these changes, such as `A a.orch.yaml` or `R old.orch.yaml -> new.orch.yaml`; all but deleted ones are
    /// selected.
    #[track_caller]
    pub fn changes(self, expected: &[&str]) -> Self {
        let entries = self.json["changed"].as_array().unwrap();
        let found: Vec<String> = entries.iter().map(short).collect();
        assert_eq!(found, expected, "{}", self.ended.all());
        let kept = entries.iter().filter(|entry| entry["change"] != "deleted");
        let kept: Vec<&Value> = kept.map(|entry| &entry["path"]).collect();
        assert_eq!(json!(kept), self.json["selected"], "{}", self.ended.all());
        self
    }

    /// A key with this value.
    #[track_caller]
    pub fn has(self, key: &str, value: impl Into<Value>) -> Self {
        assert_eq!(self.json[key], value.into(), "{key}: {}", self.ended.all());
        self
    }

    /// A warning with these words, and only one.
    #[track_caller]
    pub fn warns(self, words: &str) -> Self {
        let warnings = self.json["warnings"].as_array().unwrap();
        assert!(
            warnings.len() == 1 && warnings[0].as_str().unwrap().contains(words),
            "{warnings:?}"
        );
        assert!(self.ended.err.contains(words), "{}", self.ended.all());
        self
    }

    /// No warning.
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
