//! Evaluates the rules of the team.

use super::evaluation_failure::EvaluationFailure;
use super::expression_evaluation::ExpressionEvaluation;
use super::expression_value::ExpressionValue;
use super::pipeline_record::PipelineRecords;
use super::record_field::RuleSubject;
use super::team_rule::{TeamRule, is_rule_id};
use super::team_rules_file::read_team_rules_file;
use crate::findings::{
    FileResults, LINK_ARROW, Origin, RuleResult, Severity, Status, TEAM_PREFIX, UNUSABLE_TEAM_RULES_TYPE,
    Violation,
};
use crate::pipelines::{LAYOUT_KEY, Pipeline, PipelineFiles, SubjectKind};
use crate::rules::{EvaluationError, LintProblem};
use sluicegate_base::text::shorten_name;
use sluicegate_yaml::{DocumentError, NodeRef, Tree};
use std::collections::HashSet;

/// Maximum number of steps of a rule in a file.
pub(super) const MAX_STEPS: usize = 1_000_000;

/// The error type of a rule whose expression has no value.
const EVALUATION_ERROR_TYPE: &str = "team/evaluation-error";

/// The error type of a rule whose evaluation costs too much.
const COST_LIMIT_TYPE: &str = "team/cost-limit";

/// The rule of a result about the whole rules file.
const RULES_FILE_ID: &str = "team/rules-file";

/// The rules of a team, in the order of the file.
#[derive(Debug, Default)]
pub struct TeamRuleSet {
    rules: Vec<TeamRule>,
}

impl TeamRuleSet {
    /// Parses the rules file. Fails with all problems that make a rule unusable; warnings are omitted.
    pub fn parse(bytes: &[u8]) -> Result<Self, Vec<LintProblem>> {
        let file = read_team_rules_file(bytes);
        let mut errors = file.problems;
        errors.retain(|problem| problem.is_error);
        if errors.is_empty() {
            Ok(Self { rules: file.rules })
        } else {
            Err(errors)
        }
    }

    /// Parses only the valid rules of a rules file that may have problems.
    pub fn parse_valid_rules(bytes: &[u8]) -> Self {
        Self {
            rules: read_team_rules_file(bytes).rules,
        }
    }

    /// Parses the rules of a repaired rules file that the broken version has only in an unusable form: its own rules
    /// with the id of such a rule. If an id of the broken version cannot be read, these are all rules that it lacks.
    pub fn parse_repaired_rules(broken_bytes: &[u8], repaired_bytes: &[u8]) -> Self {
        let broken_ids = list_rule_ids(broken_bytes);
        let usable_rules = Self::parse_valid_rules(broken_bytes);
        let mut rules = Self::parse_valid_rules(repaired_bytes).rules;
        rules.retain(|rule| {
            let is_in_broken_version = broken_ids.as_ref().is_none_or(|ids| ids.contains(&rule.id));
            is_in_broken_version && usable_rules.find_team_rule(&rule.id).is_none()
        });
        Self { rules }
    }

    /// Adds these rules, except for those whose id a rule of this set has.
    pub fn add_missing_rules(&mut self, rule_set: Self) {
        for rule in rule_set.rules {
            if self.find_team_rule(&rule.id).is_none() {
                self.rules.push(rule);
            }
        }
    }

    /// Returns all rules in the order of the file, including rules that are off.
    pub fn rules(&self) -> &[TeamRule] {
        &self.rules
    }

