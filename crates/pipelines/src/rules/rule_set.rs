//! A set of rules that evaluates pipelines.

use super::error::{EvaluationError, MissingRulesFile};
use super::evaluated_pipeline::EvaluatedPipeline;
use super::rule::Evaluator;
use super::rules_file::{self, EnabledRule, RulesFile};
use crate::findings::{Enforcement, FileResults, RuleResult, Severity, Status, Violation};
use crate::pipelines::{LAYOUT_KEY, Pipeline, PipelineKind};
use sluicegate_base::overlap;
use sluicegate_yaml::{DocumentError, Tree};
use std::borrow::Borrow;
use std::fmt;

/// The rule id under which problems of the rules file itself are reported.
pub const RULES_FILE_RULE: &str = "pipeline-quality-rules";

/// The state of a rule in a rules file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleState {
    Enabled(Enforcement),
    Disabled,
    /// Enabled, but results in this evaluation error.
    Broken(&'static str),
    /// The rules file has no entry for the rule.
    Missing,
    /// The rules file is missing or cannot be read.
    Unknown,
}

/// A callback that gets each pipeline that was read, with its path and its document.
pub type PipelineObserver<'s> = dyn Fn(&str, &Pipeline, &Tree<'_>) + Sync + 's;

/// A rules file that was read and checked.
pub struct RuleSet {
    /// The file, or the reason why there are no rules.
    file: Result<RulesFile, EvaluationError>,
}

impl fmt::Debug for RuleSet {
    /// Formats only the ids of the rules, because their evaluators are functions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self
            .file
            .as_ref()
            .map(|file| file.rules.iter().map(|rule| &rule.id).collect::<Vec<_>>());
        f.debug_tuple("RuleSet").field(&ids).finish()
    }
}

impl RuleSet {
    /// Reads a rules file. If it cannot be parsed, each pipeline gets one result that reports the error.
    pub fn parse(bytes: &[u8]) -> Self {
        Self {
            file: rules_file::parse_rules_file(bytes).map_err(EvaluationError::RulesFileParse),
        }
    }

    /// Reads a rules file as [`Self::parse`] does, or keeps the error of a file that is unreadable.
    pub fn from_document(document: &Result<Vec<u8>, DocumentError>) -> Self {
        match document {
            Ok(bytes) => Self::parse(bytes),
            Err(error) => Self {
                file: Err(EvaluationError::RulesFileParse(error.clone())),
            },
        }
    }

    /// Creates the set for a commit without a rules file: each pipeline gets one result that reports the missing file.
    pub const fn without_file() -> Self {
        Self::for_missing_file(MissingRulesFile::NoFile)
    }

    /// Creates the set for a commit whose rules file is missing for this reason.
    pub const fn for_missing_file(reason: MissingRulesFile) -> Self {
        Self {
            file: Err(EvaluationError::RulesFileRetrieval(reason)),
        }
    }

    /// Returns the strictest level of the enabled entries of this id, otherwise that of its first entry; `None` if
    /// there is no such entry or its level is invalid.
    pub fn enforcement(&self, rule: &str) -> Option<Enforcement> {
        self.file.as_ref().ok()?.levels.get(rule).copied().flatten()
    }

    /// Returns why there are no rules: the rules file is missing or cannot be read. Returns `None` if there are rules.
    pub fn unusable_reason(&self) -> Option<String> {
        self.file.as_ref().err().map(EvaluationError::to_string)
    }

    /// Returns the state of the rule with this id. The state is `Unknown` if the rules file is missing or cannot
    /// be read, and `Broken` if the rule is enabled but cannot be evaluated. An enabled rule without a valid level
    /// is `Broken`, too.
    pub fn state(&self, rule: &str) -> RuleState {
        let Ok(file) = &self.file else {
            return RuleState::Unknown;
        };
        let Some(enabled_rule) = file.rules.iter().find(|candidate| candidate.id == rule) else {
            // The levels are those of all entries of the file, also of the disabled ones.
            return if file.levels.contains_key(rule) {
                RuleState::Disabled
            } else {
                RuleState::Missing
            };
        };
        match (&enabled_rule.evaluator, enabled_rule.enforcement) {
            (Err(error), _) => RuleState::Broken(error.error_type()),
            (Ok(_), Some(level)) => RuleState::Enabled(level),
            // Without a valid level, the evaluator is an error, so this case does not occur.
            (Ok(_), None) => RuleState::Unknown,
        }
    }

    /// Returns the ids of the enabled rules that apply to this kind of pipeline, or of all enabled rules if the kind is
    /// unknown; `None` if the rules file is missing or cannot be read.
    pub fn enabled_ids(&self, kind: Option<PipelineKind>) -> Option<impl Iterator<Item = &str>> {
        let rules = self.file.as_ref().ok()?.rules.iter();
        Some(
            rules
                .filter(move |rule| kind.is_none_or(|kind| rule.kinds.contains(&kind)))
                .map(|rule| rule.id.as_str()),
        )
    }

    /// Returns the results for a pipeline file, in the order of the rules file.
    ///
    /// `path` is the path from the repository root. If `document` is not a pipeline, the extension of
    /// `path` determines for which rules an error is returned.
    pub fn evaluate(&self, path: &str, document: &[u8]) -> FileResults {
        self.evaluate_bytes(path, document, &|_, _, _| {})
    }

