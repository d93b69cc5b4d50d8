//! The ten causes for which a rule cannot be evaluated (API document, "Review rule evaluation errors").

use crate::model::yaml::DocumentError;

/// Why a rule could not be evaluated. The texts are for the person who has to put it right.
///
/// They begin with [`ABOUT_THE_PIPELINE`](crate::model::pipelines::ABOUT_THE_PIPELINE) or
/// [`ABOUT_THE_RULES_FILE`](crate::model::pipelines::ABOUT_THE_RULES_FILE), as none of them is about one component.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// There is no rules file.
    #[error("{}", no_rules_file(*is_link))]
    RulesFileRetrieval {
        /// It is behind a symbolic link.
        is_link: bool,
    },
    /// The rules file is not YAML, or not a list of rules.
    #[error("the rules file cannot be read: {0}")]
    RulesFileParse(DocumentError),
    /// The pipeline is none.
    #[error("the pipeline cannot be read: {0}")]
    DocumentParse(DocumentError),
    #[error("the rules file enables `{id}`, which is no known rule{}", did_you_mean(*nearest))]
    ValidatorNotFound {
        id: String,
        /// The known id that is most like it.
        nearest: Option<&'static str>,
    },
    /// The level is neither of the two.
    #[error("the rules file gives `{id}` no valid enforcementLevel: write `warn` or `error`")]
    InvalidEnforcementLevel { id: &'static str },
    /// A field of the rule's `config` is missing or wrong.
    #[error("the rules file configures `{id}` wrongly: {problem}")]
    InvalidRuleConfiguration {
        id: &'static str,
        /// Which field, and what it must be.
        problem: String,
    },
    /// The pattern is the empty text.
    #[error("the rules file gives `{id}` an empty pattern: write `.*` to allow every name")]
    EmptyRegexPattern { id: &'static str },
    /// The pattern does not compile.
    #[error("the rules file gives `{id}` a pattern that is no regular expression: {problem}")]
    InvalidRegexPattern { id: &'static str, problem: String },
    /// The pattern compiles, and cannot be evaluated in bounded time.
    #[error(
        "the rules file gives `{id}` a pattern that costs too much: {problem}; write it without nested repetition"
    )]
    CostlyRegexPattern {
        id: &'static str,
        /// Which bound was passed, and where.
        problem: String,
    },
    /// The rule needs a start component, and there is none.
    #[error("the pipeline has no start component, so nothing can be said about what is reachable: add one")]
    NoStartComponent,
    /// The same rule is enabled more than once.
    #[error("the rules file enables `{id}` {times} times: enable it once")]
    DuplicateEnabledRule { id: String, times: usize },
}

const fn no_rules_file(is_link: bool) -> &'static str {
    if is_link {
        "the rules file is behind a symbolic link, which the platform does not follow: commit the file itself as \
         `config/pipeline_quality_rules.yaml` in the configuration folder"
    } else {
        "the rules file is not there: commit `config/pipeline_quality_rules.yaml` in the configuration folder"
    }
}

impl EvaluationError {
    /// The line of the pipeline that it is about, where that is known. The places of what is wrong with the rules file
    /// are none of the pipeline's.
    pub fn line(&self) -> Option<u32> {
        match self {
            Self::DocumentParse(error) => error.position.map(|position| position.line),
            _ => None,
        }
    }

    /// The value of `errorDetail.type`.
    pub const fn error_type(&self) -> &'static str {
        match self {
            Self::RulesFileRetrieval { .. } => "designer/rules-file-retrieval-error",
            Self::RulesFileParse(_) => "designer/rules-file-parse-error",
            Self::DocumentParse(_) => "designer/document-parse-error",
            Self::ValidatorNotFound { .. } => "designer/validator-not-found",
            Self::InvalidEnforcementLevel { .. } => "designer/invalid-enforcement-level",
            Self::InvalidRuleConfiguration { .. } => "designer/invalid-rule-configuration",
            Self::EmptyRegexPattern { .. } => "designer/empty-regex-pattern",
            Self::InvalidRegexPattern { .. } | Self::CostlyRegexPattern { .. } => {
                "designer/invalid-regex-pattern"
            }
            Self::NoStartComponent => "designer/no-start-component",
            Self::DuplicateEnabledRule { .. } => "designer/duplicate-enabled-rule",
        }
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest
        .map(|id| format!(": did you mean `{id}`?"))
        .unwrap_or_default()
}
