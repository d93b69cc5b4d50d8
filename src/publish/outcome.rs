//! The outcome of a publish.

use super::{LatestVersion, PublishError, ReceiptOutcome, VersionDifference};
use clap::ValueEnum;
use serde_json::Value;
use sluicegate_platform::http::HttpError;
use std::fmt;
use std::time::Duration;

/// How to treat ignored resources. They make an artifact incomplete, so its version may be disabled before consumers of
/// \[Latest\] get it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OnIgnored {
    /// Fail with exit code 6.
    #[default]
    Fail,
    /// Disable the version and fail with exit code 6.
    Disable,
    /// Print a warning.
    Warn,
}

/// What to do if the version already exists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum IfExists {
    /// Fail with exit code 5.
    #[default]
    Fail,
    /// Succeed if the content is verifiably the same; otherwise fail with exit code 5.
    SameContent,
}

/// The action for a version if one of its smoke runs does not succeed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OnSmokeFailure {
    /// Disable the version, so that consumers of the latest version get the previous one.
    #[default]
    Disable,
    /// Leave the version enabled; the exit code is the same as for `disable`.
    Keep,
}

/// Settings for the outcome of a publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublishOptions {
    pub on_ignored: OnIgnored,
    pub if_exists: IfExists,
    /// Whether to look up the published version and compare it.
    pub verify: bool,
    /// Maximum time of waiting for a version to appear: after a lost response, and if the details lag behind.
    pub lookup_timeout: Duration,
    /// True if content hashes are computed for a receipt or a digest, which takes time.
    pub needs_hashes: bool,
    /// Maximum number of further uploads after one whose response was lost, up to a limit.
    pub retries: u32,
}

/// The state of the version after a publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeKind {
    /// This run published the version.
    Published,
    /// The version existed before, with the same content.
    AlreadyPublished,
    /// The version existed before, and its content is not proved to be the same.
    Conflict,
    /// This run published the version, and it lacks files or differs from the plan.
    Incomplete,
    /// This run published the version, and no response shows whether it is complete.
    Unverified,
    /// This run published the version, and a version of a newer commit appeared meanwhile.
    Superseded,
    /// This run published the version, and no response shows whether a version of a newer commit appeared meanwhile.
    Unconfirmed,
    /// This run did not publish the version.
    Failed,
    /// No response shows whether the version is published.
    Unknown,
}

impl OutcomeKind {
    /// Returns whether this run may have published the version.
    pub const fn may_have_published(self) -> bool {
        !matches!(self, Self::AlreadyPublished | Self::Conflict | Self::Failed)
    }

    /// Returns the outcome for a receipt, which has fewer outcomes: for example, an unknown one is `failed` there.
    pub const fn receipt_outcome(self) -> ReceiptOutcome {
        match self {
            Self::Published => ReceiptOutcome::Published,
            Self::AlreadyPublished => ReceiptOutcome::AlreadyPublished,
            Self::Conflict | Self::Superseded => ReceiptOutcome::Conflict,
            Self::Incomplete | Self::Unverified | Self::Unconfirmed => ReceiptOutcome::Incomplete,
            Self::Failed | Self::Unknown => ReceiptOutcome::Failed,
        }
    }
}

impl fmt::Display for OutcomeKind {
    /// Writes the word for messages, which is more exact than that in the receipt.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("unknown"),
            Self::Superseded => f.write_str("superseded"),
            Self::Unconfirmed => f.write_str("unconfirmed"),
            Self::Unverified => f.write_str("unverified"),
            kind => kind.receipt_outcome().fmt(f),
        }
    }
}

/// The withdrawal of the version from consumers by this run; of several attempts, the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Withdrawal {
    NotRequested,
    /// The version is disabled; contains the version that \[Latest\] means now.
    Disabled(LatestVersion),
    /// The version may still be enabled; contains a sentence with the reason.
    Failed(String),
}

/// A problem of a publish. Its text is a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishProblem {
    /// The version already exists; contains the sentence that says so.
    VersionExists(String),
    /// The platform does not list the uploaded version.
    NotListed,
    /// The platform lists the version, but this run may not have published it; contains the sentence that says so.
    UnclearOrigin(String),
    /// The published version differs from the plan.
    Difference(VersionDifference),
    Other(String),
}