    /// Returns the rule with this id; the prefix `team/` is optional.
    pub fn find_team_rule(&self, id: &str) -> Option<&TeamRule> {
        let id = id.strip_prefix(TEAM_PREFIX).unwrap_or(id);
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// Returns whether a rule with this full id exists, even if it is off.
    pub fn has_rule(&self, full_id: &str) -> bool {
        full_id.starts_with(TEAM_PREFIX) && self.find_team_rule(full_id).is_some()
    }

    /// Returns whether any enforced rule applies to the pipeline at this path.
    pub fn applies_to(&self, path: &str) -> bool {
        self.rules.iter().any(|rule| is_enforced_at(rule, path))
    }

    /// Returns the results of the rules that apply to the pipeline at this path. If the pipeline cannot be read, each
    /// result is an error. `files` contains the project's pipelines, so that calls can be resolved.
    pub fn evaluate(
        &self,
        path: &str,
        document: &Result<Vec<u8>, DocumentError>,
        files: &PipelineFiles<'_>,
    ) -> FileResults {
        let tree = match document {
            Ok(bytes) => Tree::parse_without(bytes, LAYOUT_KEY),
            Err(error) => Err(error.clone()),
        };
        let pipeline = match &tree {
            Ok(tree) => Pipeline::from_tree(tree),
            Err(error) => Err(error.clone()),
        };
        match (&tree, &pipeline) {
            (Ok(tree), Ok(pipeline)) => self.evaluate_pipeline(path, pipeline, tree, files),
            (Err(error), _) | (_, Err(error)) => {
                let error = EvaluationError::DocumentParse(error.clone());
                let rules = self.enforced_rules_at(path);
                FileResults {
                    path: path.to_owned(),
                    results: rules.map(|rule| build_unreadable_result(rule, &error)).collect(),
                    is_reviewed: false,
                }
            }
        }
    }

    /// Returns the same results as [`Self::evaluate`] for a pipeline that was already read from `tree`.
    pub fn evaluate_pipeline(
        &self,
        path: &str,
        pipeline: &Pipeline,
        tree: &Tree<'_>,
        files: &PipelineFiles<'_>,
    ) -> FileResults {
        let mut results = Vec::new();
        let mut rules = self.enforced_rules_at(path).peekable();
        if rules.peek().is_some() {
            let records = PipelineRecords::new(path, tree, pipeline, files);
            for rule in rules {
                let mut remaining_steps = MAX_STEPS;
                results.push(build_rule_result(
                    rule,
                    find_violations(rule, &records, &mut remaining_steps),
                ));
            }
        }
        FileResults {
            path: path.to_owned(),
            results,
            is_reviewed: false,
        }
    }

    /// Returns the enforced rules that apply to the pipeline at this path.
    fn enforced_rules_at(&self, path: &str) -> impl Iterator<Item = &TeamRule> {
        self.rules.iter().filter(move |rule| is_enforced_at(rule, path))
    }
}

/// Returns whether the rule is not off and applies to the pipeline at this path.
fn is_enforced_at(rule: &TeamRule, path: &str) -> bool {
    rule.level.is_some() && rule.applies_to(path)
}

/// A rule that could not be evaluated: the reason, and the line of its subject.
#[derive(Debug)]
pub(super) struct RuleFailure {
    pub failure: EvaluationFailure,
    subject: String,
    line: u32,
}

impl RuleFailure {
    /// Describes the failure in one sentence, which begins with the subject.
    pub(super) fn describe(&self) -> String {
        let reason = match &self.failure {
            EvaluationFailure::CostLimit => "the evaluation takes too many steps for this file",
            EvaluationFailure::Failed(reason) => reason,
        };
        format!("{}{reason}", self.subject)
    }
}

/// Returns a rule's findings in a pipeline, in file order. Fails at the first subject that cannot be evaluated.
/// `remaining_steps` limits the evaluation, and is reduced by its steps if it succeeds.
pub(super) fn find_violations(
    rule: &TeamRule,
    records: &PipelineRecords<'_>,
    remaining_steps: &mut usize,
) -> Result<Vec<Violation>, RuleFailure> {
    let mut violations = Vec::new();
    let mut evaluation = ExpressionEvaluation {
        variables: Vec::new(),
        remaining_steps: *remaining_steps,
    };
    for subject in records.list_subjects(rule.subject) {
        // Expressions refer to these variables by their index, so the order is the same as in `compile_expression`.
        evaluation.variables = vec![records.pipeline.clone(), records.project.clone()];
        if rule.subject != RuleSubject::Pipeline {
            evaluation.variables.push(subject.clone());
        }
        match find_violation_message(rule, &mut evaluation) {
            Ok(Some(message)) => violations.push(build_violation(rule.subject, &subject, message)),
            Ok(None) => {}
            Err(failure) => {
                return Err(RuleFailure {
                    failure,
                    subject: describe_subject(rule.subject, &subject),
                    line: subject_line(&subject),
                });
            }
        }
    }
    *remaining_steps = evaluation.remaining_steps;
    Ok(violations)
}

/// Returns the message of a rule about the subject in the variables of `evaluation`; `None` if the subject does not
/// violate the rule.
fn find_violation_message<'m>(
    rule: &'m TeamRule,
    evaluation: &mut ExpressionEvaluation<'m>,
) -> Result<Option<String>, EvaluationFailure> {
    if !evaluation.evaluate_condition(&rule.expression.root)? {
        return Ok(None);
    }
    rule.template.render(evaluation).map(Some)
}

