//! Finds the components of other repositories that run a changed shared pipeline.
//!
//! The format of such a component is not documented, except for its type and that its parameters contain
//! `<prefix>#<id>` and a version. Therefore any text in its parameters that equals that name is a reference, and a
//! parameter is treated as used if a key or a text equals its name. It is treated as set only if the key or text can be
//! a name: a missed break is worse than a remark too many.

use super::{InterfaceChange, InterfaceChangeKind};
use crate::pipelines::{LAYOUT_KEY, NAME_KEYS, PipelineOutline};
use serde::Serialize;
use sluicegate_yaml::{DocumentError, NodeRef, Tree};
use std::collections::BTreeSet;

/// The type of the components that run a shared pipeline.
const RUN_SHARED_PIPELINE_TYPE: &str = "run-shared-pipeline";

/// The version that consumers request to get the latest one.
const LATEST_VERSION: &str = "[Latest]";

/// A component that runs a shared pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Consumer {
    pub component: String,
    /// The line of the component, from 1.
    pub line: u32,
    pub id: String,
    /// The requested version; `None` if the component does not contain one.
    pub version: Option<String>,
    /// All keys and texts in its parameters.
    #[serde(skip)]
    names: BTreeSet<String>,
    /// The keys and texts that can be the name of a parameter that the component sets.
    #[serde(skip)]
    set_names: BTreeSet<String>,
}

/// Finds the components of a pipeline that run a shared pipeline of one artifact: their parameters contain the prefix
/// of the artifact, `#` and the id of the shared pipeline. Fails if `pipeline` is not the YAML of a pipeline.
pub fn find_consumers(pipeline: &[u8], prefix: &str) -> Result<Vec<Consumer>, DocumentError> {
    // The canvas below `design` is not needed.
    let tree = Tree::parse_without(pipeline, LAYOUT_KEY)?;
    let components = PipelineOutline::from_node(tree.root())?.components;
    let mut consumers = Vec::new();
    for (name, position, node) in components.into_iter().flat_map(NodeRef::entries) {
        if node.get("type").and_then(NodeRef::text) != Some(RUN_SHARED_PIPELINE_TYPE) {
            continue;
        }
        let mut texts = ParameterTexts::default();
        let mut set_names = BTreeSet::new();
        if let Some(parameters) = node.get("parameters") {
            texts.collect_texts(parameters, prefix);
            let is_list_item = false;
            collect_set_names(parameters, is_list_item, &mut set_names);
        }
        if let Some(id) = texts.id {
            consumers.push(Consumer {
                component: name.to_owned(),
                line: position.line,
                id,
                version: texts.version,
                names: texts.names,
                set_names,
            });
        }
    }
    Ok(consumers)
}

/// The texts in the parameters of a component that runs a shared pipeline.
#[derive(Default)]
struct ParameterTexts {
    id: Option<String>,
    version: Option<String>,
    names: BTreeSet<String>,
}

impl ParameterTexts {
    /// Records all keys and texts at and below this node, and the first id and version of a shared pipeline among them.
    /// An id is the rest of a text that begins with `prefix#`. A version is the text `[Latest]`, or the value of a key
    /// that contains `version`. All texts are searched, because the format of these parameters is not documented.
    fn collect_texts(&mut self, node: NodeRef<'_, '_>, prefix: &str) {
        if let Some(text) = node.text() {
            let id = text
                .trim()
                .strip_prefix(prefix)
                .and_then(|suffix| suffix.strip_prefix('#'));
            if let Some(id) = id {
                self.id.get_or_insert_with(|| id.to_owned());
            } else if text.trim().eq_ignore_ascii_case(LATEST_VERSION) {
                self.version.get_or_insert_with(|| text.trim().to_owned());
            }
            self.names.insert(text.to_owned());
        }
        for item in node.items().into_iter().flatten() {
            self.collect_texts(item, prefix);
        }
        for (key, _, value) in node.entries() {
            let is_version_key = key.to_ascii_lowercase().contains("version");
            if let Some(text) = value.text().filter(|_| is_version_key && !value.is_null()) {
                self.version.get_or_insert_with(|| text.to_owned());
            }
            self.names.insert(key.to_owned());
            self.collect_texts(value, prefix);
        }
    }
}

/// Adds the keys and texts at and below this node that can be the name of a parameter that the component sets: all
/// keys, the texts of a list and of the maps in it, and of a row (a list in a list) only the first cell, which names
/// the values after it. In any other map, only the texts of [`NAME_KEYS`] are names; those of other keys are values,
/// such as that of `componentName`.
fn collect_set_names(node: NodeRef<'_, '_>, is_list_item: bool, set_names: &mut BTreeSet<String>) {
    if let Some(text) = node.text() {
        set_names.insert(text.to_owned());
    }
    for item in node.items().into_iter().flatten() {
        match item.items() {
            Some(mut cells) => {
                if let Some(first_cell) = cells.next() {
                    collect_set_names(first_cell, true, set_names);
                }
            }
            None => collect_set_names(item, true, set_names),
        }
    }
    for (key, _, value) in node.entries() {
        set_names.insert(key.to_owned());
        if is_list_item || value.text().is_none() || NAME_KEYS.contains(&key) {
            collect_set_names(value, false, set_names);
        }
    }
}

