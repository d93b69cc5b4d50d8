//! Simulates the execution of a pipeline.
//!
//! No component is really run: each is assumed to succeed. The walk begins at the start component and follows the
//! transitions that succeed: `unconditional`, `success` and `true`. If a component has none of these, the walk follows
//! its other transitions, so that it reaches an end marker if there is one.

use sluicegate_pipelines::pipelines::{Component, LinkRole, Pipeline, PipelineKind, TransitionCondition};
use std::collections::HashMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ending {
    pub success: bool,
    pub message: String,
    pub steps: u32,
}

impl Ending {
    /// Creates the end of a pipeline that could not run.
    fn for_failure(message: String) -> Self {
        Self {
            success: false,
            message,
            steps: 0,
        }
    }
}

/// Walks through the pipeline in this document.
pub(super) fn walk(document: &[u8]) -> Ending {
    match Pipeline::parse(document) {
        Err(error) => Ending::for_failure(format!("The pipeline cannot be read: {error}")),
        Ok(pipeline) if pipeline.kind == PipelineKind::Transformation => Ending {
            success: true,
            message: "The transformation ran to its end".to_owned(),
            steps: count(pipeline.components.len()),
        },
        Ok(pipeline) => walk_components(&pipeline.components),
    }
}

/// Follows the links from the start components, as if every component succeeded. Returns how the pipeline ends.
fn walk_components(components: &[Component]) -> Ending {
    let index: HashMap<&str, usize> = components
        .iter()
        .enumerate()
        .map(|(at, component)| (component.name.as_str(), at))
        .collect();
    let is = |component: &Component, kind: &str| component.kind.as_deref() == Some(kind);
    let mut waiting: Vec<&Component> = components.iter().filter(|c| is(c, "start")).collect();
    if waiting.is_empty() {
        return Ending::for_failure("The pipeline has no start component".to_owned());
    }
    let mut reached = vec![false; components.len()];
    let (mut steps, mut success, mut failure) = (0, None, None);
    while let Some(component) = waiting.pop() {
        let new = index
            .get(component.name.as_str())
            .and_then(|at| reached.get_mut(*at))
            .is_some_and(|mark| !std::mem::replace(mark, true));
        if !new {
            continue;
        }
        steps += 1;
        if is(component, "end-failure") {
            failure = failure.or(Some(component));
        } else if is(component, "end-success") {
            success = success.or(Some(component));
        }
        let next = list_followed_links(component).filter_map(|name| components.get(*index.get(name)?));
        waiting.extend(next);
    }
    let message = match failure.or(success) {
        Some(end) => format!("The pipeline ended at `{}`", end.name),
        None => "The pipeline ran to its end without an end marker".to_owned(),
    };
    Ending {
        success: failure.is_none(),
        message,
        steps: count(steps),
    }
}

/// Returns the components that follow this one if it succeeds.
fn list_followed_links(component: &Component) -> impl Iterator<Item = &str> {
    let of_success = |condition: Option<TransitionCondition>| {
        !matches!(
            condition,
            Some(TransitionCondition::Failure | TransitionCondition::False)
        )
    };
    let is_transition = |role: LinkRole| role == LinkRole::Transition;
    let succeeds = component
        .links
        .iter()
        .any(|link| is_transition(link.role) && of_success(link.condition));
    component
        .links
        .iter()
        .filter(move |link| !is_transition(link.role) || of_success(link.condition) || !succeeds)
        .map(|link| link.name.as_str())
}

fn count(steps: usize) -> u32 {
    u32::try_from(steps).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(components: &str) -> (bool, String) {
        let document = format!("type: orchestration\npipeline:\n  components:\n{components}");
        let outcome = walk(document.as_bytes());
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
            (true, "The pipeline ran to its end without an end marker".into())
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
        assert!(walk(b"a: [").message.starts_with("The pipeline cannot be read: "));
        assert!(walk(b"type: transformation\npipeline: {}").success);
    }
}
