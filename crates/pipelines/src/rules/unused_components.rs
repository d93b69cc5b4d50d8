//! The rule `unused-components`.

use super::error::EvaluationError;
use super::evaluated_pipeline::{EvaluatedPipeline, count_components};
use super::rule::{Evaluator, Measure, Rule, RuleDocumentation};
use super::rule_config::RuleConfig;
use crate::findings::Violation;
use crate::pipelines::{LinkRole, PipelineKind};

pub(super) struct UnusedComponents;

impl Rule for UnusedComponents {
    fn documentation(&self) -> &'static RuleDocumentation {
        &DOCUMENTATION
    }

    /// Returns `Uncounted`: each violation is about its own subject, so there is no number that could get worse.
    fn measure(&self) -> Measure {
        Measure::Uncounted
    }

    /// Returns sources: in a transformation, a component may be unconnected because its only source is missing. In an
    /// orchestration, the links that a component declares do not decide whether it is reachable itself.
    fn link_role(&self) -> Option<LinkRole> {
        Some(LinkRole::Source)
    }

    /// Creates the evaluator, which reports each component that has no effect. The rule has no configuration.
    fn prepare(&self, _: &RuleConfig<'_, '_>) -> Result<Evaluator, EvaluationError> {
        Ok(Box::new(check_connections))
    }
}

/// Returns a violation for each component that has no effect because its connections are missing.
fn check_connections(subject: &EvaluatedPipeline<'_>) -> Result<Vec<Violation>, EvaluationError> {
    match subject.pipeline.kind {
        PipelineKind::Orchestration => check_reachability(subject),
        PipelineKind::Transformation => Ok(check_isolated_components(subject)),
    }
}

/// Returns a violation for each component of an orchestration that cannot be reached from the Start component. Fails if
/// there is no Start component.
fn check_reachability(subject: &EvaluatedPipeline<'_>) -> Result<Vec<Violation>, EvaluationError> {
    if !subject.graph().has_start() {
        return Err(EvaluationError::NoStartComponent);
    }
    let is_reachable = subject.graph().compute_reachability_flags();
    Ok(subject.list_component_violations(
        |index, _| is_reachable.get(index) == Some(&false),
        "never runs because no connection leads to it from the Start component: connect it or delete it",
    ))
}

/// Returns a violation for each component of a transformation without connections, unless it is the only component.
fn check_isolated_components(subject: &EvaluatedPipeline<'_>) -> Vec<Violation> {
    if count_components(subject.pipeline) < 2 {
        return Vec::new();
    }
    // A component names its sources, so a component that another one names has a successor.
    let has_successor = subject.graph().compute_incoming_link_flags(&[LinkRole::Source]);
    let has_source = subject.graph().compute_outgoing_link_flags(LinkRole::Source);
    subject.list_component_violations(
        |index, _| has_successor.get(index) == Some(&false) && has_source.get(index) == Some(&false),
        "is not connected to any other component: connect it or delete it",
    )
}

static DOCUMENTATION: RuleDocumentation = RuleDocumentation {
    id: "unused-components",
    kinds: &PipelineKind::ALL,
    summary: "Every component must be connected.",
    reason: "A component that never runs misleads readers of the pipeline and may hide a forgotten \
         connection.",
    fix: "Connect the component to the rest of the pipeline, or delete it.",
    details: &[
        "A link to a missing component, or from a component to itself, is ignored.",
        "An orchestration without a start component cannot be evaluated: `designer/no-start-component`.",
        "The rule reports one violation for each unconnected component, on the line of its key.",
    ],
    assumptions: &[
        "In an orchestration, a component is unconnected if no chain of transitions and iteration targets leads to \
         it from a component of type `start`.",
        "In a transformation, a component is unconnected if it is not a source of another component and has \
         no source itself; a single component is never unconnected.",
        "Skipped components are checked like all others.",
    ],
    config: &[],
    example_config: "",
    passing_example: "\
type: orchestration
pipeline:
  components:
    Start:
      type: start
      transitions:
        unconditional: [Load]
    Load:
      type: run-transformation
",
    failing_example: "\
type: orchestration
pipeline:
  components:
    Start:
      type: start
    Load:
      type: run-transformation
",
};
