//! A finding: the unit that people and hosts count, with its message.

use super::error_types::{
    FILE_ERROR_TYPES, MISSING_RULES_TYPE, NO_START_TYPE, RULES_FILE_ERROR_TYPES, UNREADABLE_TYPE,
    UNUSABLE_TEAM_RULES_TYPE,
};
use super::rule_result::text_or_placeholder;
use super::{
    FileResults, FindingState, Fix, NO_ERROR_TYPE, NO_START_TEXT, Origin, RuleResult, Severity, Status,
    TEAM_PREFIX, Waiver,
};
use crate::pipelines::SubjectKind;
use sluicegate_base::text::to_single_line;
use std::borrow::Cow;

/// The rule id under which an unreadable pipeline is reported, because it concerns no specific rule.
pub const UNREADABLE_RULE: &str = "document-parse-error";

/// A finding with its location, as annotations and the terminal show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding<'a> {
    /// The path from the repository root, with `/`.
    pub path: &'a str,
    /// The line, from 1.
    pub line: u32,
    pub rule: &'a str,
    /// The source of the result.
    pub origin: Origin,
    pub severity: Severity,
    /// The state compared with the base; `None` if no comparison was made and the finding is not waived.
    pub state: Option<FindingState>,
    /// The waiver for the finding, including an expired one.
    pub waiver: Option<&'a Waiver>,
    /// The component or variable that the finding concerns, if known.
    pub about: Option<&'a str>,
    /// The kind of `about`, if known.
    pub about_kind: Option<SubjectKind>,
    /// The text that identifies a finding without a subject, if each engine may word it in its own way.
    pub identity_text: Option<&'static str>,
    /// The counted number, for counting rules.
    pub size: Option<u64>,
    /// Whether a project check reports it as a warning at most, because nothing is broken yet.
    pub is_minor: bool,
    /// The evaluation error's type, if the rule could not be evaluated.
    pub error_type: Option<&'a str>,
    /// The text of the violation, if there is one.
    pub text: Option<Cow<'a, str>>,
    /// The proven fix, if there is one.
    pub fix: Option<&'a Fix>,
}

/// The identity of a finding across commits. It never includes the line, because findings often move.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FindingIdentity<'a> {
    pub rule: &'a str,
    /// The path from the repository root.
    pub path: &'a str,
    /// The component or variable, otherwise the text; `None` for counting rules, and for a finding without a text.
    pub about: Option<&'a str>,
    /// The kind of that component or variable: both can have the same name.
    pub about_kind: Option<SubjectKind>,
}

impl<'a> Finding<'a> {
    /// Returns the same finding about another subject of the same kind.
    #[must_use]
    pub fn with_subject(&self, about: &'a str) -> Self {
        Self {
            about: Some(about),
            ..self.clone()
        }
    }
}

impl Finding<'_> {
    /// Returns the identity of the finding across commits. It contains the component or variable, or else the message;
    /// if engines word the message in different ways, that of this program.
    /// For a counting rule it contains neither, because such findings are compared by size. The message of a team rule
    /// is never used: its finding is identified by the rule and the path if it has no component or variable.
    pub fn identity(&self) -> FindingIdentity<'_> {
        let is_team_rule = self.rule.starts_with(TEAM_PREFIX);
        let (about, about_kind) = if self.size.is_some() {
            (None, None)
        } else {
            let message = self.identity_text.or(self.text.as_deref());
            let message = message.filter(|_| !is_team_rule);
            (self.about.or(message), self.about.and(self.about_kind))
        };
        FindingIdentity {
            rule: self.rule,
            path: self.path,
            about,
            about_kind,
        }
    }

    /// Returns whether the finding is an error that prevented the evaluation of every rule on the file.
    pub fn is_file_error(&self) -> bool {
        self.error_type
            .is_some_and(|error_type| FILE_ERROR_TYPES.contains(&error_type))
    }

    /// Returns whether the finding is an error in the rules file or the team rules file and not in the pipeline.
    pub fn is_rules_file_error(&self) -> bool {
        self.error_type
            .is_some_and(|error_type| RULES_FILE_ERROR_TYPES.contains(&error_type))
    }

    /// Returns whether the finding reports that not all team rules were evaluated, because their file cannot be used.
    pub fn is_team_rules_file_error(&self) -> bool {
        self.error_type == Some(UNUSABLE_TEAM_RULES_TYPE)
    }

    /// Returns whether the finding reports that the rules file is missing.
    pub fn is_missing_rules_file_error(&self) -> bool {
        self.error_type == Some(MISSING_RULES_TYPE)
    }

    /// Returns whether totals count the finding as an error or a warning, because it is neither known nor waived.
    pub const fn is_counted(&self) -> bool {
        match self.state {
            Some(state) => !state.is_excused(),
            None => true,
        }
    }

    /// Returns the message for people, followed by the waiver in parentheses, if there is one. It contains text of
    /// pipelines, rules and waivers, which the caller must escape.
    pub fn message(&self) -> String {
        let mut description = self.describe();
        for name in [Some(self.rule), self.about].into_iter().flatten() {
            if name.contains(['\n', '\r']) {
                // Otherwise, the name could look like further messages.
                description = description.replace(name, &to_single_line(name));
            }
        }
        match self.waiver.and_then(|waiver| waiver.describe(self.state)) {
            Some(waiver_description) => format!("{description} ({})", to_single_line(&waiver_description)),
            None => description,
        }
    }

    /// Returns the message without the waiver: the text of the violation or of the evaluation error, or a general text
    /// if there is none.
    fn describe(&self) -> String {
        match (self.error_type, &self.text) {
            (Some(error_type), None) => format!("the rule could not be evaluated: {error_type}"),
            (Some(error_type), Some(text)) if text.trim().is_empty() => {
                format!("the rule could not be evaluated: {error_type}")
            }
            // This error concerns the file and not a rule.
            (Some(UNREADABLE_TYPE), Some(text)) => format!("{UNREADABLE_TYPE}: {text}"),
            (Some(error_type), Some(text)) => {
                format!("the rule could not be evaluated: {error_type}: {text}")
            }
            (None, Some(text)) => text_or_placeholder(text).to_owned(),
            (None, None) => "the rule is violated".to_owned(),
        }
    }
}

