//! How a publish ended.

use super::Latest;
use crate::platform::http::HttpError;
use clap::ValueEnum;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// What ignored resources mean: an incomplete artifact, whose version may be disabled so that no consumer's \[Latest\]
/// meets it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OnIgnored {
    /// Exit 6.
    #[default]
    Fail,
    /// Exit 6, and the version is disabled.
    Disable,
    /// A warning.
    Warn,
}

/// What it means that the version exists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum IfExists {
    /// Exit 5.
    #[default]
    Fail,
    /// Exit 0 if it is provably the same content, else 5.
    SameContent,
}

/// How a publish is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What ignored resources mean.
    pub on_ignored: OnIgnored,
    /// What it means that the version exists.
    pub if_exists: IfExists,
    /// Whether the published version is looked up and compared.
    pub verify: bool,
    /// How long what may still appear is looked for: after a lost answer, and where the details lag behind.
    pub patience: Duration,
    /// Whether the content hashes are wanted, for a receipt or a digest; they cost time.
    pub hash: bool,
}

/// What became of the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeKind {
    /// It is published by this run.
    Published,
    /// It was there before, with the same content.
    AlreadyPublished,
    /// It was there before, and is not known to be the same.
    Conflict,
    /// It is published by this run and may lack something.
    Incomplete,
    /// It is not published by this run.
    Failed,
    /// No answer tells whether it is published.
    Unknown,
}

impl OutcomeKind {
    /// Whether this run has published something, as far as is known.
    pub const fn may_be_new(self) -> bool {
        matches!(self, Self::Published | Self::Incomplete | Self::Unknown)
    }

    /// As the receipt has it: what is not known to be published counts as failed there.
    pub const fn in_receipt(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::AlreadyPublished => "already-published",
            Self::Conflict => "conflict",
            Self::Incomplete => "incomplete",
            Self::Failed | Self::Unknown => "failed",
        }
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Unknown {
            "unknown"
        } else {
            self.in_receipt()
        })
    }
}

/// A publish, ended.
#[derive(Debug)]
pub struct Outcome {
    /// What became of the version.
    pub kind: OutcomeKind,
    /// The resources that the platform left out of the artifact, as it said it.
    pub ignored: Vec<Value>,
    /// Whether the version was looked up and is what was planned.
    pub verified: bool,
    /// Whether the version was disabled.
    pub disabled: bool,
    /// Whether the version was to be disabled and could not; the first of the problems says why.
    pub disable_failed: bool,
    /// What \[Latest\] means now, if the version was disabled.
    pub latest: Option<Latest>,
    /// What is wrong, a sentence each, the most important first. Holds text from outside.
    pub problems: Vec<String>,
    /// The call that failed, if one did.
    pub error: Option<HttpError>,
    /// The SHA-256 in hex of each file, in the order of the plan; none if not wanted or not to be had.
    pub hashes: Option<Vec<String>>,
}

impl Outcome {
    pub(super) fn new(kind: OutcomeKind) -> Self {
        Self {
            kind,
            ignored: Vec::new(),
            verified: false,
            disabled: false,
            disable_failed: false,
            latest: None,
            problems: Vec::new(),
            error: None,
            hashes: None,
        }
    }

    pub(super) fn with_problem(mut self, problem: impl Into<String>) -> Self {
        self.problems.push(problem.into());
        self
    }

    pub(super) fn with_error(mut self, error: HttpError) -> Self {
        self.error = Some(error);
        self
    }
}
