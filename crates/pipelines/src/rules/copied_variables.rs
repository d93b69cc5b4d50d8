//! The rule `copied-variables`.

use super::error::EvaluationError;
use super::evaluated_pipeline::{EvaluatedPipeline, build_variable_violation};
use super::rule::{Evaluator, Measure, Rule, RuleDocumentation};
use super::rule_config::RuleConfig;
use crate::findings::Violation;
use crate::pipelines::PipelineKind;
use std::collections::HashSet;

/// The value of `concurrency` that runs iterations concurrently.
const CONCURRENT_MODE: &str = "Concurrent";

/// The scope in which each iteration has its own value.
const COPIED_SCOPE: &str = "COPIED";

pub(super) struct CopiedVariables;

impl Rule for CopiedVariables {
    fn documentation(&self) -> &'static RuleDocumentation {
        &DOCUMENTATION
    }

    /// Returns `Uncounted`: each violation is about its own subject, so there is no number that could get worse.
    fn measure(&self) -> Measure {
        Measure::Uncounted
    }

    /// Creates the evaluator, which reports variables whose scope COPIED has no effect. The rule has no configuration.
    fn prepare(&self, _: &RuleConfig<'_, '_>) -> Result<Evaluator, EvaluationError> {
        Ok(Box::new(|subject| Ok(check_copied_variables(subject))))
    }
}

/// Returns a violation for each variable with the scope COPIED that no concurrent iterator sets.
fn check_copied_variables(subject: &EvaluatedPipeline<'_>) -> Vec<Violation> {
    let concurrent_variables = list_concurrent_variables(subject);
    let problem = match subject.pipeline.kind {
        PipelineKind::Orchestration => {
            "has the scope COPIED, but no concurrent iterator sets the variable: change the scope to \
             SHARED, or map the variable in a concurrent iterator"
        }
        PipelineKind::Transformation => {
            "has the scope COPIED, which has no effect in a transformation: change the scope to SHARED"
        }
    };
    subject
        .pipeline
        .variables
        .iter()
        .filter(|variable| variable.scope.as_deref() == Some(COPIED_SCOPE))
        .filter(|variable| !concurrent_variables.contains(variable.name.as_str()))
        .map(|variable| build_variable_violation(variable, problem))
        .collect()
}

/// Returns the names of the variables that the concurrent iterators of an orchestration set. Returns no names for a
/// transformation, where every copied variable is a violation.
fn list_concurrent_variables<'p>(subject: &EvaluatedPipeline<'p>) -> HashSet<&'p str> {
    if subject.pipeline.kind == PipelineKind::Transformation {
        return HashSet::new();
    }
    subject
        .pipeline
        .components
        .iter()
        .filter(|component| component.concurrency.as_deref() == Some(CONCURRENT_MODE))
        .flat_map(|component| component.iteration_variables.iter().map(String::as_str))
        .collect()
}

static DOCUMENTATION: RuleDocumentation = RuleDocumentation {
    id: "copied-variables",
    kinds: &PipelineKind::ALL,
    summary: "Every variable with the scope COPIED must be set by an iterator that runs its iterations \
         concurrently.",
    reason: "A copied variable loses its value at the end of its branch. Concurrent iterations need this \
         behavior, but everywhere else, the behavior leads to wrong values.",
    fix: "Set the variable's scope to SHARED, or map the variable in an iterator that runs its iterations concurrently.",
    details: &[
        "An iterator is concurrent if its parameter `concurrency` is exactly `Concurrent`; expressions are \
         not evaluated.",
        "Iteration variables are those in `gridIteratorVariableMapping` (grid-iterator), `columnMapping` and \
         `columnMapping1` (table-iterator), `variables` (file-iterator), `variablesToIterate` (fixed-iterator) and \
         `variableToIterate` (loop-iterator).",
        "In a transformation, every variable with the scope COPIED is a violation.",
    ],
    assumptions: &[
        "The rule reports one violation for each variable with the scope COPIED that no concurrent iterator \
         of the same pipeline sets, on the line of its key.",
        "Skipped iterators are included.",
    ],
    config: &[],
    example_config: "",
    passing_example: "\
type: orchestration
pipeline:
  components:
    Each country:
      type: fixed-iterator
      iterationTarget: Load
      parameters:
        concurrency: Concurrent
        variablesToIterate: [country]
    Load:
      type: run-transformation
  variables:
    country:
      metadata: { type: TEXT, scope: COPIED }
",
    failing_example: "\
type: orchestration
pipeline:
  components:
    Each country:
      type: fixed-iterator
      iterationTarget: Load
      parameters:
        concurrency: Sequential
        variablesToIterate: [country]
    Load:
      type: run-transformation
  variables:
    country:
      metadata: { type: TEXT, scope: COPIED }
",
};
