//! The result of one rule on one file, and the findings in it.

use std::fmt;

/// The level that the rules file gives to a rule (API document, "Pipeline review").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Enforcement {
    /// A violation is reported, the review still passes.
    Warn,
    /// A violation fails the review.
    Error,
}

impl Enforcement {
    /// The level as the rules file writes it: exactly `warn` or `error`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "warn" => Some(Self::Warn),
            "error" => Some(Self::Error),
            _ => None,
        }
    }
}

impl fmt::Display for Enforcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warn => "warn",
            Self::Error => "error",
        })
    }
}

/// How much a finding weighs for the gate and for the hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Reported only.
    Warning,
    /// Fails the gate.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// What is shown where an evaluation error came without its type.
pub const NO_ERROR_TYPE: &str = "no error type was given";

/// How a rule ended on a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// The rule holds.
    Passed,
    /// The rule does not hold; the severity says what that means for the gate.
    Failed(Severity),
    /// The rule could not be evaluated; holds the error type as it came, for example
    /// `designer/no-start-component`, if one came.
    Error(Option<String>),
}

impl Status {
    /// The status as the platform writes it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Passed => "PASSED",
            Self::Failed(_) => "FAILED",
            Self::Error(_) => "ERROR",
        }
    }
}

/// One thing that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What is wrong, as the reviewer worded it: text from outside.
    pub text: String,
    /// The line that it stands on, from 1; none where the text names nothing that has a line.
    pub line: Option<u32>,
}

/// The result of one rule on one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleResult {
    /// The rule's id.
    pub rule: String,
    /// How it ended.
    pub status: Status,
    /// The level that the rules file gives to the rule; none where the file is unknown or has no such rule.
    pub enforcement: Option<Enforcement>,
    /// What breaks the rule; may be empty even for a failed rule.
    pub violations: Vec<Violation>,
}

impl RuleResult {
    /// The line of the first concerned component or variable, else 1.
    pub fn line(&self) -> u32 {
        self.violations.iter().filter_map(|v| v.line).min().unwrap_or(1)
    }

    /// What the result weighs; none for a passed rule.
    pub const fn severity(&self) -> Option<Severity> {
        match self.status {
            Status::Passed => None,
            Status::Failed(severity) => Some(severity),
            Status::Error(_) => Some(Severity::Error),
        }
    }

    /// The findings of this result in the file `path`: one for each violation, and one for a failed or unevaluated
    /// rule without any, so that no failure is invisible.
    fn findings<'a>(&'a self, path: &'a str) -> Vec<Finding<'a>> {
        let Some(severity) = self.severity() else {
            return Vec::new();
        };
        let error_type = match &self.status {
            Status::Error(error_type) => Some(error_type.as_deref().unwrap_or(NO_ERROR_TYPE)),
            _ => None,
        };
        let finding = |line, text| Finding {
            path,
            line,
            rule: &self.rule,
            severity,
            error_type,
            text,
        };
        if self.violations.is_empty() {
            return vec![finding(1, None)];
        }
        self.violations
            .iter()
            .map(|v| finding(v.line.unwrap_or(1), Some(v.text.as_str())))
            .collect()
    }
}

/// All rule results of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileResults {
    /// The path from the repository root, with `/`.
    pub path: String,
    /// In the order of the reviewer's answer.
    pub results: Vec<RuleResult>,
}

impl FileResults {
    /// The findings in this file, in the order of the results.
    pub fn findings(&self) -> Vec<Finding<'_>> {
        self.results
            .iter()
            .flat_map(|result| result.findings(&self.path))
            .collect()
    }
}

/// One finding with its place: what annotations and the terminal show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding<'a> {
    /// The path from the repository root, with `/`.
    pub path: &'a str,
    /// From 1.
    pub line: u32,
    /// The rule's id.
    pub rule: &'a str,
    /// What it weighs.
    pub severity: Severity,
    /// The evaluation error's type, if the rule could not be evaluated.
    pub error_type: Option<&'a str>,
    /// The violation's words, if there are any.
    pub text: Option<&'a str>,
}

impl Finding<'_> {
    /// One sentence for people; text from outside, to be escaped by the writer.
    pub fn message(&self) -> String {
        match (self.error_type, self.text) {
            (Some(error_type), None) => format!("the rule could not be evaluated: {error_type}"),
            (Some(error_type), Some(text)) => {
                format!("the rule could not be evaluated: {error_type}: {text}")
            }
            (None, Some(text)) => text.to_owned(),
            (None, None) => "the rule does not hold".to_owned(),
        }
    }
}
