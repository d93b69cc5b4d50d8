//! The rule `unused-components`.

use super::config::Config;
use super::error::EvaluationError;
use super::rule::{Documentation, Evaluator, Measure, Rule};
use super::subject::{Subject, component_count};
use crate::findings::Violation;
use crate::pipelines::{Kind, LinkRole};

pub(super) struct UnusedComponents;

impl Rule for UnusedComponents {
    fn documentation(&self) -> &'static Documentation {
        &DOCUMENTATION
    }

    fn measure(&self) -> Measure {
        Measure::Uncounted
    }

    fn link_role(&self) -> Option<LinkRole> {
        Some(LinkRole::Source)
    }

    fn prepare(&self, _: &Config<'_, '_>) -> Result<Evaluator, EvaluationError> {
        Ok(Box::new(violations))
    }
}

fn violations(subject: &Subject<'_>) -> Result<Vec<Violation>, EvaluationError> {
    match subject.pipeline.kind {
        Kind::Orchestration => orchestration(subject),
        Kind::Transformation => Ok(transformation(subject)),
    }
}

fn orchestration(subject: &Subject<'_>) -> Result<Vec<Violation>, EvaluationError> {
    if !subject.graph().has_start() {
        return Err(EvaluationError::NoStartComponent);
    }
    let reachable = subject.graph().reachable();
    Ok(subject.violations_of_components(
        |at, _| reachable.get(at) == Some(&false),
        "never runs, as no connection leads to it from the Start component: connect it or delete it",
    ))
}

fn transformation(subject: &Subject<'_>) -> Vec<Violation> {
    if component_count(subject.pipeline) < 2 {
        return Vec::new();
    }
    let feeds = subject.graph().linked_to(&[LinkRole::Source]);
    let is_fed = subject.graph().links_on(LinkRole::Source);
    subject.violations_of_components(
        |at, _| feeds.get(at) == Some(&false) && is_fed.get(at) == Some(&false),
        "is not connected to any other component: connect it or delete it",
    )
}

static DOCUMENTATION: Documentation = Documentation {
    id: "unused-components",
    kinds: &Kind::ALL,
    summary: "No component is unconnected.",
    reason: "A component that never runs misleads readers of the pipeline and may hide a forgotten \
         connection.",
    fix: "Connect the component to the rest of the pipeline, or delete it.",
    details: &[
        "A link to a missing component, or from a component to itself, is ignored.",
        "An orchestration without a start component cannot be evaluated: `designer/no-start-component`.",
        "The rule reports one violation for each unconnected component, on the line of its key.",
    ],
    assumed: &[
        "In an orchestration, a component is unconnected if no chain of transitions and iteration targets leads to \
         it from a component of type `start`.",
        "In a transformation, a component is unconnected if it is not a source of another component and has \
         no source itself; a single component is never unconnected.",
        "Skipped components are checked like all others.",
    ],
    config: &[],
    example_config: "",
    passes: "\
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
    fails: "\
type: orchestration
pipeline:
  components:
    Start:
      type: start
    Load:
      type: run-transformation
",
};
