//! The result of one rule on one file.

use super::{State, Waiver};
use crate::base::words::words;

/// The level that the rules file gives to a rule (API document, "Pipeline review").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Enforcement {
    /// A violation is reported, the review still passes.
    Warn,
    Error,
}

words!(Enforcement { Warn => "warn", Error => "error" });

/// How much a finding weighs for the gate and for the hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Reported only.
    Warning,
    Error,
}

words!(Severity { Warning => "warning", Error => "error" });

impl Severity {
    /// Returns what a violation of a rule with this level weighs.
    pub const fn of(level: Enforcement) -> Self {
        match level {
            Enforcement::Warn => Self::Warning,
            Enforcement::Error => Self::Error,
        }
    }
}

/// Who found something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The platform's review.
    Platform,
    /// The same rules, on this machine.
    #[default]
    Local,
    /// A check of the whole project, which is no rule of the rules file.
    Project,
}

words!(Origin { Platform => "platform", Local => "local", Project => "project" });

/// What is shown where an evaluation error came without its type.
pub const NO_ERROR_TYPE: &str = "no error type was given";

/// The error that a pipeline's own content makes.
const NO_START: &str = "designer/no-start-component";

/// How a rule ended on a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
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

    /// Whether what it found can be known or waived. What could not be judged cannot, unless the pipeline itself says why.
    pub fn can_be_old(&self) -> bool {
        match self {
            Self::Passed => false,
            Self::Failed(_) => true,
            Self::Error(error_type) => error_type.as_deref() == Some(NO_START),
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
    /// The component or variable that it is about; none where it names none.
    pub about: Option<String>,
    /// What a rule that counts has counted; none for any other rule.
    pub size: Option<u64>,
}

impl Violation {
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            line: None,
            about: None,
            size: None,
        }
    }
}

/// The result of one rule on one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleResult {
    pub rule: String,
    pub origin: Origin,
    pub status: Status,
    /// The level that the rules file gives to the rule; none where the file is unknown or has no such rule.
    pub enforcement: Option<Enforcement>,
    /// What breaks the rule; may be empty even for a failed rule.
    pub violations: Vec<Violation>,
    /// What a rule that counts has counted, if it failed without a violation to carry it.
    pub size: Option<u64>,
    /// How each violation stands against what was there before, one where there is none; empty where nothing was
    /// compared and nothing waived.
    pub states: Vec<Option<State>>,
    /// The waiver that is about each violation, aligned as the states are; empty where there is none. The finding of one
    /// that is over counts.
    pub waivers: Vec<Option<Waiver>>,
}

impl RuleResult {
    /// A result that was compared with no other commit and that no waiver is about.
    pub const fn new(
        rule: String,
        status: Status,
        enforcement: Option<Enforcement>,
        violations: Vec<Violation>,
    ) -> Self {
        Self {
            rule,
            origin: Origin::Local,
            status,
            enforcement,
            violations,
            size: None,
            states: Vec::new(),
            waivers: Vec::new(),
        }
    }

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

    /// How the finding of the violation at this index stands against what was there before.
    pub fn state(&self, at: usize) -> Option<State> {
        self.states.get(at).copied().flatten()
    }

    /// The waiver that is about the finding of the violation at this index.
    pub fn waiver(&self, at: usize) -> Option<&Waiver> {
        self.waivers.get(at)?.as_ref()
    }

    /// What a waiver says of it, for people.
    pub fn waiver_told(&self, at: usize) -> Option<String> {
        self.waiver(at)?.told(self.state(at))
    }

    /// Whether the finding of the violation at this index was neither there before nor is allowed.
    pub fn counts(&self, at: usize) -> bool {
        !matches!(self.state(at), Some(State::Known | State::Waived))
    }

    /// Whether all that it found is known or waived.
    pub fn is_old(&self) -> bool {
        !(0..self.violations.len().max(1)).any(|at| self.counts(at))
    }
}

/// All rule results of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileResults {
    /// The path from the repository root, with `/`.
    pub path: String,
    /// In the order of the reviewer's answer, then those of the project's checks.
    pub results: Vec<RuleResult>,
}

impl FileResults {
    /// Whether the file was reviewed. What the project's checks find in a file is no review of it.
    pub fn is_reviewed(&self) -> bool {
        self.results.is_empty() || self.rule_results().next().is_some()
    }

    /// The results of the rules file's rules.
    pub fn rule_results(&self) -> impl Iterator<Item = &RuleResult> {
        self.results
            .iter()
            .filter(|result| result.origin != Origin::Project)
    }
}
