//! The JSON Schema of `sluicegate.yaml`, by which an editor completes and checks it.
//!
//! Descriptions are those of the variables, words and defaults those of the flags, so that the three ways to set
//! something tell the same. A test holds the keys and their types to those that `file` reads. Draft 7, as the YAML
//! language servers of editors read no later one completely.

use super::platform::{DEFAULT_RETRIES, DEFAULT_TIMEOUT, LONGEST_TIMEOUT, MOST_RETRIES};
use super::publish::{DEFAULT_LOOKUP, LONGEST_LOOKUP};
use super::remote::{DEFAULT_CANCEL_STATUS, DEFAULT_KEY_VAULT, DEFAULT_POLL, LONGEST_POLL, SHORTEST_POLL};
use super::review::{DEFAULT_BATCH, DEFAULT_CONCURRENCY, LARGEST_BATCH, MOST_CONCURRENCY};
use super::selection::PIPELINE_GLOBS;
use crate::ci::Host;
use crate::cli;
use crate::env::{self, VARIABLES};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde_json::{Map, Value, json};

/// Keys with what each is, in the order of the reference.
type Keys = Map<String, Value>;

/// The schema.
pub fn schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "sluicegate.yaml",
        "description": "What sluicegate does in this repository. A flag wins over its variable, and that over this file. \
                        What decides where a secret goes is never read from it: base URL, tokens, certificates, proxies.",
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": root(),
    })
}

fn root() -> Keys {
    let hosts = Host::ALL.iter().map(|host| host.name());
    let hosts: Vec<&str> = std::iter::once("auto").chain(hosts).collect();
    let mut keys = keys([
        ("project-id", env::PROJECT_ID, project_id()),
        ("agent-version", env::AGENT_VERSION, text("9.0.0")),
        ("config-dir", env::CONFIG_DIR, text(".platform")),
        (
            "timeout",
            env::TIMEOUT,
            whole(1, LONGEST_TIMEOUT, DEFAULT_TIMEOUT),
        ),
        ("retries", env::RETRIES, whole(0, MOST_RETRIES, DEFAULT_RETRIES)),
        (
            "ci",
            env::CI,
            json!({ "type": "string", "enum": hosts, "default": "auto" }),
        ),
        ("include", env::INCLUDE, globs(&PIPELINE_GLOBS)),
        ("exclude", env::EXCLUDE, globs(&[])),
        ("environment", env::ENVIRONMENT, text("production")),
        ("poll-interval", env::POLL_INTERVAL, poll_interval()),
        ("cancel-status", env::CANCEL_STATUS, name(DEFAULT_CANCEL_STATUS)),
    ]);
    let on = "On which branches and tags `sluicegate ci` publishes, after a review that passed.";
    let names = "The product's own names behind the neutral tokens of the platform's API document.";
    keys.extend([
        section("vocabulary", names, &vocabulary()),
        section(
            "review",
            "What is reviewed, what fails it, and where it is told.",
            &review(),
        ),
        section("publish", "What is published, and how.", &publish()),
        section("publish-on", on, &publish_on()),
    ]);
    keys
}

fn vocabulary() -> Keys {
    keys([
        ("WAREHOUSE_A", env::WAREHOUSE_A, name("WAREHOUSE_A")),
        ("WAREHOUSE_B", env::WAREHOUSE_B, name("WAREHOUSE_B")),
        ("git_provider_a", env::GIT_PROVIDER, name("git_provider_a")),
        ("CLOUD_A_KEY_VAULT", env::KEY_VAULT, name(DEFAULT_KEY_VAULT)),
    ])
}

fn review() -> Keys {
    keys([
        ("all", env::ALL, switch()),
        ("base", env::BASE, text("origin/main")),
        ("head", env::HEAD, text("HEAD")),
        ("branch", env::BRANCH, text("main")),
        ("fail-on", env::FAIL_ON, words::<cli::FailOn>()),
        (
            "on-unavailable",
            env::ON_UNAVAILABLE,
            words::<cli::OnUnavailable>(),
        ),
        ("fork", env::FORK, words::<cli::Fork>()),
        ("report", env::REPORT, reports()),
        ("annotations", env::ANNOTATIONS, words::<cli::Annotations>()),
        ("comment", env::COMMENT, switch()),
        ("category", env::CATEGORY, text("nightly")),
        (
            "batch-size",
            env::BATCH_SIZE,
            whole(1, LARGEST_BATCH, DEFAULT_BATCH),
        ),
        (
            "concurrency",
            env::CONCURRENCY,
            whole(1, MOST_CONCURRENCY, DEFAULT_CONCURRENCY),
        ),
        ("dry-run", env::DRY_RUN, switch()),
    ])
}

