//! The JSON Schema of `sluicegate.yaml`, by which an editor completes and checks it.
//!
//! Keys are those of the table of settings, descriptions those of the variables, words and defaults those of the
//! flags, so that the three ways to set something tell the same. A test holds the keys and their types to those that
//! `file` reads. Draft 7, as the YAML language servers of editors read no later one completely.

use super::platform::{DEFAULT_RETRIES, DEFAULT_TIMEOUT, LONGEST_TIMEOUT, MOST_RETRIES};
use super::publish::{DEFAULT_LOOKUP, LONGEST_LOOKUP};
use super::remote::{DEFAULT_CANCEL_STATUS, DEFAULT_KEY_VAULT, DEFAULT_POLL, LONGEST_POLL, SHORTEST_POLL};
use super::review::{DEFAULT_BATCH, DEFAULT_CONCURRENCY, LARGEST_BATCH, MOST_CONCURRENCY};
use super::selection::PIPELINE_GLOBS;
use super::table::SETTINGS;
use crate::job::cli;
use crate::job::settings::variable;
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
                        In CI it is read as the branch has it that a change goes to. What decides where a secret goes, what \
                        runs or which commit is judged is never read from it.",
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": root(),
    })
}

/// The sections, in the order of the reference.
const SECTIONS: [(&str, &str); 4] = [
    (
        "vocabulary",
        "The product's own names behind the neutral tokens of the platform's API document.",
    ),
    ("review", "What is reviewed, what fails it, and where it is told."),
    ("publish", "What is published, and how."),
    (
        "publish-on",
        "On which branches and tags `sluicegate ci` publishes, after a review that passed.",
    ),
];

fn root() -> Keys {
    let mut root = keys("");
    root.extend(SECTIONS.map(|(name, description)| section(name, description, &keys(name))));
    root
}

/// The keys of a section, each with the look of its value; what it means is what the variable means.
fn keys(section: &str) -> Keys {
    let here = SETTINGS
        .iter()
        .filter(|it| it.kind.is_in_file() && !it.key.is_empty() && it.place().0 == section);
    let described = here.map(|setting| {
        let mut value = match setting.key {
            // Without it the common one holds.
            "review.include" | "review.exclude" | "publish.include" | "publish.exclude" => list_of_globs(),
            _ => look(setting.variable),
        };
        let words = value["description"].as_str().unwrap_or_default();
        // A variable holds a list in lines, which the file has no need of.
        let meaning = setting.meaning().replace(", one a line", "");
        value["description"] = format!("{meaning} {words}The variable is {}.", setting.variable).into();
        (setting.place().1.to_owned(), value)
    });
    described.collect()
}

/// What the value of a setting looks like in the file.
fn look(variable: &str) -> Value {
    match variable {
        variable::PROJECT_ID => project_id(),
        variable::AGENT_VERSION => text("9.0.0"),
        variable::CONFIG_DIR => text(".platform"),
        variable::TIMEOUT => whole(1, LONGEST_TIMEOUT, DEFAULT_TIMEOUT),
        variable::RETRIES => whole(0, MOST_RETRIES, DEFAULT_RETRIES),
        variable::INCLUDE => globs(&PIPELINE_GLOBS),
        variable::EXCLUDE | variable::PUBLISH_ON_BRANCHES | variable::PUBLISH_ON_TAGS => globs(&[]),
        variable::ENVIRONMENT => text("production"),
        variable::POLL_INTERVAL => poll_interval(),
        variable::CANCEL_STATUS => name(DEFAULT_CANCEL_STATUS),
        variable::WAREHOUSE_A => name("WAREHOUSE_A"),
        variable::WAREHOUSE_B => name("WAREHOUSE_B"),
        variable::GIT_PROVIDER => name("git_provider_a"),
        variable::KEY_VAULT => name(DEFAULT_KEY_VAULT),
        variable::FAIL_ON => words::<cli::FailOn>(),
        variable::ON_UNAVAILABLE => words::<cli::OnUnavailable>(),
        variable::FORK => words::<cli::Fork>(),
        variable::REPORT => reports(),
        variable::ANNOTATIONS => words::<cli::Annotations>(),
        variable::CHANGES => words::<cli::Changes>(),
        variable::COMMENT | variable::NEW_ONLY | variable::NO_VERIFY => switch(),
        variable::CATEGORY => text("nightly"),
        variable::SHOW => show(),
        variable::REVIEW_REQUEST => words::<cli::ReviewRequestFields>(),
        variable::DATA_WAREHOUSE => text("SNOWFLAKE"),
        variable::BATCH_SIZE => whole(1, LARGEST_BATCH, DEFAULT_BATCH),
        variable::CONCURRENCY => whole(1, MOST_CONCURRENCY, DEFAULT_CONCURRENCY),
        variable::PREFIX => text("sales"),
        variable::VERSION_NAME => text("auto"),
        variable::COMPAT => words::<cli::Compat>(),
        variable::SELECT => words::<cli::Select>(),
        variable::FROM => words::<cli::Source>(),
        variable::IF_EXISTS => words::<cli::IfExists>(),
        variable::ON_IGNORED => words::<cli::OnIgnored>(),
        variable::LOOKUP_TIMEOUT => whole(0, LONGEST_LOOKUP, DEFAULT_LOOKUP),
        variable::REQUIRE_REVIEW => text("review.json"),
        variable::RECEIPT => text("receipt.json"),
        variable::PUBLISH_JUNIT => text("publish.xml"),
        _ => json!({}),
    }
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

fn show() -> Value {
    json!({ "type": ["integer", "string"], "minimum": 0, "pattern": "^(all|new|none|[0-9]+)$",
        "default": cli::Show::default().to_string(), "examples": ["all", 20] })
}

fn whole<T: Into<Value>>(least: T, most: T, default: T) -> Value {
    json!({ "type": "integer", "minimum": least.into(), "maximum": most.into(), "default": default.into() })
}

fn list_of_globs() -> Value {
    json!({ "type": "array", "items": { "type": "string", "minLength": 1 } })
}

fn globs(default: &[&str]) -> Value {
    let mut list = list_of_globs();
    list["default"] = default.into();
    list
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
    let formats = cli::Format::value_variants()
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
