//! Defines the formats of setting values for the JSON schema: type, bounds, allowed values and default.

use crate::job::cli;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde_json::{Value, json};

/// The globs of pipeline files, which are the default of `--include`.
pub(super) const PIPELINE_GLOBS: [&str; 2] = ["**/*.orch.yaml", "**/*.tran.yaml"];

/// The names that the globs of a setting match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlobSubject {
    /// Paths in the repository.
    Paths,
    /// The targets of calls, which may omit the extension of the file.
    CallTargets,
    /// Branches and tags.
    Refs,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum SettingFormat {
    NotInFile,
    /// A string, with an example.
    Text(&'static str),
    /// A string, with its default.
    Name(&'static str),
    Integer {
        minimum: u64,
        maximum: u64,
        default: u64,
    },
    Seconds {
        minimum: f64,
        maximum: f64,
        default: f64,
    },
    Switch,
    /// Globs with their default, or `None` if the common globs are the default.
    Globs(GlobSubject, Option<&'static [&'static str]>),
    /// A list of names, with an example.
    Names(&'static str),
    /// A word that is a value of a flag, with the function that builds the JSON schema.
    Enumeration(fn() -> Value),
    Uuid,
    Reports,
    Show,
}

impl SettingFormat {
    /// Returns the JSON schema of a value in this format, with its bounds and its default.
    pub(super) fn json_schema(self) -> Value {
        match self {
            Self::NotInFile => json!({}),
            Self::Text(example) => json!({ "type": "string", "minLength": 1, "examples": [example] }),
            Self::Name(default) => json!({ "type": "string", "minLength": 1, "default": default }),
            Self::Integer {
                minimum,
                maximum,
                default,
            } => {
                json!({ "type": "integer", "minimum": minimum, "maximum": maximum, "default": default })
            }
            Self::Seconds {
                minimum,
                maximum,
                default,
            } => {
                json!({ "type": "number", "minimum": minimum, "maximum": maximum, "default": default })
            }
            Self::Switch => json!({ "type": "boolean", "default": false }),
            Self::Globs(_, None) => build_glob_list_schema(),
            Self::Globs(_, Some(default)) => {
                let mut list = build_glob_list_schema();
                list["default"] = default.into();
                list
            }
            Self::Names(example) => {
                json!({ "type": "array", "items": { "type": "string", "minLength": 1 }, "default": [],
                "examples": [[example]] })
            }
            Self::Enumeration(build_schema) => build_schema(),
            Self::Uuid => build_uuid_schema(),
            Self::Reports => build_report_list_schema(),
            Self::Show => {
                json!({ "type": ["integer", "string"], "minimum": 0, "pattern": "^(all|new|none|concise|[0-9]+)$",
                "default": cli::ShowMode::default().to_string(), "examples": ["all", 20] })
            }
        }
    }

    /// Returns the default as text to show to people, if the format has a default.
    pub(super) fn describe_default(self) -> Option<String> {
        match &self.json_schema()["default"] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            Value::Array(values) => {
                let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
                Some(texts.join(", "))
            }
            value => Some(value.to_string()),
        }
    }

    /// Returns the default as text, to compare it with a changed value of the setting. Returns `None` for formats whose
    /// values are not compared as text.
    pub(super) fn comparable_default(self) -> Option<String> {
        let has_text = matches!(self, Self::Enumeration(_) | Self::Switch | Self::Integer { .. });
        let default = &self.json_schema()["default"];
        let text = default
            .as_str()
            .map_or_else(|| default.to_string(), str::to_owned);
        has_text.then_some(text)
    }
}

impl SettingFormat {
    /// Returns the default globs of a list of globs, or no globs for other formats.
    pub(super) const fn default_globs(self) -> &'static [&'static str] {
        match self {
            Self::Globs(_, Some(default)) => default,
            _ => &[],
        }
    }
}

fn build_glob_list_schema() -> Value {
    json!({ "type": "array", "items": { "type": "string", "minLength": 1 } })
}

fn build_uuid_schema() -> Value {
    let hex = "[0-9a-fA-F]";
    let pattern = format!("^{hex}{{8}}-{hex}{{4}}-{hex}{{4}}-{hex}{{4}}-{hex}{{12}}$");
    json!({ "type": "string", "pattern": pattern })
}

/// Builds the schema of an enumeration from the values of its flag, their help texts and the default.
pub(super) fn build_enumeration_schema<T: ValueEnum + Default>() -> Value {
    let values: Vec<_> = T::value_variants()
        .iter()
        .filter_map(T::to_possible_value)
        .collect();
    let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    let descriptions = values.iter().map(|value| {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        format!(
            "`{}`: {} ",
            value.get_name(),
            help.trim_end_matches('.').to_owned() + "."
        )
    });
    let default = T::default()
        .to_possible_value()
        .map(|value| value.get_name().to_owned());
    json!({
        "type": "string",
        "enum": names,
        "default": default,
        "description": descriptions.collect::<String>(),
    })
}

/// Builds the schema of a list of reports, each in the form `format=path`.
fn build_report_list_schema() -> Value {
    let formats: Vec<String> = cli::Format::value_variants()
        .iter()
        .filter_map(ValueEnum::to_possible_value)
        .map(|format| format.get_name().to_owned())
        .collect();
    let pattern = format!("^({})=.+$", formats.join("|"));
    json!({
        "type": "array",
        "items": { "type": "string", "pattern": pattern },
        "default": [],
        "examples": [["junit=review.xml"]],
    })
}
