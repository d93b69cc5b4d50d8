//! The formats of setting values in the file: type, bounds, allowed values and default, as the JSON schema states them.

use crate::job::cli;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde_json::{Value, json};

/// The globs of pipeline files, which are the default of `--include`.
pub(super) const PIPELINE_GLOBS: [&str; 2] = ["**/*.orch.yaml", "**/*.tran.yaml"];

#[derive(Debug, Clone, Copy)]
pub(super) enum Look {
    NotInFile,
    /// A string, with an example.
    Text(&'static str),
    /// A string, with its default.
    Name(&'static str),
    Whole {
        least: u64,
        most: u64,
        default: u64,
    },
    Seconds {
        least: f64,
        most: f64,
        default: f64,
    },
    Switch,
    /// Globs with their default, or `None` if the common globs are the default.
    Globs(Option<&'static [&'static str]>),
    /// The values of a flag.
    Words(fn() -> Value),
    Uuid,
    Reports,
    Show,
}

impl Look {
    pub(super) fn schema(self) -> Value {
        match self {
            Self::NotInFile => json!({}),
            Self::Text(example) => json!({ "type": "string", "minLength": 1, "examples": [example] }),
            Self::Name(default) => json!({ "type": "string", "minLength": 1, "default": default }),
            Self::Whole { least, most, default } => {
                json!({ "type": "integer", "minimum": least, "maximum": most, "default": default })
            }
            Self::Seconds { least, most, default } => {
                json!({ "type": "number", "minimum": least, "maximum": most, "default": default })
            }
            Self::Switch => json!({ "type": "boolean", "default": false }),
            Self::Globs(None) => list_of_globs(),
            Self::Globs(Some(default)) => {
                let mut list = list_of_globs();
                list["default"] = default.into();
                list
            }
            Self::Words(words) => words(),
            Self::Uuid => uuid(),
            Self::Reports => reports(),
            Self::Show => {
                json!({ "type": ["integer", "string"], "minimum": 0, "pattern": "^(all|new|none|concise|[0-9]+)$",
                "default": cli::Show::default().to_string(), "examples": ["all", 20] })
            }
        }
    }

    /// Returns the default value, or `None` if the format is not an enumeration, a boolean or a number.
    pub(super) fn default_word(self) -> Option<String> {
        let is_word = matches!(self, Self::Words(_) | Self::Switch | Self::Whole { .. });
        let default = &self.schema()["default"];
        let word = default
            .as_str()
            .map_or_else(|| default.to_string(), str::to_owned);
        is_word.then_some(word)
    }
}

impl Look {
    pub(super) const fn default_globs(self) -> &'static [&'static str] {
        match self {
            Self::Globs(Some(default)) => default,
            _ => &[],
        }
    }
}

fn list_of_globs() -> Value {
    json!({ "type": "array", "items": { "type": "string", "minLength": 1 } })
}

fn uuid() -> Value {
    let hex = "[0-9a-fA-F]";
    let pattern = format!("^{hex}{{8}}-{hex}{{4}}-{hex}{{4}}-{hex}{{4}}-{hex}{{12}}$");
    json!({ "type": "string", "pattern": pattern })
}

/// Returns the schema of a flag's values, with their descriptions and the default.
pub(super) fn words<T: ValueEnum + Default>() -> Value {
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
