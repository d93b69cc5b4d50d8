//! A finding: the unit that people and hosts count, and what they are told of it.

use super::{FileResults, NO_ERROR_TYPE, RuleResult, Severity, State, Status, Waiver};
use std::borrow::Cow;

/// Error types that are about a whole file: every rule says the same, so a person is told once.
const OF_THE_FILE: [&str; 3] = [
    UNREADABLE,
    "designer/rules-file-parse-error",
    "designer/rules-file-retrieval-error",
];

/// The error type of a pipeline that cannot be read.
const UNREADABLE: &str = "designer/document-parse-error";

/// Error types that are about the rules file: every pipeline says the same.
const OF_THE_RULES_FILE: [&str; 8] = [
    "designer/rules-file-parse-error",
    "designer/rules-file-retrieval-error",
    "designer/validator-not-found",
    "designer/invalid-enforcement-level",
    "designer/invalid-rule-configuration",
    "designer/empty-regex-pattern",
    "designer/invalid-regex-pattern",
    "designer/duplicate-enabled-rule",
];

/// What a pipeline that cannot be read is told under, as no rule is to blame.
pub const UNREADABLE_RULE: &str = "document-parse-error";

/// One finding with its place: what annotations and the terminal show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding<'a> {
    /// The path from the repository root, with `/`.
    pub path: &'a str,
    /// From 1.
    pub line: u32,
    pub rule: &'a str,
    pub severity: Severity,
    /// How it stands against what was there before; none where nothing was compared and nothing waived.
    pub state: Option<State>,
    /// The waiver that is about it, one that is over too.
    pub waiver: Option<&'a Waiver>,
    /// The component or variable that it is about, as far as it is known.
    pub about: Option<&'a str>,
    /// How large what is counted is, for the rules that count.
    pub size: Option<u64>,
    /// The evaluation error's type, if the rule could not be evaluated.
    pub error_type: Option<&'a str>,
    /// The violation's words, if there are any.
    pub text: Option<Cow<'a, str>>,
}

/// What makes a finding the same one at another commit: never the line, as most findings that stay move.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity<'a> {
    pub rule: &'a str,
    /// The path from the repository root.
    pub path: &'a str,
    /// The component or variable, else the words; none for rules that count, and for one without words.
    pub about: Option<&'a str>,
}

impl Finding<'_> {
    /// What makes it the same finding at another commit.
    pub fn identity(&self) -> Identity<'_> {
        Identity {
            rule: self.rule,
            path: self.path,
            about: match self.size {
                Some(_) => None,
                None => self.about.or(self.text.as_deref()),
            },
        }
    }

    /// Whether it says what is wrong with the rules file, and not with the pipeline.
    pub fn is_of_the_rules_file(&self) -> bool {
        self.error_type
            .is_some_and(|error_type| OF_THE_RULES_FILE.contains(&error_type))
    }

    /// Whether it was neither there before nor allowed.
    pub const fn counts(&self) -> bool {
        !matches!(self.state, Some(State::Known | State::Waived))
    }

    /// One sentence for people; text from outside, to be escaped by the writer.
    pub fn message(&self) -> String {
        let words = self.words();
        match self.waiver.and_then(|waiver| waiver.told(self.state)) {
            Some(told) => format!("{words} ({told})"),
            None => words,
        }
    }

    fn words(&self) -> String {
        match (self.error_type, &self.text) {
            (Some(error_type), None) => format!("the rule could not be evaluated: {error_type}"),
            (Some(UNREADABLE), Some(text)) => format!("{UNREADABLE}: {text}"),
            (Some(error_type), Some(text)) => {
                format!("the rule could not be evaluated: {error_type}: {text}")
            }
            (None, Some(text)) => text.clone().into_owned(),
            (None, None) => "the rule does not hold".to_owned(),
        }
    }
}

impl Status {
    /// Whether the pipeline itself could not be read.
    pub fn is_unreadable(&self) -> bool {
        matches!(self, Self::Error(Some(error_type)) if error_type == UNREADABLE)
    }
}

impl RuleResult {
    /// The error type that makes every rule of the file say the same; none for any other result.
    pub fn error_of_the_file(&self) -> Option<&str> {
        match &self.status {
            Status::Error(Some(error_type)) => OF_THE_FILE
                .contains(&error_type.as_str())
                .then_some(error_type.as_str()),
            _ => None,
        }
    }

    /// The findings of this result in the file `path`: one for each violation of a failed rule, and one for a rule
    /// that failed without any or could not be evaluated, so that no failure is invisible.
    pub fn findings<'a>(&'a self, path: &'a str) -> Vec<Finding<'a>> {
        let Some(severity) = self.severity() else {
            return Vec::new();
        };
        let whole = Finding {
            path,
            line: self.line(),
            rule: &self.rule,
            severity,
            state: self.state(0),
            waiver: self.waiver(0),
            about: None,
            size: None,
            error_type: None,
            text: None,
        };
        if let Status::Error(error_type) = &self.status {
            let rule = match error_type.as_deref() {
                Some(UNREADABLE) => UNREADABLE_RULE,
                _ => whole.rule,
            };
            return vec![Finding {
                rule,
                error_type: Some(error_type.as_deref().unwrap_or(NO_ERROR_TYPE)),
                text: self.words(),
                ..whole
            }];
        }
        if self.violations.is_empty() {
            return vec![Finding {
                size: self.size,
                ..whole
            }];
        }
        let violations = self.violations.iter().enumerate();
        violations
            .map(|(at, violation)| Finding {
                line: violation.line.unwrap_or(1),
                state: self.state(at),
                waiver: self.waiver(at),
                about: violation.about.as_deref(),
                size: violation.size,
                text: Some(Cow::Borrowed(violation.text.as_str())),
                ..whole.clone()
            })
            .collect()
    }

    /// The words of all violations, a line each.
    fn words(&self) -> Option<Cow<'_, str>> {
        match self.violations.as_slice() {
            [] => None,
            [one] => Some(Cow::Borrowed(one.text.as_str())),
            several => {
                let texts: Vec<&str> = several.iter().map(|violation| violation.text.as_str()).collect();
                Some(Cow::Owned(texts.join("\n")))
            }
        }
    }
}

impl FileResults {
    /// The results, without those that say the same of the whole file as one before them.
    pub fn told(&self) -> Vec<&RuleResult> {
        let mut causes: Vec<&str> = Vec::new();
        let mut told = Vec::with_capacity(self.results.len());
        for result in &self.results {
            match result.error_of_the_file() {
                Some(cause) if causes.contains(&cause) => continue,
                Some(cause) => causes.push(cause),
                None => {}
            }
            told.push(result);
        }
        told
    }

    /// The findings in this file, in the order of the results. What keeps every rule from being evaluated is one.
    pub fn findings(&self) -> Vec<Finding<'_>> {
        let told = self.told();
        told.into_iter()
            .flat_map(|result| result.findings(&self.path))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::findings::Violation;

    fn result(rule: &str, status: Status, violations: Vec<Violation>) -> RuleResult {
        RuleResult::new(rule.into(), status, None, violations)
    }

    #[test]
    fn an_unreadable_pipeline_is_one_finding_at_its_line() {
        let error = || Status::Error(Some(UNREADABLE.to_owned()));
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
    fn the_identity_is_what_it_is_about_and_never_the_line() {
        let about = |line, text: &str, about: Option<&str>, size| Violation {
            text: text.into(),
            line,
            about: about.map(str::to_owned),
            size,
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
}
