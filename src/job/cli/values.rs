//! The values of flags that have a fixed set, read the same way from a flag, a variable and the file. Where a room below
//! has the set, it is that room's own.

pub use crate::base::ui::ColorChoice;
pub use crate::model::findings::{FailOn, Show};
pub use crate::model::interface::Mode as Compat;
pub use crate::publish::{IfExists, OnIgnored, Select, Source};
pub use crate::report::Format;
use clap::ValueEnum;
use std::path::PathBuf;

/// What a platform that gives no usable answer means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OnUnavailable {
    /// Exit 3.
    #[default]
    Fail,
    /// Exit 0 with the verdict `undecided`.
    Pass,
}

/// The fields of a review request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ReviewRequestFields {
    /// `pipelines` lists the files (the API document)
    #[default]
    Pipelines,
    /// `filePaths` lists the files, and `dataWarehouseType` names the warehouse
    FilePaths,
}

/// What the change of a fork means, which the platform cannot read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Fork {
    /// Exit 7.
    #[default]
    Fail,
    /// It is checked on this machine instead.
    Check,
}

/// Whether a job runs the checks of the project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ProjectChecks {
    /// By the levels of the configuration file.
    #[default]
    Auto,
    /// Not at all.
    Off,
}

/// The level of a check of the project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum CheckLevel {
    Error,
    #[default]
    Warn,
    Off,
}

/// What a change that touches the gate itself and more means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum GateChanges {
    /// It is told in every report.
    #[default]
    Warn,
    /// Exit 1.
    Fail,
}

/// Which annotations to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Annotations {
    /// Those of the detected CI host.
    #[default]
    Auto,
    /// GitHub workflow commands.
    Github,
    /// Azure Pipelines logging commands.
    Azure,
    /// None.
    None,
}

/// Whose review a publish may rely on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum RequiredEngine {
    /// The platform's.
    #[default]
    Remote,
    /// Also one of this program (`sluicegate check`).
    Any,
}

/// Whether reports say what changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Changes {
    /// Where something was compared, and a report that tells it is written.
    #[default]
    Auto,
    /// Nowhere.
    None,
}

/// How a result is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Text for people
    #[default]
    Text,
    /// JSON for programs; a response of the platform is shown unchanged
    Json,
}

/// How a comparison of versions is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum NoteFormat {
    /// For people.
    #[default]
    Text,
    /// As data.
    Json,
    /// A release note.
    Markdown,
}

/// How events are exported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum EventFormat {
    /// One JSON document a line.
    #[default]
    Jsonl,
    /// Comma-separated values.
    Csv,
}

/// A report to write: `FORMAT=PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportFlag {
    /// The format.
    pub format: Format,
    /// Where to; none for standard output (`-`).
    pub path: Option<PathBuf>,
}

impl std::str::FromStr for ReportFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((format, path)) = text.split_once('=') else {
            return Err(format!(
                "{text:?} is not FORMAT=PATH, for example junit=review.xml"
            ));
        };
        if path.is_empty() {
            return Err(format!("{text:?} has no path; `-` is standard output"));
        }
        let path = (path != "-").then(|| PathBuf::from(path));
        Ok(Self {
            format: parse_value(format)?,
            path,
        })
    }
}

/// Reads one of a fixed set of words, without regard to case; the error lists them.
pub fn parse_value<T: ValueEnum>(text: &str) -> Result<T, String> {
    T::from_str(text.trim(), true).map_err(|_| {
        let known: Vec<String> = T::value_variants()
            .iter()
            .filter_map(T::to_possible_value)
            .map(|v| v.get_name().to_owned())
            .collect();
        format!("{text:?} is none of {}", known.join(", "))
    })
}

/// Reads a length of time in seconds: a finite number, not below zero.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok();
    number
        .filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
        .ok_or_else(|| format!("{text:?} is no number of seconds"))
}

/// Reads a switch as variables write it.
pub fn parse_bool(text: &str) -> Result<bool, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err(format!("{text:?} is neither true nor false")),
    }
}
