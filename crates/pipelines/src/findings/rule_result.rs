//! The result of one rule on one file.

use super::error_types::NO_START_TYPE;
use super::{FindingState, Fix, ProposedFix, Waiver};
use crate::pipelines::{NamedSubject, SubjectKind};
use sluicegate_base::words::words;

/// The level of a rule in the rules file (API document, "Pipeline review").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Enforcement {
    /// A violation is reported, but the review still passes.
    Warn,
    Error,
}

words!(Enforcement { Warn => "warn", Error => "error" });

/// The severity of a finding, for the gate and for the hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The finding is only reported.
    Warning,
    Error,
}

words!(Severity { Warning => "warning", Error => "error" });

impl Severity {
    /// Returns the severity of a violation of a rule that has this level.
    pub const fn from_enforcement(level: Enforcement) -> Self {
        match level {
            Enforcement::Warn => Self::Warning,
            Enforcement::Error => Self::Error,
        }
    }
}

/// The source of a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The platform's review.
    Platform,
    /// The same rules, evaluated locally.
    #[default]
    Local,
    /// A check of the project, which is not a rule of the rules file.
    Project,
    /// A rule that the team wrote in `sluicegate-rules.yaml`.
    Team,
}

words!(Origin { Platform => "platform", Local => "local", Project => "project", Team => "team" });

impl Origin {
    /// Returns whether the result comes from a rule in the rules file. The platform and the local engine evaluate these
    /// rules.
    pub const fn is_from_rules_file(self) -> bool {
        matches!(self, Self::Platform | Self::Local)
    }
}

/// The start of the id of a team rule in reports and waivers.
pub const TEAM_PREFIX: &str = "team/";

/// The text for an evaluation error without a type.
pub const NO_ERROR_TYPE: &str = "no error type was given";

/// The text of the error [`NO_START_TYPE`]. It identifies the finding, because the platform may word it in another way.
pub(crate) const NO_START_TEXT: &str =
    "the pipeline has no start component, so reachability cannot be determined: add a start component";

/// The outcome of a rule for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    Passed,
    /// The rule is violated; the severity determines the effect on the gate.
    Failed(Severity),
    /// The rule could not be evaluated; contains the platform's error type, for example `designer/no-start-component`,
    /// if there is one.
    Error(Option<String>),
}

/// The platform's name for the status of a rule result. A review has one of the first two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusName {
    Passed,
    Failed,
    Error,
}

words!(StatusName { Passed => "PASSED", Failed => "FAILED", Error => "ERROR" });

impl Status {
    /// Returns the name that the platform uses for the status.
    pub const fn name(&self) -> &'static str {
        let name = match self {
            Self::Passed => StatusName::Passed,
            Self::Failed(_) => StatusName::Failed,
            Self::Error(_) => StatusName::Error,
        };
        name.name()
    }

    /// Returns whether findings with this status can be known or waived. An evaluation error cannot, unless it reports
    /// that the pipeline has no start component, because only its content causes this error.
    pub fn is_excusable(&self) -> bool {
        match self {
            Self::Passed => false,
            Self::Failed(_) => true,
            Self::Error(error_type) => error_type.as_deref() == Some(NO_START_TYPE),
        }
    }
}

/// The state of a finding in comparison with the base, and its waiver.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindingMark {
    /// New, known or waived; `None` if no comparison was made and the finding is not waived.
    pub state: Option<FindingState>,
    /// The waiver of the finding. With an expired waiver, the finding still counts.
    pub waiver: Option<Box<Waiver>>,
}

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The reviewer's description of the violation. It contains names from the pipeline, so writers must escape it.
    pub text: String,
    /// The line, from 1; `None` if the text names nothing that has a line.
    pub line: Option<u32>,
    /// The component or variable that the violation concerns; `None` if the text does not name one.
    pub about: Option<String>,
    /// The kind of `about`; `None` if unknown, and for a name that is neither.
    pub about_kind: Option<SubjectKind>,
    /// Whether the text only seems to name the subject of `line`, so that `about` is missing.
    pub is_subject_guessed: bool,
    /// The text that identifies a violation without a subject, if each engine may word it in its own way. `None` if
    /// `text` identifies it.
    pub identity_text: Option<&'static str>,
    /// The counted number, for counting rules; `None` for other rules.
    pub size: Option<u64>,
    /// Whether a project check reports it as a warning at most, because nothing is broken yet: for example, a call by
    /// bare name that leads to one pipeline.
    pub is_minor: bool,
    /// The number of findings that are not listed separately, because this violation causes them.
    pub folded_count: usize,
    /// The replacement that a check proposes. If it is proven, `fix` has it, too.
    pub proposed_fix: Option<Box<ProposedFix>>,
    pub fix: Option<Box<Fix>>,
    /// The mark of the finding, if the rule failed. An evaluation error is one finding, which the result marks.
    pub mark: FindingMark,
}

/// Returns the text of a violation, or a placeholder if it has no visible characters.
pub fn text_or_placeholder(text: &str) -> &str {
    if text.trim().is_empty() { "(no text)" } else { text }
}

impl Violation {
    /// Creates a violation of the whole file. It has neither a line nor a fix.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            line: None,
            about: None,
            about_kind: None,
            is_subject_guessed: false,
            identity_text: None,
            size: None,
            is_minor: false,
            folded_count: 0,
            proposed_fix: None,
            fix: None,
            mark: FindingMark::default(),
        }
    }

    /// Returns the text for people: a placeholder if the text has no visible characters.
    pub fn shown_text(&self) -> &str {
        text_or_placeholder(&self.text)
    }

    /// Sets the component or variable that the violation concerns.
    #[must_use]
    pub fn with_subject(self, subject: NamedSubject<'_>) -> Self {
        Self {
            about: Some(subject.name.to_owned()),
            about_kind: Some(subject.kind),
            ..self
        }
    }
}

