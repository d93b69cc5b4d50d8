//! The JSON Schema of the file of team rules, with which editors complete and check it.

use super::record_field::RuleSubject;
use serde_json::{Value, json};

/// Returns the JSON schema of the team rules file.
pub fn team_rules_schema() -> Value {
    let subjects: Vec<&str> = RuleSubject::ALL.iter().map(|subject| subject.name()).collect();
    let globs = json!({ "type": ["array", "string"], "items": { "type": "string", "minLength": 1 } });
    let example = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["path", "pipeline"],
        "properties": {
            "path": { "type": "string", "description": "The path that the pipeline would have." },
            "pipeline": { "type": "string", "description": "The pipeline, as YAML." },
            "project": {
                "type": ["array", "string"],
                "items": { "type": "string" },
                "description": "The paths of other pipelines of the project.",
            },
        },
    });
    let rule = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["id", "level", "for", "when", "message"],
        "properties": {
            "id": {
                "type": "string",
                "pattern": "^[a-z][a-z0-9-]*$",
                "description": "The name of the rule. Findings and waivers have the id `team/ID`.",
            },
            "level": { "enum": ["error", "warn", "off"], "description": "The level of the findings." },
            "for": { "enum": subjects, "description": "The part of a pipeline that the rule is about." },
            "paths": with_description(&globs, "Globs of the pipelines that the rule applies to; by default all."),
            "exclude": with_description(&globs, "Globs of the pipelines that the rule does not apply to."),
            "when": { "type": "string", "description": "A CEL expression. The value true means a finding." },
            "message": { "type": "string", "description": "The text of a finding, with expressions in braces." },
            "help": { "type": "string", "description": "How to fix a finding." },
            "examples": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "fails": { "type": "array", "items": example, "description": "Pipelines with a finding." },
                    "passes": { "type": "array", "items": example, "description": "Pipelines without a finding." },
                },
            },
        },
    });
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "sluicegate-rules.yaml",
        "description": "The team's rules for pipelines. In CI, the file is read from the target branch of a change.",
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": { "rules": { "type": "array", "items": rule } },
    })
}

fn with_description(schema: &Value, description: &str) -> Value {
    let mut schema = schema.clone();
    schema["description"] = description.into();
    schema
}