/// Returns the line of the subject in the file.
fn subject_line(subject: &ExpressionValue<'_>) -> u32 {
    match subject {
        ExpressionValue::Record(record) => record.line,
        _ => 1,
    }
}

/// Returns the name of the subject for findings; `None` for the pipeline itself. The name of a call is the calling
/// component.
fn find_subject_name(kind: RuleSubject, subject: &ExpressionValue<'_>) -> Option<String> {
    let ExpressionValue::Record(record) = subject else {
        return None;
    };
    match kind {
        RuleSubject::Pipeline => None,
        RuleSubject::Component | RuleSubject::Variable => Some(record.text_field("name").to_owned()),
        RuleSubject::Call => Some(record.text_field("from").to_owned()),
        RuleSubject::Link => Some(format!(
            "{}{LINK_ARROW}{}",
            record.text_field("from"),
            record.text_field("to")
        )),
    }
}

/// Returns the start of a message about the subject: its kind and its name, or nothing for the pipeline itself.
fn describe_subject(kind: RuleSubject, subject: &ExpressionValue<'_>) -> String {
    find_subject_name(kind, subject)
        .map_or_else(String::new, |name| format!("{kind} `{}`: ", shorten_name(&name)))
}

/// Builds the violation of a rule by this subject. A call is reported as a finding about the component that contains
/// it. A link has a name but no kind, because [`SubjectKind`] includes only components and variables.
fn build_violation(kind: RuleSubject, subject: &ExpressionValue<'_>, message: String) -> Violation {
    Violation {
        line: Some(subject_line(subject)),
        about: find_subject_name(kind, subject),
        about_kind: match kind {
            RuleSubject::Component | RuleSubject::Call => Some(SubjectKind::Component),
            RuleSubject::Variable => Some(SubjectKind::Variable),
            RuleSubject::Pipeline | RuleSubject::Link => None,
        },
        ..Violation::new(message)
    }
}

/// Builds the result of a team rule from its violations. If the rule could not be evaluated, the result is an error
/// whose only violation contains the reason. Only enforced rules are evaluated, so the level is never missing.
fn build_rule_result(rule: &TeamRule, violations: Result<Vec<Violation>, RuleFailure>) -> RuleResult {
    let (status, violations) = match violations {
        Ok(violations) if violations.is_empty() => (Status::Passed, violations),
        Ok(violations) => {
            let severity = rule.level.map_or(Severity::Error, Severity::from_enforcement);
            (Status::Failed(severity), violations)
        }
        Err(failure) => {
            let error_type = match failure.failure {
                EvaluationFailure::CostLimit => COST_LIMIT_TYPE,
                EvaluationFailure::Failed(_) => EVALUATION_ERROR_TYPE,
            };
            let violation = Violation {
                line: Some(failure.line),
                ..Violation::new(failure.describe())
            };
            (Status::Error(Some(error_type.to_owned())), vec![violation])
        }
    };
    RuleResult {
        origin: Origin::Team,
        ..RuleResult::new(rule.full_id(), status, rule.level, violations)
    }
}

/// Builds the result of a rule for a pipeline that cannot be read: an error with the reason.
fn build_unreadable_result(rule: &TeamRule, error: &EvaluationError) -> RuleResult {
    let violation = Violation {
        line: error.line(),
        ..Violation::new(error.to_string())
    };
    RuleResult {
        origin: Origin::Team,
        ..RuleResult::new(
            rule.full_id(),
            Status::Error(Some(error.error_type().to_owned())),
            rule.level,
            vec![violation],
        )
    }
}

/// Returns the ids of all rules of a rules file, also those of unusable rules. Returns `None` if one of them cannot be
/// read.
fn list_rule_ids(bytes: &[u8]) -> Option<HashSet<String>> {
    let tree = Tree::parse(bytes).ok()?;
    let mut items = tree.root().get("rules")?.items()?;
    items.try_fold(HashSet::new(), |mut ids, item| {
        ids.insert(
            item.get("id")
                .and_then(NodeRef::text)
                .filter(|id| is_rule_id(id))?
                .to_owned(),
        );
        Some(ids)
    })
}

/// Builds the result for a pipeline on which not all team rules could be evaluated, because their file cannot be used
/// for this reason.
pub fn build_unusable_file_result(reason: &str) -> RuleResult {
    RuleResult {
        origin: Origin::Team,
        ..RuleResult::new(
            RULES_FILE_ID.to_owned(),
            Status::Error(Some(UNUSABLE_TEAM_RULES_TYPE.to_owned())),
            None,
            vec![Violation::new(reason)],
        )
    }
}
