//! The rule `start-and-end-components`.

use super::component_graph::is_start;
use super::error::EvaluationError;
use super::evaluated_pipeline::EvaluatedPipeline;
use super::rule::{Evaluator, Measure, Rule, RuleDocumentation};
use super::rule_config::RuleConfig;
use crate::findings::Violation;
use crate::pipelines::{Component, LinkRole, Pipeline, PipelineKind};

/// The component types that end a branch.
const END_TYPES: [&str; 2] = ["end-success", "end-failure"];

/// The only violation of a pipeline without a Start component.
const NO_START_VIOLATION: &str =
    "the pipeline has no Start component: add one and connect it to the first component";

pub(super) struct StartAndEndComponents;

impl Rule for StartAndEndComponents {
    fn documentation(&self) -> &'static RuleDocumentation {
        &DOCUMENTATION
    }

    /// Returns `Uncounted`: each violation is about its own subject, so there is no number that could get worse.
    fn measure(&self) -> Measure {
        Measure::Uncounted
    }

    /// Returns the violation of a pipeline without a Start component, which has no other violation of this rule.
    fn describe_missing_part(&self, pipeline: &Pipeline) -> Option<&'static str> {
        let has_start = pipeline.components.iter().any(is_start);
        (!has_start).then_some(NO_START_VIOLATION)
    }

    /// Returns transitions, because a broken transition may be the reason for a finding of this rule.
    fn link_role(&self) -> Option<LinkRole> {
        Some(LinkRole::Transition)
    }

    /// Creates the evaluator, which reports a missing Start component and each branch that does not end in an End
    /// component. The rule has no configuration.
    fn prepare(&self, _: &RuleConfig<'_, '_>) -> Result<Evaluator, EvaluationError> {
        Ok(Box::new(|subject| Ok(check_branch_ends(subject))))
    }
}

/// Returns a violation for each branch that does not end in an End component, or a single violation if there is no
/// Start component. The target of an iterator is not the end of a branch.
fn check_branch_ends(subject: &EvaluatedPipeline<'_>) -> Vec<Violation> {
    let graph = subject.graph();
    if !graph.has_start() {
        return vec![Violation {
            identity_text: Some(NO_START_VIOLATION),
            ..Violation::new(NO_START_VIOLATION)
        }];
    }
    let is_reachable = graph.compute_reachability_flags();
    let has_transition = graph.compute_outgoing_link_flags(LinkRole::Transition);
    let is_iteration_target = graph.compute_incoming_link_flags(&[LinkRole::IterationTarget]);
    subject.list_component_violations(
        |index, component| {
            let is_last_step = is_reachable.get(index) == Some(&true)
                && has_transition.get(index) == Some(&false)
                && is_iteration_target.get(index) == Some(&false);
            is_last_step && !is_end_component(component)
        },
        "is the last step of its branch: connect it to an End Success or End Failure component",
    )
}

/// Returns whether the component is an End component, which marks the end of a branch.
fn is_end_component(component: &Component) -> bool {
    component
        .kind
        .as_deref()
        .is_some_and(|kind| END_TYPES.contains(&kind))
}

static DOCUMENTATION: RuleDocumentation = RuleDocumentation {
    id: "start-and-end-components",
    kinds: &[PipelineKind::Orchestration],
    summary: "An orchestration must have a start component, and every branch must end in `end-success` or \
         `end-failure`.",
    reason: "If a branch just stops, it is unclear whether this is intended and whether the run succeeded.",
    fix: "Connect the last component of each branch to an End Success or End Failure component.",
    details: &[
        "A pipeline without a component of type `start` has exactly one violation, on line 1.",
        "A link to a missing component, or from a component to itself, is ignored.",
    ],
    assumptions: &[
        "A branch end is a component that is reachable from a start component, has no transition to an existing \
         component, and is not the iteration target of a component.",
        "An iterator without transitions and an unconnected start component are branch ends. A cycle has no \
         branch end and passes.",
        "The rule reports one violation for each branch end that is neither `end-success` nor `end-failure`, \
         on the line of its key.",
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
      transitions:
        success: [Done]
        failure: [Failed]
    Done:
      type: end-success
    Failed:
      type: end-failure
",
    failing_example: "\
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
};
