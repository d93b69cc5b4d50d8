//! Fixes findings in a pipeline: renames a component, or connects it. An edit is kept only if the rules have fewer
//! findings afterwards.

use super::fix_order::OrderedFinding;
use sluicegate_pipelines::pipelines::{Component, Pipeline};
use sluicegate_pipelines::rules::RuleSet;
use sluicegate_yaml::{NodeRef, Position, Tree, replace_scalars};
use std::collections::BTreeMap;

/// Maximum number of edits that are tried for one finding.
const MAX_CANDIDATES: usize = 100;

/// The rule whose findings are fixed by a new name.
const NAMING_RULE: &str = "component-naming-convention";

/// Edits the pipeline for each finding in turn, and keeps an edit only if the rules then report fewer findings. Names
/// come last, because the other findings name components as they are now. Returns the edited pipeline, or `None` if no
/// edit helps.
pub(crate) fn fix_pipeline(
    rules: &RuleSet,
    path: &str,
    document: &[u8],
    findings: &[&OrderedFinding],
) -> Option<Vec<u8>> {
    let mut fixed_document: Option<Vec<u8>> = None;
    let (name_findings, other_findings): (Vec<_>, Vec<_>) =
        findings.iter().partition(|finding| finding.rule == NAMING_RULE);
    for finding in other_findings.into_iter().chain(name_findings) {
        let current_document = fixed_document.as_deref().unwrap_or(document);
        let finding_count = count_findings(rules, path, current_document);
        let candidates = list_candidate_fixes(current_document, finding);
        let better_document = candidates
            .into_iter()
            .take(MAX_CANDIDATES)
            .find(|candidate| count_findings(rules, path, candidate) < finding_count);
        fixed_document = better_document.or(fixed_document);
    }
    fixed_document
}

/// Returns the number of findings that the rules report for the document.
fn count_findings(rules: &RuleSet, path: &str, document: &[u8]) -> usize {
    rules.evaluate(path, document).findings().len()
}

/// Returns edited versions of the document that may no longer have the finding, the best one first. The list is empty
/// if the finding does not name a component, or if the agent cannot fix findings of its rule.
fn list_candidate_fixes(document: &[u8], finding: &OrderedFinding) -> Vec<Vec<u8>> {
    let Some(name) = finding.component.as_deref() else {
        return Vec::new();
    };
    match finding.rule.as_str() {
        NAMING_RULE => list_name_variants(name)
            .iter()
            .filter_map(|new_name| rename_component(document, name, new_name))
            .collect(),
        "unused-components" => list_connection_fixes(document, name),
        _ => Vec::new(),
    }
}

/// Renames the component `name` in its key, in the links to it, in its `componentName` parameter and on the canvas.
/// Returns the edited document, or `None` if another component has the new name or the document cannot be edited.
pub(crate) fn rename_component(document: &[u8], name: &str, new_name: &str) -> Option<Vec<u8>> {
    let tree = Tree::parse(document).ok()?;
    let pipeline = Pipeline::from_tree(&tree).ok()?;
    if pipeline
        .components
        .iter()
        .any(|component| component.name == new_name)
    {
        return None;
    }
    // The positions of all texts in the file that are the name.
    let mut positions: Vec<Position> = pipeline
        .components
        .iter()
        .flat_map(|component| &component.links)
        .filter(|link| link.name == name)
        .map(|link| link.position)
        .collect();
    // The section `pipeline` has the components, and `design` their places on the canvas.
    for section in ["pipeline", "design"] {
        let components = tree.root().get(section).and_then(|node| node.get("components"));
        let entry = components.and_then(|node| find_entry(node, name));
        let parameter = entry
            .and_then(|(_, node)| node.get("parameters")?.get("componentName"))
            .filter(|node| node.text() == Some(name));
        positions.extend(entry.map(|(position, _)| position));
        positions.extend(parameter.map(NodeRef::position));
    }
    let new_texts: BTreeMap<Position, String> = positions
        .into_iter()
        .map(|position| (position, new_name.to_owned()))
        .collect();
    replace_scalars(document, &new_texts).ok()
}

/// Returns the position of the key `name` in the mapping `node`, and the value of this key.
fn find_entry<'t, 'a>(node: NodeRef<'t, 'a>, name: &str) -> Option<(Position, NodeRef<'t, 'a>)> {
    node.entries()
        .find_map(|(key, position, value)| (key == name).then_some((position, value)))
}

/// Returns the words of the name in the usual notations, for example `Load orders`, `LoadOrders` and `load_orders`.
fn list_name_variants(name: &str) -> Vec<String> {
    let words: Vec<String> = name
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let title_words: Vec<String> = words.iter().map(|word| capitalize(word)).collect();
    let sentence = capitalize(&words.join(" "));
    vec![
        capitalize(name),
        sentence,
        title_words.join(" "),
        title_words.concat(),
        words.join("_"),
        words.join("_").to_uppercase(),
        words.join("-"),
        words.join(" "),
    ]
}

/// Returns the text with an upper-case first letter.
fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// Returns candidate documents that connect the unconnected component `name`. Each inserts it into one link: the link
/// leads to the component, and the component leads to the link's previous target. Links to an End Success component
/// come first, and later lines before earlier ones: the agent prefers a place near the end of the pipeline.
fn list_connection_fixes(document: &[u8], name: &str) -> Vec<Vec<u8>> {
    let Ok(tree) = Tree::parse(document) else {
        return Vec::new();
    };
    let Ok(pipeline) = Pipeline::from_tree(&tree) else {
        return Vec::new();
    };
    let Some(component) = pipeline
        .components
        .iter()
        .find(|component| component.name == name)
    else {
        return Vec::new();
    };
    let mut links: Vec<_> = pipeline
        .components
        .iter()
        .filter(|source| source.name != name)
        .flat_map(|source| &source.links)
        .collect();
    // `false` is sorted before `true`, so the links to an End Success component come first.
    links.sort_by_cached_key(|link| {
        (
            !is_success_end(&pipeline, &link.name),
            std::cmp::Reverse(link.position.line),
        )
    });
    links
        .into_iter()
        .filter_map(|link| insert_component(document, component, &link.name, link.position))
        .collect()
}

