//! Finds the findings that exist only because a link leads to a missing component.

use super::subject::Subject;
use super::{Graph, start_and_end_components, unused_components};
use crate::model::findings::Violation;
use crate::model::pipelines::{Kind, LinkRole, Pipeline};
use std::collections::{BTreeSet, HashSet};

const UNUSED: &str = "unused-components";
const ENDS: &str = "start-and-end-components";

/// A finding: the rule, and the component that it is about.
pub type Consequence = (&'static str, String);

/// Returns the findings that would not exist if each broken link led to the component that it means. `meant` returns
/// that component. Without one, the link probably means the only component that nothing leads to.
pub fn consequences(
    pipeline: &Pipeline,
    meant: &mut dyn FnMut(&str) -> Option<String>,
) -> BTreeSet<Consequence> {
    let names: HashSet<&str> = pipeline.components.iter().map(|it| it.name.as_str()).collect();
    let before = findings(pipeline);
    let only_unlinked = only_unlinked(pipeline);
    let mut repaired = pipeline.clone();
    let mut unresolved = BTreeSet::new();
    for component in &mut repaired.components {
        let broken = component.links.iter_mut();
        for link in broken.filter(|link| !names.contains(link.name.as_str()) && !link.is_blank()) {
            match meant(&link.name).or_else(|| only_unlinked.clone()) {
                Some(name) => link.name = name,
                None if link.role == LinkRole::Transition => {
                    unresolved.insert((ENDS, component.name.clone()));
                }
                None if link.role == LinkRole::Source => {
                    unresolved.insert((UNUSED, component.name.clone()));
                }
                None => {}
            }
        }
    }
    let after = findings(&repaired);
    before
        .into_iter()
        .filter(|finding| !after.contains(finding) || unresolved.contains(finding))
        .collect()
}

/// Returns the findings of the rules that follow links.
fn findings(pipeline: &Pipeline) -> BTreeSet<Consequence> {
    let subject = Subject::new(pipeline);
    let unused = unused_components::violations(&subject).unwrap_or_default();
    let ends = match pipeline.kind {
        Kind::Orchestration => start_and_end_components::violations(&subject),
        Kind::Transformation => Vec::new(),
    };
    let about = |rule| move |violation: Violation| Some((rule, violation.about?));
    let unused = unused.into_iter().filter_map(about(UNUSED));
    unused.chain(ends.into_iter().filter_map(about(ENDS))).collect()
}

/// Returns the only component that no link leads to, other than start components.
fn only_unlinked(pipeline: &Pipeline) -> Option<String> {
    let graph = Graph::new(pipeline);
    let roles = [LinkRole::Transition, LinkRole::IterationTarget, LinkRole::Source];
    let (linked, reachable) = (graph.linked_to(&roles), graph.reachable());
    let is_unlinked = |at: &usize| linked.get(*at) == Some(&false) && reachable.get(*at) == Some(&false);
    let mut unlinked = (0..pipeline.components.len()).filter(is_unlinked);
    match (pipeline.kind, unlinked.next(), unlinked.next()) {
        (Kind::Orchestration, Some(at), None) => pipeline.components.get(at).map(|it| it.name.clone()),
        _ => None,
    }
}