impl Consumer {
    /// Returns the changes that affect this component. A component that sets a parameter is affected by a change to it,
    /// for example to its type. A component that does not set it is affected by a new default, or if it must be set
    /// now.
    pub fn select_affecting_changes<'c>(&self, changes: &'c [InterfaceChange]) -> Vec<&'c InterfaceChange> {
        changes
            .iter()
            .filter(|change| self.is_affected_by(change))
            .collect()
    }

    /// Returns whether the change affects this consumer. A parameter that must be set, or that has another default,
    /// affects consumers that do not set it. Other changes to a parameter affect consumers that name it. A change to
    /// the shared pipeline itself affects all its consumers.
    fn is_affected_by(&self, change: &InterfaceChange) -> bool {
        if change.id.as_ref() != Some(&self.id) {
            return false;
        }
        let Some(name) = &change.parameter else {
            return true;
        };
        match change.kind {
            InterfaceChangeKind::ParameterRequired
            | InterfaceChangeKind::DefaultRemoved
            | InterfaceChangeKind::DefaultChanged => !self.set_names.contains(name),
            _ => self.names.contains(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::{ChangedKinds, Interface, compare_interfaces};
    use crate::pipelines::SharedPipelines;

    const PIPELINE: &str = "\
type: orchestration
pipeline:
  components:
    Start: { type: start, parameters: { componentName: Start, x: 'sales#load' } }
    Load:
      type: run-shared-pipeline
      parameters:
        componentName: Load
        sharedPipeline: sales#load
        sharedPipelineVersion: '[Latest]'
        setVariables:
          - [day, today]
    Pinned:
      type: run-shared-pipeline
      parameters: { pipeline: ' sales#load ', version: 1.4.0 }
    Other: { type: run-shared-pipeline, parameters: { pipeline: 'salesforce#load', version: 1 } }
";

    fn interface(parameters: &str) -> Interface {
        let yaml =
            format!("pipelines:\n- {{ id: load, pipeline: a.orch.yaml, parameters: {{ {parameters} }} }}\n");
        Interface::new("f", SharedPipelines::parse(yaml.as_bytes()).unwrap())
    }

    #[test]
    fn consumers_are_found_by_type_and_id_with_requested_version() {
        let found = find_consumers(PIPELINE.as_bytes(), "sales").unwrap();
        let told: Vec<_> = found
            .iter()
            .map(|it| {
                (
                    it.component.as_str(),
                    it.line,
                    it.id.as_str(),
                    it.version.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("Load", 5, "load", Some("[Latest]")),
                ("Pinned", 13, "load", Some("1.4.0"))
            ]
        );
    }

    #[test]
    fn consumer_is_affected_by_used_parameters_and_unset_required_ones() {
        let changes = compare_interfaces(
            &interface("day: {}, old: {}"),
            &interface("hour: {}"),
            &ChangedKinds::default(),
        );
        let found = find_consumers(PIPELINE.as_bytes(), "sales").unwrap();
        let met = |at: usize| -> Vec<_> {
            let met = found[at].select_affecting_changes(&changes);
            met.into_iter().map(|it| it.parameter.clone().unwrap()).collect()
        };
        assert_eq!(met(0), ["hour", "day"]);
        assert_eq!(met(1), ["hour"]);
    }

    #[test]
    fn new_required_parameter_affects_consumer_whose_texts_only_equal_its_name() {
        let changes = compare_interfaces(
            &interface("day: { default: 1 }"),
            &interface("day: { default: 1 }, hour: {}"),
            &ChangedKinds::default(),
        );
        for (parameters, is_affected) in [
            ("componentName: hour", true),
            ("setVariables: [[day, hour]]", true),
            ("variables: { day: hour }", true),
            ("setVariables: [[hour, 1]]", false),
            ("variables: { hour: 1 }", false),
            ("variables: [{ name: hour, value: 1 }]", false),
            ("variables: { '1': { name: hour, value: 1 } }", false),
        ] {
            let pipeline = format!(
                "type: orchestration\npipeline:\n  components:\n    Run:\n      type: run-shared-pipeline\n      parameters: {{ pipeline: 'sales#load', {parameters} }}\n"
            );
            let consumers = find_consumers(pipeline.as_bytes(), "sales").unwrap();
            let affecting_count = consumers[0].select_affecting_changes(&changes).len();
            assert_eq!(affecting_count == 1, is_affected, "{parameters}");
        }
    }

    #[test]
    fn new_default_affects_consumer_that_does_not_set_the_parameter() {
        let changes = compare_interfaces(
            &interface("day: { default: 1 }"),
            &interface("day: { default: 2 }"),
            &ChangedKinds::default(),
        );
        let consumers = find_consumers(PIPELINE.as_bytes(), "sales").unwrap();
        assert_eq!(changes.len(), 1);
        assert_eq!(consumers[0].select_affecting_changes(&changes).len(), 0);
        assert_eq!(consumers[1].select_affecting_changes(&changes).len(), 1);
    }
}