fn publish() -> Keys {
    keys([
        ("prefix", env::PREFIX, text("sales")),
        ("version-name", env::VERSION_NAME, text("auto")),
        ("select", env::SELECT, words::<cli::Select>()),
        ("from", env::FROM, words::<cli::PublishFrom>()),
        ("if-exists", env::IF_EXISTS, words::<cli::IfExists>()),
        ("on-ignored", env::ON_IGNORED, words::<cli::OnIgnored>()),
        ("no-verify", env::NO_VERIFY, switch()),
        (
            "lookup-timeout",
            env::LOOKUP_TIMEOUT,
            whole(0, LONGEST_LOOKUP, DEFAULT_LOOKUP),
        ),
        ("dry-run", env::DRY_RUN, switch()),
        ("require-review", env::REQUIRE_REVIEW, text("review.json")),
        ("receipt", env::RECEIPT, text("receipt.json")),
    ])
}

fn publish_on() -> Keys {
    keys([
        ("branches", env::PUBLISH_ON_BRANCHES, globs(&[])),
        ("tags", env::PUBLISH_ON_TAGS, globs(&[])),
    ])
}

/// Each key with its variable and the look of its value; what it means is what the variable means.
fn keys<const N: usize>(keys: [(&str, &str, Value); N]) -> Keys {
    let described = keys.into_iter().map(|(name, variable, mut value)| {
        let words = value["description"].as_str().unwrap_or_default();
        value["description"] = format!("{} {words}The variable is {variable}.", meaning(variable)).into();
        (name.to_owned(), value)
    });
    described.collect()
}

/// A variable holds a list in lines, which the file has no need of.
fn meaning(variable: &str) -> String {
    let found = VARIABLES.iter().find(|(name, _)| *name == variable);
    let meaning = found.map_or("", |(_, meaning)| meaning.trim());
    meaning.replace(", one a line", "")
}

/// A section whose keys are all commented out is null for YAML.
fn section(name: &str, description: &str, keys: &Keys) -> (String, Value) {
    let section = json!({
        "description": description,
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": keys,
    });
    (name.to_owned(), section)
}

fn text(example: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "examples": [example] })
}

/// A text that stands for itself where nothing is set.
fn name(default: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "default": default })
}

fn poll_interval() -> Value {
    json!({ "type": "number", "minimum": SHORTEST_POLL, "maximum": LONGEST_POLL, "default": DEFAULT_POLL })
}

fn project_id() -> Value {
    let hex = "[0-9a-fA-F]";
    let pattern = format!("^{hex}{{8}}-{hex}{{4}}-{hex}{{4}}-{hex}{{4}}-{hex}{{12}}$");
    json!({ "type": "string", "pattern": pattern })
}

fn switch() -> Value {
    json!({ "type": "boolean", "default": false })
}

fn whole<T: Into<Value>>(least: T, most: T, default: T) -> Value {
    json!({ "type": "integer", "minimum": least.into(), "maximum": most.into(), "default": default.into() })
}

fn globs(default: &[&str]) -> Value {
    json!({ "type": "array", "items": { "type": "string", "minLength": 1 }, "default": default })
}

/// The words of a flag, each with what it means, and the one that holds where none is given.
fn words<T: ValueEnum + Default>() -> Value {
    let told = |value: &T| value.to_possible_value();
    let values: Vec<_> = T::value_variants().iter().filter_map(told).collect();
    let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    let meanings = values.iter().map(|value| {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        format!(
            "`{}`: {} ",
            value.get_name(),
            help.trim_end_matches('.').to_owned() + "."
        )
    });
    let default = told(&T::default()).map(|value| value.get_name().to_owned());
    json!({
        "type": "string",
        "enum": names,
        "default": default,
        "description": meanings.collect::<String>(),
    })
}

fn reports() -> Value {
    let formats = cli::ReportFormat::value_variants()
        .iter()
        .filter_map(ValueEnum::to_possible_value);
    let formats: Vec<String> = formats.map(|format| format.get_name().to_owned()).collect();
    let pattern = format!("^({})=.+$", formats.join("|"));
    json!({
        "type": "array",
        "items": { "type": "string", "pattern": pattern },
        "default": [],
        "examples": [["junit=review.xml"]],
    })
}

#[cfg(test)]
mod tests;
