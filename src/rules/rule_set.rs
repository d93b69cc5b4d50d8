//! A rules file at work.

use super::error::EvaluationError;
use super::rule::Check;
use super::rules_file::{self, EnabledRule, RulesFile};
use super::subject::Subject;
use crate::findings::{Enforcement, FileResults, RuleResult, Severity, Status, Violation};
use crate::pipelines::{Kind, Pipeline};
use std::fmt;

/// The rule that a problem with the rules file itself is reported as.
pub const RULES_FILE_RULE: &str = "pipeline-quality-rules";

/// A rules file, read and checked.
pub struct RuleSet {
    /// The file, or why there are no rules.
    file: Result<RulesFile, EvaluationError>,
}

impl fmt::Debug for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = |file: &RulesFile| file.rules.iter().map(|rule| rule.id.clone()).collect::<Vec<_>>();
        f.debug_tuple("RuleSet")
            .field(&self.file.as_ref().map(ids))
            .finish()
    }
}

impl RuleSet {
    /// Reads a rules file. What is wrong with it becomes a result of each pipeline, so that the gate sees it.
    pub fn parse(bytes: &[u8]) -> Self {
        Self {
            file: rules_file::read(bytes).map_err(EvaluationError::RulesFileParse),
        }
    }

    /// For a commit without a rules file: each pipeline gets one result that says so.
    pub const fn missing() -> Self {
        Self {
            file: Err(EvaluationError::RulesFileRetrieval),
        }
    }

    /// The level of the first enabled entry of this id, else of its first entry; none if there is no such entry or
    /// its level is not valid.
    pub fn enforcement(&self, rule: &str) -> Option<Enforcement> {
        self.file.as_ref().ok()?.levels.get(rule).copied().flatten()
    }

    /// The results for a pipeline file, in the order of the rules file.
    ///
    /// `path` is the path from the repository root: it names the file, and where `document` cannot be read it tells
    /// which rules would have applied.
    pub fn evaluate(&self, path: &str, document: &[u8]) -> FileResults {
        let results = match &self.file {
            Err(error) => vec![unevaluated(RULES_FILE_RULE, None, error)],
            Ok(file) if file.rules.is_empty() => Vec::new(),
            Ok(file) => evaluate(&file.rules, path, document),
        };
        FileResults {
            path: path.to_owned(),
            results,
        }
    }
}

fn evaluate(rules: &[EnabledRule], path: &str, document: &[u8]) -> Vec<RuleResult> {
    let pipeline = Pipeline::parse(document).map_err(EvaluationError::DocumentParse);
    let kind = match &pipeline {
        Ok(pipeline) => Some(pipeline.kind),
        Err(_) => Kind::from_path(path),
    };
    let subject = pipeline.as_ref().map(Subject::new);
    rules
        .iter()
        .filter(|rule| kind.is_none_or(|kind| rule.kinds.contains(&kind)))
        .map(|rule| result(rule, subject.as_ref().map_err(|error| *error)))
        .collect()
}

fn result(rule: &EnabledRule, subject: Result<&Subject<'_>, &EvaluationError>) -> RuleResult {
    let check: &Check = match &rule.check {
        Ok(check) => check,
        Err(error) => return unevaluated(&rule.id, rule.enforcement, error),
    };
    let subject = match subject {
        Ok(subject) => subject,
        Err(error) => return unevaluated(&rule.id, rule.enforcement, error),
    };
    match check(subject) {
        Ok(violations) => RuleResult {
            rule: rule.id.clone(),
            status: status(&violations, rule.enforcement),
            enforcement: rule.enforcement,
            violations,
        },
        Err(error) => unevaluated(&rule.id, rule.enforcement, &error),
    }
}

fn status(violations: &[Violation], enforcement: Option<Enforcement>) -> Status {
    if violations.is_empty() {
        return Status::Passed;
    }
    Status::Failed(match enforcement {
        Some(Enforcement::Warn) => Severity::Warning,
        Some(Enforcement::Error) | None => Severity::Error,
    })
}

fn unevaluated(rule: &str, enforcement: Option<Enforcement>, error: &EvaluationError) -> RuleResult {
    RuleResult {
        rule: rule.to_owned(),
        status: Status::Error(Some(error.error_type().to_owned())),
        enforcement,
        violations: vec![Violation {
            text: error.to_string(),
            line: None,
        }],
    }
}
