//! Finds the findings that exist only because a link leads to a missing component.

use super::evaluated_pipeline::EvaluatedPipeline;
use super::registry::registry;
use super::rule::Rule;
use super::{ComponentGraph, RuleConfig};
use crate::pipelines::{LinkRole, Pipeline, PipelineKind};
use std::collections::{BTreeSet, HashSet};

/// A finding: the rule, and the component that it is about.
pub type Consequence = (&'static str, String);

/// Returns the findings that exist only because of broken links, so that a report can fold them into the finding about
/// the link. These findings disappear when each broken link is replaced with a link to the component that it probably
/// means: the one that `find_component` returns for its name, otherwise the only component that no link leads to. If
/// both are unknown, all findings about the component with the link that depend on links of this role are returned.
pub fn find_consequences(
    pipeline: &Pipeline,
    find_component: &mut dyn FnMut(&str) -> Option<String>,
) -> BTreeSet<Consequence> {
    let component_names: HashSet<&str> = pipeline
        .components
        .iter()
        .map(|component| component.name.as_str())
        .collect();
    let findings = evaluate_link_rules(pipeline);
    let only_unlinked_component = find_only_unlinked_component(pipeline);
    let mut repaired_pipeline = pipeline.clone();
    // The possible findings about components with a broken link whose target is unknown.
    let mut unresolved_findings = BTreeSet::new();
    for component in &mut repaired_pipeline.components {
        for link in &mut component.links {
            // A blank link does not mean any component, so it is not broken.
            if component_names.contains(link.name.as_str()) || link.is_blank() {
                continue;
            }
            match find_component(&link.name).or_else(|| only_unlinked_component.clone()) {
                Some(name) => link.name = name,
                None => unresolved_findings.extend(
                    list_link_rules()
                        .filter(|rule| rule.link_role() == Some(link.role) && !rule.is_about_link_target())
                        .map(|rule| (rule.documentation().id, component.name.clone())),
                ),
            }
        }
    }
    let remaining_findings = evaluate_link_rules(&repaired_pipeline);
    findings
        .into_iter()
        .filter(|finding| !remaining_findings.contains(finding) || unresolved_findings.contains(finding))
        .collect()
}

/// Returns the rules whose findings depend on links between components.
fn list_link_rules() -> impl Iterator<Item = &'static dyn Rule> {
    registry()
        .iter()
        .copied()
        .filter(|rule| rule.link_role().is_some())
}

/// Evaluates the rules that depend on links, and returns the rule and the component of each violation. These rules have
/// no configuration. Skips violations without a component, and rules that cannot be evaluated.
fn evaluate_link_rules(pipeline: &Pipeline) -> BTreeSet<Consequence> {
    let subject = EvaluatedPipeline::new(pipeline);
    let mut findings = BTreeSet::new();
    for rule in list_link_rules() {
        let documentation = rule.documentation();
        if !documentation.kinds.contains(&pipeline.kind) {
            continue;
        }
        let violations = rule
            .prepare(&RuleConfig::new(documentation.id, None))
            .and_then(|evaluate| evaluate(&subject))
            .unwrap_or_default();
        for violation in violations {
            findings.extend(violation.about.map(|name| (documentation.id, name)));
        }
    }
    findings
}

/// Returns the only component of an orchestration that no link leads to. Ignores start components, which need no link.
/// Returns `None` if there are several, and for a transformation, where links lead from a component to its sources.
fn find_only_unlinked_component(pipeline: &Pipeline) -> Option<String> {
    let graph = ComponentGraph::new(pipeline);
    let roles = [LinkRole::Transition, LinkRole::IterationTarget, LinkRole::Source];
    let has_incoming_link = graph.compute_incoming_link_flags(&roles);
    // Without an incoming link, only a start component is reachable.
    let is_reachable = graph.compute_reachability_flags();
    let mut unlinked_indices = (0..pipeline.components.len()).filter(|index| {
        has_incoming_link.get(*index) == Some(&false) && is_reachable.get(*index) == Some(&false)
    });
    match (pipeline.kind, unlinked_indices.next(), unlinked_indices.next()) {
        (PipelineKind::Orchestration, Some(index), None) => pipeline
            .components
            .get(index)
            .map(|component| component.name.clone()),
        _ => None,
    }
}