/// Returns whether the component with this name is an End Success component. Returns false if there is none.
fn is_success_end(pipeline: &Pipeline, name: &str) -> bool {
    pipeline
        .components
        .iter()
        .find(|component| component.name == name)
        .is_some_and(|component| component.kind.as_deref() == Some("end-success"))
}

/// Returns the document in which the link at `position` leads to the component, and the component to `target`. A
/// component that already has links keeps these links. The new transition is written directly below the line with the
/// component's name, with the indentation of the next line that is neither blank nor a comment.
fn insert_component(
    document: &[u8],
    component: &Component,
    target: &str,
    position: Position,
) -> Option<Vec<u8>> {
    let new_link = BTreeMap::from([(position, component.name.clone())]);
    let linked_document = replace_scalars(document, &new_link).ok()?;
    if !component.links.is_empty() {
        return Some(linked_document);
    }
    let text = String::from_utf8(linked_document).ok()?;
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let key_index = usize::try_from(component.position.line).ok()?.checked_sub(1)?;
    let next_line = lines.iter().skip(key_index + 1).find(|line| has_value(line))?;
    let indent = next_line.strip_suffix(next_line.trim_start())?.to_owned();
    let line_end = if next_line.ends_with("\r\n") { "\r\n" } else { "\n" };
    let target = serde_json::to_string(target).ok()?;
    let transitions = format!(
        "{indent}transitions:{line_end}{indent}  unconditional:{line_end}{indent}    - {target}{line_end}"
    );
    lines.insert(key_index + 1, transitions);
    Some(lines.concat().into_bytes())
}

/// Returns whether the line is neither blank nor a comment.
fn has_value(line: &str) -> bool {
    let text = line.trim_start();
    !text.is_empty() && !text.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &[u8] = b"rules:
  - id: component-naming-convention
    enabled: true
    enforcementLevel: error
    config: { regexMatchPattern: \"[A-Z][A-Za-z0-9 ]*\" }
  - id: unused-components
    enabled: true
    enforcementLevel: error
";

    const PIPELINE: &str = "type: orchestration
pipeline:
  components:
    Start:
      type: start
      transitions:
        unconditional: ['load_orders'] # first
    'load_orders':
      type: sql-executor
      transitions:
        success:
          - Done
      parameters:
        componentName: load_orders
    Mail:
      type: send-email
    Done:
      type: end-success
design:
  components:
    load_orders:
      position: { x: 1, y: 2 }
";

    fn finding(rule: &str, component: &str) -> OrderedFinding {
        OrderedFinding {
            file: "a.orch.yaml".to_owned(),
            rule: rule.to_owned(),
            component: Some(component.to_owned()),
        }
    }

    fn fix(findings: &[&OrderedFinding]) -> Option<String> {
        let rules = RuleSet::parse(RULES);
        let document = fix_pipeline(&rules, "a.orch.yaml", PIPELINE.as_bytes(), findings)?;
        Some(String::from_utf8(document).unwrap())
    }

    #[test]
    fn misnamed_component_is_renamed_wherever_its_name_occurs() {
        let fixed = fix(&[&finding("component-naming-convention", "load_orders")]).unwrap();
        assert_eq!(fixed, PIPELINE.replace("load_orders", "Load orders"));
    }

    #[test]
    fn unconnected_component_is_inserted_before_the_end() {
        let fixed = fix(&[&finding("unused-components", "Mail")]).unwrap();
        let expected = PIPELINE.replace("- Done", "- Mail").replace(
            "    Mail:\n",
            "    Mail:\n      transitions:\n        unconditional:\n          - \"Done\"\n",
        );
        assert_eq!(fixed, expected);
    }

    #[test]
    fn component_whose_name_a_blank_line_follows_is_connected() {
        let document = PIPELINE.replace("    Mail:\n", "    Mail:\n\n# sends\n");
        let rules = RuleSet::parse(RULES);
        let findings = [&finding("unused-components", "Mail")];
        let fixed = fix_pipeline(&rules, "a.orch.yaml", document.as_bytes(), &findings).unwrap();
        let text = String::from_utf8(fixed).unwrap();
        assert!(text.contains("    Mail:\n      transitions:\n"), "{text}");
    }

    #[test]
    fn misnamed_component_that_is_unconnected_gets_a_link_and_a_name() {
        let document = PIPELINE.replace("Mail", "mail");
        let rules = RuleSet::parse(RULES);
        let findings = ["component-naming-convention", "unused-components"].map(|rule| finding(rule, "mail"));
        let fixed = fix_pipeline(&rules, "a.orch.yaml", document.as_bytes(), &findings.each_ref()).unwrap();
        let text = String::from_utf8(fixed).unwrap();
        assert!(text.contains("          - Mail\n"), "{text}");
        assert!(text.contains("    Mail:\n      transitions:\n"), "{text}");
    }

    #[test]
    fn finding_that_the_agent_cannot_fix_changes_nothing() {
        assert_eq!(fix(&[&finding("maximum-components", "Mail")]), None);
        assert_eq!(fix(&[&finding("unused-components", "Missing")]), None);
        assert_eq!(fix(&[&finding("unused-components", "Done")]), None);
    }
}