    /// Returns the results as [`Self::evaluate`] does, for a file that may be unreadable. Passes the pipeline to
    /// `observe` if it can be parsed, but not if no rule is enabled or the rules file is unusable.
    pub fn evaluate_document(
        &self,
        path: &str,
        document: &Result<Vec<u8>, DocumentError>,
        observe: &PipelineObserver<'_>,
    ) -> FileResults {
        match document {
            Ok(bytes) => self.evaluate_bytes(path, bytes, observe),
            Err(error) => {
                self.evaluate_lazily::<Pipeline>(path, || Err(EvaluationError::DocumentParse(error.clone())))
            }
        }
    }

    /// Evaluates the rules on a document, without the layout, which no rule needs. Passes the pipeline to `observe` as
    /// [`Self::evaluate_document`] does.
    fn evaluate_bytes(&self, path: &str, document: &[u8], observe: &PipelineObserver<'_>) -> FileResults {
        self.evaluate_lazily(path, || {
            let tree = Tree::parse_without(document, LAYOUT_KEY).map_err(EvaluationError::DocumentParse)?;
            let pipeline = Pipeline::from_tree(&tree).map_err(EvaluationError::DocumentParse)?;
            observe(path, &pipeline, &tree);
            Ok(pipeline)
        })
    }

    /// Returns the results of many pipeline files, in the same order. The files are read one after the other and
    /// evaluated on all cores. Fails with the first error of `documents`.
    pub fn evaluate_all<E>(
        &self,
        documents: impl Iterator<Item = Result<(String, Result<Vec<u8>, DocumentError>), E>>,
        observe: &PipelineObserver<'_>,
    ) -> Result<Vec<FileResults>, E> {
        // The sizes limit how much content is in memory at once.
        let documents_with_sizes = documents.map(|document| {
            let (path, content) = document?;
            let size = content.as_ref().map_or(0, Vec::len);
            Ok(((path, content), size))
        });
        overlap::compute_all(documents_with_sizes, &|(path, document): (String, _)| {
            self.evaluate_document(&path, &document, observe)
        })
    }

    /// Returns the results as [`Self::evaluate`] does, for a pipeline that was already read.
    pub fn evaluate_pipeline(&self, path: &str, pipeline: &Pipeline) -> FileResults {
        self.evaluate_lazily(path, || Ok(pipeline))
    }

    /// Evaluates the rules on the pipeline that `read_pipeline` returns. The pipeline is not read if no rule is
    /// enabled, or if the rules file is unusable, which is then the only result.
    fn evaluate_lazily<P: Borrow<Pipeline>>(
        &self,
        path: &str,
        read_pipeline: impl FnOnce() -> Result<P, EvaluationError>,
    ) -> FileResults {
        let results = match &self.file {
            Err(error) => vec![build_error_result(RULES_FILE_RULE, None, error)],
            Ok(file) if file.rules.is_empty() => Vec::new(),
            Ok(file) => evaluate_rules(&file.rules, path, read_pipeline().as_ref().map(Borrow::borrow)),
        };
        FileResults {
            path: path.to_owned(),
            results,
            is_reviewed: true,
        }
    }
}

/// Evaluates the rules that apply to this kind of pipeline. If the pipeline cannot be parsed, the kind is that of its
/// file name. If its extension is unknown, all rules apply.
fn evaluate_rules(
    rules: &[EnabledRule],
    path: &str,
    pipeline: Result<&Pipeline, &EvaluationError>,
) -> Vec<RuleResult> {
    let kind = match pipeline {
        Ok(pipeline) => Some(pipeline.kind),
        Err(_) => PipelineKind::from_path(path),
    };
    let subject = pipeline.map(EvaluatedPipeline::new);
    rules
        .iter()
        .filter(|rule| kind.is_none_or(|kind| rule.kinds.contains(&kind)))
        .map(|rule| evaluate_rule(rule, subject.as_ref().map_err(|error| *error)))
        .collect()
}

/// Evaluates one rule. A rule or a pipeline that cannot be read results in an evaluation error.
fn evaluate_rule(
    rule: &EnabledRule,
    subject: Result<&EvaluatedPipeline<'_>, &EvaluationError>,
) -> RuleResult {
    let evaluator: &Evaluator = match &rule.evaluator {
        Ok(evaluator) => evaluator,
        Err(error) => return build_error_result(&rule.id, rule.enforcement, error),
    };
    let subject = match subject {
        Ok(subject) => subject,
        Err(error) => return build_error_result(&rule.id, rule.enforcement, error),
    };
    match evaluator(subject) {
        Ok(violations) => RuleResult::new(
            rule.id.clone(),
            derive_status(&violations, rule.enforcement),
            rule.enforcement,
            violations,
        ),
        Err(error) => build_error_result(&rule.id, rule.enforcement, &error),
    }
}

/// Returns the status for these violations at the level of the rule; an unknown level is treated as error.
fn derive_status(violations: &[Violation], enforcement: Option<Enforcement>) -> Status {
    if violations.is_empty() {
        return Status::Passed;
    }
    Status::Failed(match enforcement {
        Some(Enforcement::Warn) => Severity::Warning,
        Some(Enforcement::Error) | None => Severity::Error,
    })
}

/// Builds the result of a rule that could not be evaluated.
fn build_error_result(rule: &str, enforcement: Option<Enforcement>, error: &EvaluationError) -> RuleResult {
    RuleResult::new(
        rule.to_owned(),
        Status::Error(Some(error.error_type().to_owned())),
        enforcement,
        vec![Violation {
            line: error.line(),
            ..Violation::new(error.to_string())
        }],
    )
}
