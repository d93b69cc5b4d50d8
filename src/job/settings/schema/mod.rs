//! The JSON Schema of `sluicegate.yaml`, with which editors complete and check the file.
//!
//! Keys and formats come from the table of settings, descriptions from the variables, values and defaults from the
//! flags, so that all three agree. A test compares the keys and their types with the structures that the file is read
//! into. The schema uses draft 7, because the YAML language servers of editors do not fully support later drafts.

use super::table::{SECTIONS, SettingSection};
use serde_json::{Map, Value, json};

/// The schemas of keys, in the order of the reference.
type Keys = Map<String, Value>;

/// Returns the schema.
pub fn schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "sluicegate.yaml",
        "description": "Settings of sluicegate for this repository. A flag overrides its variable, and a \
                        variable overrides this file. In CI, the file is read from the target branch of a \
                        change. It cannot set where secrets go, which programs run or which commit is reviewed.",
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": root(),
    })
}

/// Returns the keys of the top level, then the sections.
fn root() -> Keys {
    let mut root = Keys::new();
    for section in SECTIONS {
        match section.name {
            "" => root.extend(keys(section)),
            name => root.extend([(name.to_owned(), whole(section))]),
        }
    }
    root
}

/// Returns the schemas of a section's keys. A key has the description of its variable.
fn keys(section: &SettingSection) -> Keys {
    let here = section.settings.iter();
    let here = here.filter(|it| it.kind.is_in_file() && !it.key.is_empty());
    let described = here.map(|setting| {
        let mut value = setting.look.schema();
        let words = value["description"].as_str().unwrap_or_default();
        // In a variable, a list has one entry per line; in the file, it is a YAML list.
        let meaning = setting.meaning().replace(", one a line", "");
        value["description"] = format!("{meaning} {words}Environment variable: {}.", setting.variable).into();
        let name = setting.key.rsplit('.').next().unwrap_or_default();
        (name.to_owned(), value)
    });
    described.collect()
}

/// Returns the schema of a section, which may be null: YAML reads a section whose keys are all commented out as null.
fn whole(section: &SettingSection) -> Value {
    json!({
        "description": section.about.trim(),
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": keys(section),
    })
}

#[cfg(test)]
mod tests;
