//! Simulates the execution of a pipeline.
//!
//! No component is really run: each is assumed to succeed. The walk begins at the start component and follows the
//! transitions that succeed: `unconditional`, `success` and `true`. If a component has none of these, the walk follows
//! its other transitions, so that it reaches an end component if there is one.

use sluicegate_pipelines::pipelines::{Component, LinkRole, Pipeline, PipelineKind, TransitionCondition};
use sluicegate_yaml::DocumentError;
use std::collections::{HashMap, HashSet};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SimulatedExecution {
    pub success: bool,
    pub message: String,
    pub steps: u32,
}

impl SimulatedExecution {
    /// Creates the result of a pipeline that could not run: a failure without any steps.
    fn failure(message: String) -> Self {
        Self {
            success: false,
            message,
            steps: 0,
        }
    }
}

/// Simulates an execution of the pipeline in this document: follows the transitions of an orchestration, and lets every
/// transformation succeed. A pipeline that cannot be read or parsed fails.
pub(super) fn simulate_execution(document: Result<Vec<u8>, DocumentError>) -> SimulatedExecution {
    match document.and_then(|bytes| Pipeline::parse(&bytes)) {
        Err(error) => SimulatedExecution::failure(format!("The pipeline cannot be read: {error}")),
        Ok(pipeline) if pipeline.kind == PipelineKind::Transformation => SimulatedExecution {
            success: true,
            message: "The transformation ran to its end".to_owned(),
            steps: saturate_count(pipeline.components.len()),
        },
        Ok(pipeline) => simulate_orchestration(&pipeline.components),
    }
}

/// Follows the links from the start components, each component once, as if every component succeeded. The execution
/// fails if any End Failure component is reached, even if an End Success component is reached, too.
fn simulate_orchestration(components: &[Component]) -> SimulatedExecution {
    let components_by_name: HashMap<&str, &Component> = components
        .iter()
        .map(|component| (component.name.as_str(), component))
        .collect();
    let mut pending_components: Vec<&Component> = components
        .iter()
        .filter(|component| is_of_kind(component, "start"))
        .collect();
    if pending_components.is_empty() {
        return SimulatedExecution::failure("The pipeline has no start component".to_owned());
    }
    let mut visited_names: HashSet<&str> = HashSet::new();
    // The first end component of each kind that the walk reaches.
    let mut failure_end: Option<&Component> = None;
    let mut success_end: Option<&Component> = None;
    while let Some(component) = pending_components.pop() {
        let is_new = visited_names.insert(component.name.as_str());
        if !is_new {
            continue;
        }
        if is_of_kind(component, "end-failure") {
            failure_end = failure_end.or(Some(component));
        } else if is_of_kind(component, "end-success") {
            success_end = success_end.or(Some(component));
        }
        for next_name in list_next_names(component) {
            pending_components.extend(components_by_name.get(next_name).copied());
        }
    }
    let message = match failure_end.or(success_end) {
        Some(end) => format!("The pipeline ended at `{}`", end.name),
        None => "The pipeline succeeded without reaching an end component".to_owned(),
    };
    SimulatedExecution {
        success: failure_end.is_none(),
        message,
        steps: saturate_count(visited_names.len()),
    }
}

fn is_of_kind(component: &Component, kind: &str) -> bool {
    component.kind.as_deref() == Some(kind)
}

/// Returns the names of the components that follow this one if it succeeds. If the component has only transitions for a
/// failure, these are followed, so that the walk can reach an end component.
fn list_next_names(component: &Component) -> impl Iterator<Item = &str> {
    let has_success_transition = component
        .links
        .iter()
        .any(|link| link.role == LinkRole::Transition && !is_failure_condition(link.condition));
    component
        .links
        .iter()
        .filter(move |link| {
            link.role != LinkRole::Transition
                || !is_failure_condition(link.condition)
                || !has_success_transition
        })
        .map(|link| link.name.as_str())
}

/// Returns whether a transition with this condition is followed only if its component fails or its result is false.
fn is_failure_condition(condition: Option<TransitionCondition>) -> bool {
    matches!(
        condition,
        Some(TransitionCondition::Failure | TransitionCondition::False)
    )
}

/// Converts a count to 32 bits; a larger count becomes the maximum.
fn saturate_count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(components: &str) -> (bool, String) {
        let document = format!("type: orchestration\npipeline:\n  components:\n{components}");
        let outcome = simulate_execution(Ok(document.into_bytes()));
        (outcome.success, outcome.message)
    }

    #[test]
    fn way_of_success_is_taken() {
        let both = "    S: { type: start, transitions: { unconditional: [A] } }
    A: { type: x, transitions: { success: [Good], failure: [Bad] } }
    Good: { type: end-success }
    Bad: { type: end-failure }\n";
        assert_eq!(ends(both), (true, "The pipeline ended at `Good`".into()));
        let condition = "    S: { type: start, transitions: { unconditional: [A] } }
    A: { type: if, transitions: { false: [Good], true: [Bad] } }
    Good: { type: end-success }
    Bad: { type: end-failure }\n";
        assert_eq!(ends(condition), (false, "The pipeline ended at `Bad`".into()));
    }

    #[test]
    fn any_failure_on_the_way_fails_it() {
        let parallel = "    S: { type: start, transitions: { unconditional: [Good, Bad] } }
    Good: { type: end-success }
    Bad: { type: end-failure }\n";
        assert!(!ends(parallel).0);
        let only_failure = "    S: { type: start, transitions: { unconditional: [A] } }
    A: { type: x, transitions: { failure: [Bad] } }
    Bad: { type: end-failure }\n";
        assert!(!ends(only_failure).0);
        let unreached = "    S: { type: start }\n    Bad: { type: end-failure }\n";
        assert_eq!(
            ends(unreached),
            (
                true,
                "The pipeline succeeded without reaching an end component".into()
            )
        );
    }

    #[test]
    fn cycles_iterators_and_links_to_nothing_end_too() {
        let cycle = "    S: { type: start, transitions: { unconditional: [I, none] } }
    I: { type: loop-iterator, iterationTarget: T, transitions: { success: [S] } }
    T: { type: x, transitions: { success: [I] } }\n";
        assert!(ends(cycle).0);
    }

    #[test]
    fn execution_of_broken_pipeline_fails() {
        assert_eq!(
            ends("    A: { type: x }\n").1,
            "The pipeline has no start component"
        );
        assert!(
            simulate_execution(Ok(b"a: [".to_vec()))
                .message
                .starts_with("The pipeline cannot be read: ")
        );
        assert!(simulate_execution(Ok(b"type: transformation\npipeline: {}".to_vec())).success);
        let message = simulate_execution(Err(DocumentError::too_large())).message;
        assert!(message.starts_with("The pipeline cannot be read: "), "{message}");
    }
}