impl Status {
    /// Returns whether the pipeline itself could not be read.
    pub fn is_unreadable(&self) -> bool {
        matches!(self, Self::Error(Some(error_type)) if error_type == UNREADABLE_TYPE)
    }
}

impl RuleResult {
    /// Returns the error type if the result is an error that every rule of the file reports, otherwise `None`.
    pub(crate) fn file_error_type(&self) -> Option<&str> {
        match &self.status {
            Status::Error(Some(error_type)) => FILE_ERROR_TYPES
                .contains(&error_type.as_str())
                .then_some(error_type.as_str()),
            _ => None,
        }
    }

    /// Returns the findings of this result in the file `path`. A failed rule has one finding per violation. A rule that
    /// failed without violations, or that could not be evaluated, has exactly one, so that every failure is visible.
    pub fn findings<'a>(&'a self, path: &'a str) -> Vec<Finding<'a>> {
        let Some(severity) = self.severity() else {
            return Vec::new();
        };
        // The finding of a result without violations; findings of violations replace some of its fields.
        let result_finding = Finding {
            path,
            line: self.line(),
            rule: &self.rule,
            origin: self.origin,
            severity,
            state: self.state(0),
            waiver: self.waiver(0),
            about: None,
            about_kind: None,
            identity_text: None,
            size: None,
            is_minor: false,
            error_type: None,
            text: None,
            fix: None,
        };
        if let Status::Error(error_type) = &self.status {
            // Every rule reports an unreadable pipeline, so the finding does not name one of these rules.
            let rule = match error_type.as_deref() {
                Some(UNREADABLE_TYPE) => UNREADABLE_RULE,
                _ => result_finding.rule,
            };
            return vec![Finding {
                rule,
                error_type: Some(error_type.as_deref().unwrap_or(NO_ERROR_TYPE)),
                identity_text: (error_type.as_deref() == Some(NO_START_TYPE)).then_some(NO_START_TEXT),
                text: self.join_violation_texts(),
                ..result_finding
            }];
        }
        if self.violations.is_empty() {
            return vec![Finding {
                size: self.size,
                ..result_finding
            }];
        }
        self.violations
            .iter()
            .enumerate()
            .map(|(index, violation)| Finding {
                // Without a line, the finding is shown at the beginning of the file.
                line: violation.line.unwrap_or(1),
                state: self.state(index),
                waiver: self.waiver(index),
                about: violation.about.as_deref(),
                about_kind: violation.about_kind,
                identity_text: violation.identity_text,
                size: violation.size,
                is_minor: violation.is_minor,
                text: Some(Cow::Borrowed(violation.text.as_str())),
                fix: violation.fix.as_deref(),
                ..result_finding.clone()
            })
            .collect()
    }

