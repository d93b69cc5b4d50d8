//! The values of flags with a fixed set of values. A flag, an environment variable and the configuration file accept
//! the same values. If a lower module defines the set, this module exports that type.

pub use crate::publish::{FileSelection, FileSource, IfExists, OnIgnored, OnSmokeFailure};
pub use crate::ui::ColorChoice;
use clap::ValueEnum;
use clap::builder::{PathBufValueParser, TypedValueParser};
use sluicegate_base::text;
use sluicegate_base::unexpanded_value::UnexpandedValue;
pub use sluicegate_pipelines::findings::{FailOn, ShowMode};
pub use sluicegate_pipelines::interface::CompatMode;
pub use sluicegate_reports::Format;
use std::path::{Path, PathBuf};

/// Parses `NAME=VALUE`, split at the first `=`. The name must not be blank; the value may be empty.
pub(super) fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected a name, `=` and a value".to_owned()),
    }
}

/// Parses a name, an ID or another short text that must not be blank: such a text is usually an unset variable of a
/// job.
pub(super) fn parse_name(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("the value is empty".to_owned());
    }
    Ok(text.to_owned())
}

/// Parses a name that the platform keeps, like [`parse_name`]. Rejects a variable that was not replaced with its value,
/// because the platform deletes no such name.
pub(super) fn parse_new_name(text: &str) -> Result<String, String> {
    let name = parse_name(text)?;
    match UnexpandedValue::find(name.trim()) {
        Some(unexpanded_value) => Err(format!("the value {}", unexpanded_value.describe())),
        None => Ok(name),
    }
}

/// Parses a value of the platform, like [`parse_name`]. A value that differs from one of `known_values` only in its
/// letter case becomes that value; the platform may have others.
pub(super) fn parse_platform_value(text: &str, known_values: &[&str]) -> Result<String, String> {
    let name = parse_name(text)?;
    let known_value = known_values
        .iter()
        .find(|known_value| known_value.eq_ignore_ascii_case(name.trim()));
    Ok(known_value.map_or(name, |known_value| (*known_value).to_owned()))
}

/// What to do if the platform gives no usable response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OnUnavailable {
    /// Fail with exit code 3 (undecided).
    #[default]
    Fail,
    /// Exit with code 0 if the platform does not respond to any request and no finding of a local check fails the gate;
    /// the verdict is `undecided`
    Pass,
}

/// The fields that list the files in a review request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ReviewRequestFields {
    /// The files are in the field `pipelines`, as in the API document
    #[default]
    Pipelines,
    /// The files are in the field `filePaths`, and the data warehouse type is in `dataWarehouseType`
    FilePaths,
}

/// How to review a change from a fork, which the platform cannot read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Fork {
    /// Fail with exit code 7.
    #[default]
    Fail,
    /// Check the pipelines locally instead.
    Check,
}

/// Whether to run the project checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ProjectCheckMode {
    /// Run the project checks at the levels set in the configuration file.
    #[default]
    Auto,
    /// Do not run the project checks.
    Off,
}

/// How findings of a project check are reported: as errors, as warnings, or not at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum CheckLevel {
    /// Report findings of the check as errors.
    Error,
    /// Report findings of the check as warnings.
    #[default]
    Warn,
    /// Skip the check.
    Off,
}

/// How to treat a change that edits the gate configuration together with other files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum GateChanges {
    /// Report the edit; the verdict does not change.
    #[default]
    Warn,
    /// Fail with exit code 1.
    Fail,
}

/// The style of annotations to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Annotations {
    /// Annotations for the detected CI host.
    #[default]
    Auto,
    /// GitHub workflow commands.
    Github,
    /// Azure Pipelines logging commands.
    Azure,
    /// No annotations.
    None,
}

/// The source of the review that a publish requires.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum RequiredEngine {
    /// Accept only a review by the platform.
    #[default]
    Remote,
    /// Accept a local check (`sluicegate check`) too.
    Any,
}

/// Whether reports list the changes in pipelines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Changes {
    /// List the changes if the run compares with a base and writes a report that shows changes.
    #[default]
    Auto,
    /// Do not list the changes.
    None,
}

/// Output format of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Human-readable text
    #[default]
    Text,
    /// JSON; a response from the platform is printed unchanged, and the pages of a list as one list
    Json,
}

/// Output format of a comparison of versions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum NoteFormat {
    /// Human-readable text.
    #[default]
    Text,
    /// JSON document.
    Json,
    /// Markdown for a release note.
    Markdown,
}

/// Output format of exported events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum EventFormat {
    /// One JSON document per line.
    #[default]
    Jsonl,
    /// Comma-separated values.
    Csv,
}

/// A report to write: `FORMAT=PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportFlag {
    pub format: Format,
    /// The file to write, or `None` for standard output (`-`).
    pub path: Option<PathBuf>,
}

impl std::str::FromStr for ReportFlag {
    type Err = String;

    /// Parses `FORMAT=PATH`, where the path `-` means standard output. The error states which part is missing or
    /// invalid.
    fn from_str(text: &str) -> Result<Self, String> {
        let Some((format, path)) = text.split_once('=') else {
            return Err(format!(
                "{text:?} is not FORMAT=PATH, for example junit=review.xml"
            ));
        };
        if path.is_empty() {
            return Err(format!("{text:?} has no path; use `-` for standard output"));
        }
        if let Some(unexpanded_value) = UnexpandedValue::find(path.trim()) {
            return Err(format!("the path {}", unexpanded_value.describe()));
        }
        let path = (path != "-").then(|| PathBuf::from(path));
        Ok(Self {
            format: parse_value(format)?,
            path,
        })
    }
}

/// Returns a parser for the path of an output file. It refuses `-`, which means standard output in other programs and
/// would otherwise create a file with this name.
pub(super) fn output_path_parser() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match describe_invalid_path(&path) {
        Some(reason) => Err(reason),
        None => Ok(path),
    })
}

/// Returns why this is not the path of a file; `None` for a path.
pub fn describe_invalid_path(path: &Path) -> Option<String> {
    let is_dash = path.as_os_str() == "-";
    is_dash.then(|| "pass the path of a file: `-` does not mean standard output here".to_owned())
}

/// Parses one of a fixed set of values, ignoring case and surrounding spaces. The error lists the valid values.
pub fn parse_value<T: ValueEnum>(text: &str) -> Result<T, String> {
    T::from_str(text.trim(), true).map_err(|_| {
        let valid_names: Vec<String> = T::value_variants()
            .iter()
            .filter_map(T::to_possible_value)
            .map(|v| v.get_name().to_owned())
            .collect();
        // A longer form, such as `warning` for `warn`, is not a typo.
        let known_names: Vec<&str> = valid_names.iter().map(String::as_str).collect();
        let similar_name = text::find_nearest_word(text.trim(), &known_names)
            .or_else(|| known_names.into_iter().find(|name| text.trim().starts_with(name)));
        let suggestion = text::suggestion_after_colon(similar_name);
        format!("{text:?} is not one of {}{suggestion}", valid_names.join(", "))
    })
}

/// Parses a duration in seconds: a finite number that is not negative.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok();
    number
        .filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
        .ok_or_else(|| format!("{text:?} is not a number of seconds"))
}

/// Parses a boolean in one of the forms that are usual in environment variables: true, 1, yes or on; false, 0, no or
/// off.
pub fn parse_bool(text: &str) -> Result<bool, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err(format!("{text:?} is neither true nor false")),
    }
}
