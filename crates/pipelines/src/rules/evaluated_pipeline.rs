//! A pipeline under evaluation, with data that several rules share.

use super::component_graph::ComponentGraph;
use crate::findings::Violation;
use crate::pipelines::{Component, NamedSubject, Pipeline, PipelineVariable, SubjectKind};
use sluicegate_yaml::Position;
use std::cell::OnceCell;

/// A pipeline under evaluation.
#[derive(Debug)]
pub struct EvaluatedPipeline<'p> {
    pub pipeline: &'p Pipeline,
    graph: OnceCell<ComponentGraph<'p>>,
}

impl<'p> EvaluatedPipeline<'p> {
    /// Creates the evaluated pipeline, whose graph is built when a rule first needs it.
    pub(crate) const fn new(pipeline: &'p Pipeline) -> Self {
        Self {
            pipeline,
            graph: OnceCell::new(),
        }
    }

    /// Returns the graph of the components, which is built at the first call.
    pub(crate) fn graph(&self) -> &ComponentGraph<'p> {
        self.graph.get_or_init(|| ComponentGraph::new(self.pipeline))
    }

    /// Returns a violation for each component for which `is_wrong` returns true, given the component's index and the
    /// component. Each message is the component's name, followed by `problem`.
    pub(crate) fn list_component_violations(
        &self,
        is_wrong: impl Fn(usize, &Component) -> bool,
        problem: &str,
    ) -> Vec<Violation> {
        self.pipeline
            .components
            .iter()
            .enumerate()
            .filter(|(index, component)| is_wrong(*index, component))
            .map(|(_, component)| {
                let subject = NamedSubject {
                    kind: SubjectKind::Component,
                    name: &component.name,
                };
                build_subject_violation(subject, component.position, problem)
            })
            .collect()
    }
}

/// Builds a violation about the entire pipeline, without a line; `problem` is the text after "the pipeline ".
pub(super) fn build_pipeline_violation(problem: &str) -> Violation {
    Violation::new(format!("{}{problem}", crate::pipelines::ABOUT_THE_PIPELINE))
}

/// Builds a violation about the entire pipeline, which has too many or too few items. `size` is the number of items,
/// so that a later comparison shows whether it got worse.
pub(super) fn build_size_violation(size: u64, problem: &str) -> Violation {
    Violation {
        size: Some(size),
        ..build_pipeline_violation(problem)
    }
}

/// Builds a violation about a variable, at its line; `problem` is the text after the variable's name.
pub(super) fn build_variable_violation(variable: &PipelineVariable, problem: &str) -> Violation {
    let subject = NamedSubject {
        kind: SubjectKind::Variable,
        name: &variable.name,
    };
    build_subject_violation(subject, variable.position, problem)
}

/// Builds a violation about a component or variable, at its line; `problem` is the text after its name.
fn build_subject_violation(subject: NamedSubject<'_>, position: Position, problem: &str) -> Violation {
    let NamedSubject { kind, name } = subject;
    let violation = Violation {
        line: Some(position.line),
        ..Violation::new(format!("{kind} \"{name}\" {problem}"))
    };
    violation.with_subject(subject)
}

pub(super) fn count_components(pipeline: &Pipeline) -> u64 {
    u64::try_from(pipeline.components.len()).unwrap_or(u64::MAX)
}