impl fmt::Display for PublishProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VersionExists(sentence) | Self::UnclearOrigin(sentence) | Self::Other(sentence) => {
                f.write_str(sentence)
            }
            Self::NotListed => {
                f.write_str("the version could not be looked up: the platform does not list the version")
            }
            Self::Difference(difference) => difference.fmt(f),
        }
    }
}

impl From<VersionDifference> for PublishProblem {
    fn from(difference: VersionDifference) -> Self {
        Self::Difference(difference)
    }
}

impl From<String> for PublishProblem {
    fn from(sentence: String) -> Self {
        Self::Other(sentence)
    }
}

impl From<&str> for PublishProblem {
    fn from(sentence: &str) -> Self {
        Self::Other(sentence.to_owned())
    }
}

/// The result of a publish.
#[derive(Debug)]
pub struct Outcome {
    pub kind: OutcomeKind,
    /// True if an earlier run published the version with the same content.
    pub is_earlier_version: bool,
    /// The branch of the existing version, if the version was looked up and the platform reports its branch.
    pub existing_branch: Option<String>,
    /// The resources that the platform omitted from the artifact, as raw JSON.
    pub ignored_resources: Vec<Value>,
    /// Whether the version was looked up and matches the plan.
    pub verified: bool,
    pub withdrawal: Withdrawal,
    /// The problems, the most important first. Their texts contain text from outside.
    pub problems: Vec<PublishProblem>,
    /// The error of the failed call, if there is one.
    pub error: Option<HttpError>,
    /// The SHA-256 in hex of each file, in the order of the plan; `None` if not requested or not available.
    pub hashes: Option<Vec<String>>,
    /// Why the requested hashes are not available.
    pub hash_error: Option<PublishError>,
}

impl Outcome {
    /// Creates an outcome of this kind without any details.
    pub(crate) fn new(kind: OutcomeKind) -> Self {
        Self {
            kind,
            is_earlier_version: false,
            existing_branch: None,
            ignored_resources: Vec::new(),
            verified: false,
            withdrawal: Withdrawal::NotRequested,
            problems: Vec::new(),
            error: None,
            hashes: None,
            hash_error: None,
        }
    }

    /// Returns whether this run disabled the version.
    pub const fn is_disabled(&self) -> bool {
        matches!(self.withdrawal, Withdrawal::Disabled(_))
    }

    /// Returns whether the published version was compared with the plan and differs from it.
    pub fn has_differences(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| matches!(problem, PublishProblem::Difference(_)))
    }

    /// Returns whether the platform lists the version, but another run may have published it.
    pub fn has_unclear_origin(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| matches!(problem, PublishProblem::UnclearOrigin(_)))
    }

    /// Returns whether no response shows that the version exists: the outcome is unknown, or only the status of a
    /// response that could not be read says that the version was published. A proxy may have sent it.
    pub fn has_unknown_version(&self) -> bool {
        self.kind == OutcomeKind::Unknown || self.find_unread_response_error().is_some()
    }

    /// Returns the error of a response that could not be read, if the platform does not list the version.
    pub fn find_unread_response_error(&self) -> Option<&HttpError> {
        let is_unlisted =
            self.kind == OutcomeKind::Unverified && self.problems.contains(&PublishProblem::NotListed);
        self.error.as_ref().filter(|_| is_unlisted)
    }

    /// Returns the sentences of the problems, and before them that the version could not be disabled, because consumers
    /// may use it.
    pub fn list_sentences(&self) -> Vec<String> {
        let withdrawal_problem = match &self.withdrawal {
            Withdrawal::Failed(problem) => Some(problem.clone()),
            Withdrawal::NotRequested | Withdrawal::Disabled(_) => None,
        };
        withdrawal_problem
            .into_iter()
            .chain(self.problems.iter().map(PublishProblem::to_string))
            .collect()
    }

    pub(super) fn with_problem(mut self, problem: impl Into<PublishProblem>) -> Self {
        self.problems.push(problem.into());
        self
    }

    pub(super) fn with_error(mut self, error: HttpError) -> Self {
        self.error = Some(error);
        self
    }
}
