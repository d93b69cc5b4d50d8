//! Runs the examples of the rules.

use super::evaluation_failure::EvaluationFailure;
use super::pipeline_record::PipelineRecords;
use super::team_rule::{RuleExample, TeamRule};
use super::team_rule_set::{MAX_STEPS, TeamRuleSet, find_violations};
use crate::pipelines::{LAYOUT_KEY, Pipeline, PipelineFiles};
use sluicegate_base::text::List;
use sluicegate_yaml::Tree;
use std::iter;

/// Maximum number of steps for all examples in a file together.
const MAX_EXAMPLE_STEPS: usize = 20_000_000;

/// Maximum number of messages in the description of an unexpected finding.
const MAX_LISTED_MESSAGES: usize = 3;

/// An example whose outcome differs from the expected outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleFailure {
    /// The full id of the rule.
    pub rule: String,
    /// The line of the example in the team rules file.
    pub line: u32,
    /// The path of the example's pipeline.
    pub path: String,
    /// The expected and the actual outcome, in one sentence.
    pub reason: String,
}

/// The outcome of all examples in a team rules file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExampleRun {
    pub example_count: usize,
    pub failures: Vec<ExampleFailure>,
}

impl TeamRuleSet {
    /// Runs the examples of all rules, even of rules that are off. In a `fails` example the rule must have a finding;
    /// in a `passes` example it must have none.
    pub fn run_examples(&self) -> ExampleRun {
        let mut run = ExampleRun::default();
        let mut remaining_steps = MAX_EXAMPLE_STEPS;
        for rule in self.rules() {
            for example in &rule.examples {
                run.example_count += 1;
                if let Err(reason) = run_example(rule, example, &mut remaining_steps) {
                    run.failures.push(ExampleFailure {
                        rule: rule.full_id(),
                        line: example.position.line,
                        path: example.path.clone(),
                        reason,
                    });
                }
            }
        }
        run
    }
}

/// Runs one example, and returns the difference between its expected and its actual outcome as an error. Takes the
/// steps of the evaluation from `remaining_steps`, which limits all examples together.
fn run_example(rule: &TeamRule, example: &RuleExample, remaining_steps: &mut usize) -> Result<(), String> {
    if !rule.applies_to(&example.path) {
        return if example.fails {
            Err("the example should fail, but the rule does not apply to its path".to_owned())
        } else {
            Ok(())
        };
    }
    let expected_outcome = if example.fails { "fail" } else { "pass" };
    let describe_error =
        |error| format!("the example should {expected_outcome}, but its pipeline cannot be read: {error}");
    let tree = Tree::parse_without(example.pipeline.as_bytes(), LAYOUT_KEY).map_err(describe_error)?;
    let pipeline = Pipeline::from_tree(&tree).map_err(describe_error)?;
    let paths = example.project.iter().chain(iter::once(&example.path));
    let files = PipelineFiles::new(paths.map(String::as_str));
    let records = PipelineRecords::new(&example.path, &tree, &pipeline, &files);
    let allowed_steps = MAX_STEPS.min(*remaining_steps);
    let mut unused_steps = allowed_steps;
    let result = find_violations(rule, &records, &mut unused_steps);
    // A failed evaluation does not report the steps that it took, so all of them count.
    *remaining_steps -= match &result {
        Ok(_) => allowed_steps - unused_steps,
        Err(_) => allowed_steps,
    };
    let violations = result.map_err(|failure| {
        let reason = match failure.failure {
            EvaluationFailure::CostLimit if allowed_steps < MAX_STEPS => {
                "the examples of the file together take too many steps".to_owned()
            }
            _ => failure.describe(),
        };
        format!("the example should {expected_outcome}, but the rule could not be evaluated: {reason}")
    })?;
    match (example.fails, violations.as_slice()) {
        (true, []) => Err("the example should fail, but the rule reports no finding".to_owned()),
        (false, [_, ..]) => {
            let messages = violations.iter().map(|violation| violation.text.as_str());
            Err(format!(
                "the example should pass, but the rule reports a finding: {}",
                List::with_limit(messages, MAX_LISTED_MESSAGES).join_with_semicolons()
            ))
        }
        _ => Ok(()),
    }
}
