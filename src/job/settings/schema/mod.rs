//! The JSON Schema of `sluicegate.yaml`, by which an editor completes and checks it.
//!
//! Keys and looks are those of the table of settings, descriptions those of the variables, words and defaults those of the
//! flags, so that the three ways to set something tell the same. A test holds the keys and their types to those that
//! the file is read into. Draft 7, as the YAML language servers of editors read no later one completely.

use super::table::{SECTIONS, SettingSection};
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

/// The top of the file, and behind it the sections.
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

/// The keys of a section, each with the look of its value; what it means is what the variable means.
fn keys(section: &SettingSection) -> Keys {
    let here = section.settings.iter();
    let here = here.filter(|it| it.kind.is_in_file() && !it.key.is_empty());
    let described = here.map(|setting| {
        let mut value = setting.look.schema();
        let words = value["description"].as_str().unwrap_or_default();
        // A variable holds a list in lines, which the file has no need of.
        let meaning = setting.meaning().replace(", one a line", "");
        value["description"] = format!("{meaning} {words}The variable is {}.", setting.variable).into();
        let name = setting.key.rsplit('.').next().unwrap_or_default();
        (name.to_owned(), value)
    });
    described.collect()
}

/// A section whose keys are all commented out is null for YAML.
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