    /// Returns the texts of all violations, one per line; `None` if there are no violations.
    fn join_violation_texts(&self) -> Option<Cow<'_, str>> {
        match self.violations.as_slice() {
            [] => None,
            [violation] => Some(Cow::Borrowed(violation.text.as_str())),
            violations => {
                let texts: Vec<&str> = violations
                    .iter()
                    .map(|violation| violation.text.as_str())
                    .collect();
                Some(Cow::Owned(texts.join("\n")))
            }
        }
    }
}

impl FileResults {
    /// Returns the results without repeated errors of the entire file: every rule reports such an error, and only the
    /// first result with it is returned.
    pub fn distinct_results(&self) -> Vec<&RuleResult> {
        let mut seen_error_types: Vec<&str> = Vec::new();
        let mut distinct_results = Vec::with_capacity(self.results.len());
        for result in &self.results {
            match result.file_error_type() {
                Some(error_type) if seen_error_types.contains(&error_type) => continue,
                Some(error_type) => seen_error_types.push(error_type),
                None => {}
            }
            distinct_results.push(result);
        }
        distinct_results
    }

    /// Returns the findings in this file, in the order of the results. An error that prevents the evaluation of every
    /// rule is one finding.
    pub fn findings(&self) -> Vec<Finding<'_>> {
        self.distinct_results()
            .into_iter()
            .flat_map(|result| result.findings(&self.path))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Violation;

    fn result(rule: &str, status: Status, violations: Vec<Violation>) -> RuleResult {
        RuleResult::new(rule.into(), status, None, violations)
    }

    #[test]
    fn unreadable_pipeline_is_one_finding_with_line() {
        let error = || Status::Error(Some(UNREADABLE_TYPE.to_owned()));
        let words = || Violation {
            line: Some(2),
            ..Violation::new("the pipeline cannot be read")
        };
        let file = FileResults {
            path: "a".into(),
            results: vec![
                result("one", error(), vec![words()]),
                result("two", Status::Error(None), vec![]),
                result("three", error(), vec![words()]),
            ],
            is_reviewed: true,
        };
        let found = file.findings();
        let shown: Vec<_> = found.iter().map(|f| (f.rule, f.line, f.message())).collect();
        insta::assert_debug_snapshot!(shown, @r#"
        [
            (
                "document-parse-error",
                2,
                "designer/document-parse-error: the pipeline cannot be read",
            ),
            (
                "two",
                1,
                "the rule could not be evaluated: no error type was given",
            ),
        ]
        "#);
    }

    #[test]
    fn violation_without_text_has_placeholder_as_message() {
        for text in ["", " "] {
            let failed = result("r", Status::Failed(Severity::Error), vec![Violation::new(text)]);
            assert_eq!(failed.findings("p")[0].message(), "(no text)");
            let error = result("r", Status::Error(Some("t".into())), vec![Violation::new(text)]);
            assert_eq!(
                error.findings("p")[0].message(),
                "the rule could not be evaluated: t"
            );
        }
    }

    #[test]
    fn identity_contains_subject_and_no_line() {
        let about = |line, text: &str, about: Option<&str>, size| Violation {
            line,
            about: about.map(str::to_owned),
            size,
            ..Violation::new(text)
        };
        let failed = result(
            "r",
            Status::Failed(Severity::Error),
            vec![
                about(Some(3), "component \"a\" is wrong", Some("a"), None),
                about(Some(9), "component \"a\" is bad", Some("a"), None),
                about(None, "has 7 components", None, Some(7)),
                about(None, "some words", None, None),
            ],
        );
        let found = failed.findings("p");
        let named: Vec<_> = found.iter().map(|f| f.identity().about).collect();
        assert_eq!(named, [Some("a"), Some("a"), None, Some("some words")]);
        assert_eq!(found[0].identity(), found[1].identity());
    }

    /// Returns whether a finding with this status is an error of the file, of the rules file, and of a missing one.
    fn classify(status: Status) -> (bool, bool, bool) {
        let file = FileResults {
            path: "a".into(),
            results: vec![result("r", status, vec![Violation::new("v")])],
            is_reviewed: true,
        };
        let findings = file.findings();
        let finding = &findings[0];
        (
            finding.is_file_error(),
            finding.is_rules_file_error(),
            finding.is_missing_rules_file_error(),
        )
    }

    #[test]
    fn error_type_distinguishes_errors_of_file_and_of_rules_file() {
        let error = |error_type: &str| Status::Error(Some(error_type.to_owned()));
        assert_eq!(classify(error(UNREADABLE_TYPE)), (true, false, false));
        assert_eq!(classify(error(MISSING_RULES_TYPE)), (true, true, true));
        assert_eq!(classify(error("designer/other")), (false, false, false));
        assert_eq!(classify(Status::Failed(Severity::Error)), (false, false, false));
    }
}
