//! The JSON Schema of `sluicegate.yaml`, with which editors complete and check the file.
//!
//! Keys and formats come from the table of settings, descriptions from the variables, values and defaults from the
//! flags, so that all three agree. A test compares the keys and their types with the structures that the file is read
//! into. The schema uses draft 7, because the YAML language servers of editors do not fully support later drafts.

use super::setting::SettingSection;
use super::setting_table::SECTIONS;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The schemas of keys, in the order of the reference.
type KeySchemas = Map<String, Value>;

/// Returns the JSON schema of the configuration file, for editors.
pub fn json_schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "sluicegate.yaml",
        "description": "Settings of sluicegate for this repository. A flag overrides its variable, and a \
                        variable overrides this file. In CI, the file is read from the target branch of a \
                        change. It cannot set where secrets go, which programs run or which commit is reviewed.",
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": build_top_level_schemas(),
    })
}

/// Returns the schemas of the keys at the top level and of the sections.
fn build_top_level_schemas() -> KeySchemas {
    let mut root = KeySchemas::new();
    for section in SECTIONS {
        match section.name {
            "" => root.extend(build_key_schemas(section)),
            name => root.extend([(name.to_owned(), build_section_schema(section))]),
        }
    }
    root
}

/// Returns the schemas of a section's keys, except those that only the job may set. The description of a key joins the
/// descriptions of the setting and of its format, and names the environment variable.
fn build_key_schemas(section: &SettingSection) -> KeySchemas {
    let mut schemas = KeySchemas::new();
    for setting in section.settings {
        if !setting.kind.is_in_file() || setting.key.is_empty() {
            continue;
        }
        let mut value = setting.format.json_schema();
        let format_description = value["description"].as_str().unwrap_or_default();
        // In a variable, a list has one entry per line; in the file, it is a YAML list.
        let description = setting
            .description()
            .replace(" or separated by blanks", "")
            .replace(", one per line", "");
        let mut description = format!("{description} {format_description}");
        if !setting.variable.is_empty() {
            let _ = write!(description, "Environment variable: {}.", setting.variable);
        }
        value["description"] = description.trim_end().into();
        let name = setting.key.rsplit('.').next().unwrap_or_default();
        schemas.insert(name.to_owned(), value);
    }
    schemas
}

/// Returns the schema of a section, which may be null: YAML reads a section whose keys are all commented out as null.
fn build_section_schema(section: &SettingSection) -> Value {
    json!({
        "description": section.description.trim(),
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": build_key_schemas(section),
    })
}

#[cfg(test)]
mod tests;
