//! The ten reasons why a rule cannot be evaluated (API document, "Review rule evaluation errors").

use crate::findings::{
    DUPLICATE_RULE_TYPE, EMPTY_PATTERN_TYPE, INVALID_CONFIG_TYPE, INVALID_LEVEL_TYPE, INVALID_PATTERN_TYPE,
    MISSING_RULES_TYPE, NO_START_TEXT, NO_START_TYPE, UNKNOWN_RULE_TYPE, UNREADABLE_RULES_TYPE,
    UNREADABLE_TYPE,
};
use sluicegate_base::text;
use sluicegate_yaml::DocumentError;

/// The reason why a rule could not be evaluated. The messages are for the person who fixes it.
///
/// The messages begin with "the pipeline" or "the rules file", because none of them concerns a component.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// The rules file is missing.
    #[error("{}", .0.describe())]
    RulesFileRetrieval(MissingRulesFile),
    /// The rules file is not YAML, or not a list of rules.
    #[error("the rules file cannot be read: {0}")]
    RulesFileParse(DocumentError),
    /// The pipeline cannot be read.
    #[error("the pipeline cannot be read: {0}")]
    DocumentParse(DocumentError),
    #[error(
        "the rules file {} `{id}`, which is not a known rule{}",
        if *is_enabled { "enables" } else { "has an entry for" },
        text::suggestion_after_colon(*nearest)
    )]
    ValidatorNotFound {
        id: String,
        /// Whether the entry enables the rule.
        is_enabled: bool,
        /// The most similar known id.
        nearest: Option<&'static str>,
    },
    /// The level is missing, or neither `warn` nor `error`.
    #[error(
        "the rules file {} enforcementLevel for `{id}`: write `warn` or `error`",
        if *is_missing { "does not set an" } else { "sets an invalid" }
    )]
    InvalidEnforcementLevel { id: &'static str, is_missing: bool },
    /// A field of the rule's `config` is missing or invalid.
    #[error("the rules file has an invalid `config` for `{id}`: {problem}")]
    InvalidRuleConfiguration {
        id: &'static str,
        /// The field, and its required value.
        problem: String,
    },
    /// The pattern is empty.
    #[error("the rules file has an empty pattern for `{id}`: write `.*` to allow every name")]
    EmptyRegexPattern { id: &'static str },
    /// The pattern does not compile.
    #[error("the rules file has an invalid regular expression for `{id}`: {problem}")]
    InvalidRegexPattern { id: &'static str, problem: String },
    /// The pattern compiles but cannot be evaluated in bounded time.
    #[error(
        "the rules file has a pattern for `{id}` that takes too long to match: {problem}; rewrite it without \
         nested repetition"
    )]
    CostlyRegexPattern {
        id: &'static str,
        /// The limit that was exceeded.
        problem: String,
    },
    /// The rule needs a start component, and the pipeline has none.
    #[error("{NO_START_TEXT}")]
    NoStartComponent,
    /// The same rule is enabled more than once.
    #[error("the rules file enables `{id}` {times} times: enable the rule only once")]
    DuplicateEnabledRule { id: String, times: usize },
}

/// Why the rules file is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingRulesFile {
    NoFile,
    /// The rules file is behind a symbolic link.
    SymbolicLink,
    /// Several hidden directories could be the platform's.
    SeveralDirectories,
}

impl MissingRulesFile {
    /// Returns the message that the rules file is missing for this reason.
    const fn describe(self) -> &'static str {
        match self {
            Self::NoFile => {
                "the rules file is missing: the platform's hidden directory has no \
                 `config/pipeline_quality_rules.yaml`"
            }
            Self::SymbolicLink => {
                "the rules file is behind a symbolic link, which the platform does not follow: commit the file itself \
                 as `config/pipeline_quality_rules.yaml` in the platform's hidden directory"
            }
            Self::SeveralDirectories => {
                "the rules file is unknown, because several hidden directories contain files of the platform"
            }
        }
    }
}

impl EvaluationError {
    /// Returns the line of the pipeline with the error, if known. Errors in the rules file have no line in the
    /// pipeline.
    pub(crate) fn line(&self) -> Option<u32> {
        match self {
            Self::DocumentParse(error) => error.position.map(|position| position.line),
            _ => None,
        }
    }

    /// Returns the question at the end of the message, such as "did you mean …?", if a known rule has a similar id.
    pub(super) fn suggestion(&self) -> Option<String> {
        match self {
            Self::ValidatorNotFound { nearest, .. } => nearest.map(text::did_you_mean),
            _ => None,
        }
    }

    /// Returns the type by which the platform's API identifies the error, in `errorDetail.type`.
    pub(crate) const fn error_type(&self) -> &'static str {
        match self {
            Self::RulesFileRetrieval(_) => MISSING_RULES_TYPE,
            Self::RulesFileParse(_) => UNREADABLE_RULES_TYPE,
            Self::DocumentParse(_) => UNREADABLE_TYPE,
            Self::ValidatorNotFound { .. } => UNKNOWN_RULE_TYPE,
            Self::InvalidEnforcementLevel { .. } => INVALID_LEVEL_TYPE,
            Self::InvalidRuleConfiguration { .. } => INVALID_CONFIG_TYPE,
            Self::EmptyRegexPattern { .. } => EMPTY_PATTERN_TYPE,
            Self::InvalidRegexPattern { .. } | Self::CostlyRegexPattern { .. } => INVALID_PATTERN_TYPE,
            Self::NoStartComponent => NO_START_TYPE,
            Self::DuplicateEnabledRule { .. } => DUPLICATE_RULE_TYPE,
        }
    }
}