/// The result of one rule on one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleResult {
    pub rule: String,
    pub origin: Origin,
    pub status: Status,
    /// The level of the rule in the rules file; `None` if the file is unknown or has no such rule.
    pub enforcement: Option<Enforcement>,
    /// The violations; may be empty even for a failed rule.
    pub violations: Vec<Violation>,
    /// The counted number, for a counting rule that failed without a violation.
    pub size: Option<u64>,
    /// The mark of the only finding: of an evaluation error, and of a rule that failed without a violation.
    pub mark: FindingMark,
}

impl RuleResult {
    /// Creates a result of a local evaluation, which was not compared with a base and has no waivers.
    pub fn new(
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
            mark: FindingMark::default(),
        }
    }

    /// Returns the smallest line number of the violations; 1 if no violation has a line.
    pub fn line(&self) -> u32 {
        self.violations
            .iter()
            .filter_map(|violation| violation.line)
            .min()
            .unwrap_or(1)
    }

    /// Returns the severity of the result, or `None` if the rule passed.
    pub const fn severity(&self) -> Option<Severity> {
        match self.status {
            Status::Passed => None,
            Status::Failed(severity) => Some(severity),
            Status::Error(_) => Some(Severity::Error),
        }
    }

    /// Returns the state of the finding for the violation at this index: new, known or waived. A result without
    /// violations has one finding, at index 0. Returns `None` if no comparison was made and the finding is not waived.
    pub fn state(&self, index: usize) -> Option<FindingState> {
        self.mark(index)?.state
    }

    /// Returns the state of each finding.
    pub fn states(&self) -> impl Iterator<Item = Option<FindingState>> {
        let finding_count = if self.has_single_finding() {
            1
        } else {
            self.violations.len()
        };
        (0..finding_count).map(|index| self.state(index))
    }

    /// Sets the state of each finding. The states are in the order of [`RuleResult::findings`].
    pub fn set_states(&mut self, states: impl IntoIterator<Item = Option<FindingState>>) {
        for (mark, state) in self.marks_mut().into_iter().zip(states) {
            mark.state = state;
        }
    }

    /// Returns the marks of the findings, in the order of [`RuleResult::findings`].
    pub fn marks_mut(&mut self) -> Vec<&mut FindingMark> {
        if self.has_single_finding() {
            return vec![&mut self.mark];
        }
        self.violations
            .iter_mut()
            .map(|violation| &mut violation.mark)
            .collect()
    }

    /// Returns the mark of the finding for the violation at this index.
    fn mark(&self, index: usize) -> Option<&FindingMark> {
        if self.has_single_finding() {
            return Some(&self.mark);
        }
        self.violations.get(index).map(|violation| &violation.mark)
    }

    /// Returns whether a failure is one finding. The violations of an evaluation error are its messages.
    const fn has_single_finding(&self) -> bool {
        matches!(self.status, Status::Error(_)) || self.violations.is_empty()
    }

    /// Returns the waiver of the finding for the violation at this index, if there is one. It may be expired.
    pub fn waiver(&self, index: usize) -> Option<&Waiver> {
        self.mark(index)?.waiver.as_deref()
    }

    /// Returns the text that explains the waiver of the finding at this index; `None` without a waiver.
    pub fn describe_waiver(&self, index: usize) -> Option<String> {
        self.waiver(index)?.describe(self.state(index))
    }

    /// Returns whether totals count the finding for the violation at this index, because it is neither known nor
    /// waived.
    pub fn is_counted(&self, index: usize) -> bool {
        !self.state(index).is_some_and(FindingState::is_excused)
    }

    /// Returns whether all findings of the result are known or waived.
    pub fn is_excused(&self) -> bool {
        self.states()
            .all(|state| state.is_some_and(FindingState::is_excused))
    }
}

/// All rule results of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileResults {
    /// The path from the repository root, with `/`.
    pub path: String,
    /// In the order of the reviewer's response, followed by those of the team's rules and of the project's checks.
    pub results: Vec<RuleResult>,
    /// Whether the rules file was applied to the file. Results of project checks and team rules alone do not make a
    /// review, and a reviewed file has no results if no rule of the rules file applies to it.
    pub is_reviewed: bool,
}

impl FileResults {
    /// Returns whether the results alone suggest that the rules file was applied to the file: it has a result of such a
    /// rule, or no result at all.
    pub fn looks_reviewed(&self) -> bool {
        self.results.is_empty() || self.rule_results().next().is_some()
    }

    /// Returns whether the platform evaluated a rule.
    pub fn has_platform_result(&self) -> bool {
        self.results
            .iter()
            .any(|result| result.origin == Origin::Platform)
    }

    /// Returns whether a rule could not be evaluated, for a reason that neither `new-only` nor a waiver can excuse.
    pub fn has_unevaluated_result(&self) -> bool {
        self.find_unevaluated_result().is_some()
    }

    /// Returns the first such result.
    pub fn find_unevaluated_result(&self) -> Option<&RuleResult> {
        let mut results = self.results.iter();
        results.find(|result| result.severity().is_some() && !result.status.is_excusable())
    }

    /// Returns the results of the rules in the rules file, without those of project checks and team rules.
    pub fn rule_results(&self) -> impl Iterator<Item = &RuleResult> {
        self.results
            .iter()
            .filter(|result| result.origin.is_from_rules_file())
    }
}
