//! Finds the findings that exist only because a link leads to a missing component.

use super::evaluated_pipeline::EvaluatedPipeline;
use super::registry::registry;
use super::rule::Rule;
use super::{ComponentGraph, RuleConfig};
use crate::pipelines::{Component, DanglingLink, Link, LinkRole, Pipeline, PipelineKind};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Maximum number of broken links of a pipeline that are repaired to find their consequences, the first in the file.
/// Each repair evaluates the rules that depend on links.
const MAX_REPAIRED_LINKS: usize = 100;

/// A finding: the rule, and the component that it is about.
pub type Consequence = (&'static str, String);

/// A broken link, and the findings that exist only because of it.
#[derive(Debug)]
pub struct LinkConsequences {
    pub link: DanglingLink,
    pub findings: BTreeSet<Consequence>,
}

/// A broken link in a pipeline.
struct BrokenLink {
    component_index: usize,
    link_index: usize,
    /// The component that the link probably means; `None` if this is unknown.
    target: Option<String>,
}

/// Returns the findings that exist only because of broken links, so that a report can fold each into the finding about
/// its link. These findings disappear when one broken link after the other is replaced with a link to the component
/// that it probably means: the one that `find_component` returns for its name, otherwise the one to which the link led
/// in the base, otherwise the only component that no link leads to and that is new or was linked in the base. If all
/// are unknown, all findings about the component with the link that depend on links of this role are returned. `base`
/// is the pipeline before the change, with the new names of renamed components.
pub fn find_consequences(
    pipeline: &Pipeline,
    base: Option<&Pipeline>,
    find_component: &mut dyn FnMut(&str) -> Option<String>,
) -> Vec<LinkConsequences> {
    let mut broken_links = find_broken_links(pipeline, find_component);
    if let Some(base) = base {
        find_targets_from_base(pipeline, base, &mut broken_links);
    }
    let mut repaired_pipeline = pipeline.clone();
    let mut findings = evaluate_link_rules(pipeline);
    let mut consequences = Vec::new();
    for broken_link in broken_links {
        let Some(component) = repaired_pipeline.components.get_mut(broken_link.component_index) else {
            continue;
        };
        let component_name = component.name.clone();
        let Some(link) = component.links.get_mut(broken_link.link_index) else {
            continue;
        };
        let dangling_link = DanglingLink::new(component_name.as_str().into(), link);
        let link_findings: BTreeSet<Consequence> = if let Some(target) = broken_link.target {
            link.name = target;
            let remaining_findings = evaluate_link_rules(&repaired_pipeline);
            findings.difference(&remaining_findings).cloned().collect()
        } else {
            let possible_findings = list_link_rules()
                .filter(|rule| rule.link_role() == Some(dangling_link.role) && !rule.is_about_link_target())
                .map(|rule| (rule.documentation().id, component_name.clone()));
            possible_findings
                .filter(|finding| findings.contains(finding))
                .collect()
        };
        findings.retain(|finding| !link_findings.contains(finding));
        if !link_findings.is_empty() {
            consequences.push(LinkConsequences {
                link: dangling_link,
                findings: link_findings,
            });
        }
    }
    consequences
}

/// Returns the first broken links of a pipeline, at most [`MAX_REPAIRED_LINKS`], with the components that
/// `find_component` returns for their names. A blank link does not mean any component, so it is not broken.
fn find_broken_links(
    pipeline: &Pipeline,
    find_component: &mut dyn FnMut(&str) -> Option<String>,
) -> Vec<BrokenLink> {
    let component_names = pipeline.component_names();
    let mut broken_links = Vec::new();
    for (component_index, component) in pipeline.components.iter().enumerate() {
        for (link_index, link) in component.links.iter().enumerate() {
            if component_names.contains(link.name.as_str()) || link.is_blank() {
                continue;
            }
            if broken_links.len() == MAX_REPAIRED_LINKS {
                return broken_links;
            }
            broken_links.push(BrokenLink {
                component_index,
                link_index,
                target: find_component(&link.name),
            });
        }
    }
    broken_links
}

/// Adds the probable targets that follow from the base to the broken links that have none: the component to which the
/// link led in the base, otherwise the only component that no link leads to.
fn find_targets_from_base(pipeline: &Pipeline, base: &Pipeline, broken_links: &mut [BrokenLink]) {
    let component_names = pipeline.component_names();
    let mut base_components: HashMap<&str, &Component> = HashMap::new();
    for component in &base.components {
        base_components.entry(&component.name).or_insert(component);
    }
    let mut repaired_pipeline = pipeline.clone();
    for broken_link in &*broken_links {
        repair_link(&mut repaired_pipeline, broken_link);
    }
    for broken_link in &mut *broken_links {
        if broken_link.target.is_some() {
            continue;
        }
        let component = repaired_pipeline.components.get(broken_link.component_index);
        broken_link.target = component.and_then(|component| {
            let base_component = base_components.get(component.name.as_str())?;
            find_lost_target(
                base_component,
                component,
                broken_link.link_index,
                &component_names,
            )
        });
        // Another broken link of the same kind lost another target.
        repair_link(&mut repaired_pipeline, broken_link);
    }
    let only_unlinked_component = find_only_unlinked_component(&repaired_pipeline, base);
    for broken_link in broken_links {
        if broken_link.target.is_none() {
            broken_link.target.clone_from(&only_unlinked_component);
        }
    }
}

/// Replaces the broken link with a link to its probable target, if this is known.
fn repair_link(pipeline: &mut Pipeline, broken_link: &BrokenLink) {
    let component = pipeline.components.get_mut(broken_link.component_index);
    let link = component.and_then(|component| component.links.get_mut(broken_link.link_index));
    if let (Some(link), Some(target)) = (link, &broken_link.target) {
        link.name.clone_from(target);
    }
}

/// Returns the first of the existing components to which a link of the same kind led in the base and does not lead
/// anymore.
fn find_lost_target(
    base_component: &Component,
    component: &Component,
    link_index: usize,
    component_names: &HashSet<&str>,
) -> Option<String> {
    let link = component.links.get(link_index)?;
    let is_same_kind =
        |candidate: &&Link| (candidate.role, candidate.condition) == (link.role, link.condition);
    let links = component.links.iter().filter(is_same_kind);
    let link_names: HashSet<&str> = links.map(|link| link.name.as_str()).collect();
    let mut base_links = base_component.links.iter().filter(is_same_kind);
    let lost_link = base_links.find(|base_link| {
        let name = base_link.name.as_str();
        component_names.contains(name) && !link_names.contains(name)
    })?;
    Some(lost_link.name.clone())
}

/// Returns whether a finding of the rule with this id may be a consequence of a broken link.
pub fn depends_on_links(rule_id: &str) -> bool {
    list_link_rules().any(|rule| rule.documentation().id == rule_id)
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

/// Returns the only component of an orchestration that no link leads to and that the base does not have without a link
/// to it. Returns `None` if there are several, and for a transformation, where links lead from a component to its
/// sources.
fn find_only_unlinked_component(pipeline: &Pipeline, base: &Pipeline) -> Option<String> {
    if pipeline.kind != PipelineKind::Orchestration {
        return None;
    }
    let base_names: HashSet<&str> = list_unlinked_components(base).into_iter().collect();
    let mut names = list_unlinked_components(pipeline);
    names.retain(|name| !base_names.contains(name));
    match names.as_slice() {
        [name] => Some((*name).to_owned()),
        _ => None,
    }
}

/// Returns the names of the components that no link leads to. Ignores start components, which need no link.
fn list_unlinked_components(pipeline: &Pipeline) -> Vec<&str> {
    let graph = ComponentGraph::new(pipeline);
    let roles = [LinkRole::Transition, LinkRole::IterationTarget, LinkRole::Source];
    let has_incoming_link = graph.compute_incoming_link_flags(&roles);
    // Without an incoming link, only a start component is reachable.
    let is_reachable = graph.compute_reachability_flags();
    let mut names = Vec::new();
    for (index, component) in pipeline.components.iter().enumerate() {
        if has_incoming_link.get(index) == Some(&false) && is_reachable.get(index) == Some(&false) {
            names.push(component.name.as_str());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    /// Returns an orchestration whose first component links to these names, and the components 0 to 149.
    fn parse_pipeline(links: &str) -> Pipeline {
        let mut text = format!(
            "type: orchestration\npipeline:\n  components:\n    Start: {{ type: start, transitions: {{ unconditional: \
             [{links}] }} }}\n"
        );
        for number in 0..150 {
            let _ = writeln!(text, "    C{number}: {{ type: sql-executor }}");
        }
        Pipeline::parse(text.as_bytes()).unwrap()
    }

    /// Returns link names that begin with `prefix`, for each component.
    fn join_names(prefix: &str) -> String {
        let names: Vec<String> = (0..150).map(|number| format!("{prefix}{number}")).collect();
        names.join(", ")
    }

    #[test]
    fn components_are_searched_only_for_links_that_are_repaired() {
        let mut searched_names = Vec::new();
        let consequences = find_consequences(&parse_pipeline(&join_names("Gone")), None, &mut |name| {
            searched_names.push(name.to_owned());
            Some(name.replace("Gone", "C"))
        });
        assert_eq!(searched_names.len(), MAX_REPAIRED_LINKS);
        assert_eq!(searched_names.last().unwrap(), "Gone99");
        assert_eq!(consequences.len(), MAX_REPAIRED_LINKS);
    }

    #[test]
    fn broken_links_get_the_targets_that_they_had_in_the_base() {
        let (base, head) = (
            parse_pipeline(&join_names("C")),
            parse_pipeline(&join_names("Gone")),
        );
        let consequences = find_consequences(&head, Some(&base), &mut |_| None);
        assert_eq!(consequences.len(), MAX_REPAIRED_LINKS);
        for (number, consequence) in consequences.iter().enumerate() {
            let finding = ("unused-components", format!("C{number}"));
            assert!(consequence.findings.contains(&finding), "{consequence:?}");
        }
    }
}
