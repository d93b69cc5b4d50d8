//! Reads the documented fields of a pipeline from its document.

use super::expression_value::{ExpressionValue, Record};
use super::record_field::{RecordKind, RuleSubject};
use crate::pipelines::{
    CallResolution, Link, LinkRole, Pipeline, PipelineFiles, PipelineKind, PipelineOutline, ReferenceKind,
    file_name, trim_pipeline_extension,
};
use sluicegate_yaml::{NodeRef, Tree};
use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

/// A pipeline with its parts, as expressions see them.
#[derive(Debug)]
pub(super) struct PipelineRecords<'m> {
    pub pipeline: ExpressionValue<'m>,
    pub project: ExpressionValue<'m>,
    pub components: Vec<Rc<Record<'m>>>,
    pub links: Vec<Rc<Record<'m>>>,
    pub variables: Vec<Rc<Record<'m>>>,
    pub calls: Vec<Rc<Record<'m>>>,
}

impl<'m> PipelineRecords<'m> {
    /// Builds the records of a pipeline, with their fields in the documented order. `pipeline` must have been read from
    /// `tree`, which also contains the parameters, arguments and metadata. `files` contains the project's pipelines.
    pub(super) fn new(
        path: &'m str,
        tree: &'m Tree<'m>,
        pipeline: &'m Pipeline,
        files: &'m PipelineFiles<'m>,
    ) -> Self {
        let root = tree.root();
        // This does not fail, because reading `pipeline` from the document did not fail.
        let outline = PipelineOutline::from_node(root).ok();
        let component_nodes = outline.and_then(|outline| outline.components);
        let variable_nodes = outline.and_then(|outline| outline.variables);
        let links = build_link_records(pipeline);
        let components = build_component_records(pipeline, component_nodes, &links);
        let variables = build_variable_records(pipeline, variable_nodes);
        let calls = build_call_records(path, pipeline, component_nodes, files);
        let name = trim_pipeline_extension(file_name(path));
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let fields = vec![
            ExpressionValue::from_text(path),
            ExpressionValue::from_text(name),
            ExpressionValue::from_text(folder),
            ExpressionValue::from_text(pipeline.kind.name()),
            list_value(&components),
            list_value(&links),
            list_value(&variables),
            list_value(&calls),
            ExpressionValue::Node(root),
        ];
        let first_line = 1;
        Self {
            pipeline: record_value(RecordKind::Pipeline, first_line, fields),
            project: record_value(
                RecordKind::Project,
                first_line,
                vec![ExpressionValue::Paths(files)],
            ),
            components,
            links,
            variables,
            calls,
        }
    }

    /// Returns the records for which a rule about this kind of subject is evaluated.
    pub(super) fn list_subjects(&self, subject: RuleSubject) -> Vec<ExpressionValue<'m>> {
        let records = match subject {
            RuleSubject::Pipeline => return vec![self.pipeline.clone()],
            RuleSubject::Component => &self.components,
            RuleSubject::Link => &self.links,
            RuleSubject::Variable => &self.variables,
            RuleSubject::Call => &self.calls,
        };
        records.iter().cloned().map(ExpressionValue::Record).collect()
    }
}

fn record_value(kind: RecordKind, line: u32, fields: Vec<ExpressionValue<'_>>) -> ExpressionValue<'_> {
    ExpressionValue::Record(Rc::new(Record { kind, line, fields }))
}

fn list_value<'m>(records: &[Rc<Record<'m>>]) -> ExpressionValue<'m> {
    ExpressionValue::from_items(records.iter().cloned().map(ExpressionValue::Record).collect())
}

/// Returns the nodes of a map by their keys; empty if there is no map.
fn index_entries<'m>(map: Option<NodeRef<'m, 'm>>) -> HashMap<&'m str, NodeRef<'m, 'm>> {
    let entries = map.into_iter().flat_map(NodeRef::entries);
    entries.map(|(name, _, node)| (name, node)).collect()
}

fn empty_map<'m>() -> ExpressionValue<'m> {
    ExpressionValue::Map(Rc::new(Vec::new()))
}

/// Returns the text of a scalar as a value; empty if the node is missing, null, a list or a map.
fn text_value<'m>(node: Option<NodeRef<'m, 'm>>) -> ExpressionValue<'m> {
    let text = node.filter(|node| !node.is_null()).and_then(NodeRef::text);
    ExpressionValue::from_text(text.unwrap_or_default())
}

/// Returns a map of the document as a value; an empty map for any other node.
fn map_value<'m>(node: Option<NodeRef<'m, 'm>>) -> ExpressionValue<'m> {
    node.filter(|node| node.is_map())
        .map_or_else(empty_map, ExpressionValue::Node)
}

/// Returns the kind of a link, as expressions see it: the condition of a transition, or the link's role. A transition
/// always has a condition, so the last value is never used.
const fn link_kind(link: &Link) -> &'static str {
    match (link.role, link.condition) {
        (LinkRole::IterationTarget, _) => "iteration",
        (LinkRole::Source, _) => "source",
        (LinkRole::Transition, Some(condition)) => condition.key(),
        (LinkRole::Transition, None) => "unconditional",
    }
}

/// Builds the records of the links, with their fields in the documented order. A blank link is omitted. The file of a
/// transformation contains a link at the component that receives the data.
fn build_link_records(pipeline: &Pipeline) -> Vec<Rc<Record<'_>>> {
    let mut records = Vec::new();
    for component in &pipeline.components {
        for link in component.links.iter().filter(|link| !link.is_blank()) {
            let (source, destination) = match link.role {
                LinkRole::Source => (&link.name, &component.name),
                LinkRole::Transition | LinkRole::IterationTarget => (&component.name, &link.name),
            };
            let fields = vec![
                ExpressionValue::from_text(source),
                ExpressionValue::from_text(destination),
                ExpressionValue::from_text(link_kind(link)),
            ];
            records.push(Rc::new(Record {
                kind: RecordKind::Link,
                line: link.position.line,
                fields,
            }));
        }
    }
    records
}

/// Builds the records of the components, with their fields in the documented order. `nodes` is the map of the
/// components in the document, which contains their parameters.
fn build_component_records<'m>(
    pipeline: &'m Pipeline,
    nodes: Option<NodeRef<'m, 'm>>,
    links: &[Rc<Record<'m>>],
) -> Vec<Rc<Record<'m>>> {
    let mut incoming_links = group_links(links, "to");
    let mut outgoing_links = group_links(links, "from");
    let nodes_by_name = index_entries(nodes);
    let mut records = Vec::new();
    for component in &pipeline.components {
        let name = component.name.as_str();
        let node = nodes_by_name.get(name);
        let fields = vec![
            ExpressionValue::from_text(name),
            ExpressionValue::from_text(component.kind.as_deref().unwrap_or_default()),
            map_value(node.and_then(|node| node.get("parameters"))),
            ExpressionValue::Boolean(component.skipped),
            ExpressionValue::from_items(incoming_links.remove(name).unwrap_or_default()),
            ExpressionValue::from_items(outgoing_links.remove(name).unwrap_or_default()),
        ];
        records.push(Rc::new(Record {
            kind: RecordKind::Component,
            line: component.position.line,
            fields,
        }));
    }
    records
}

/// Groups the links by the component at one end. `end_field` is the field of that end: `from` or `to`.
fn group_links<'l, 'm>(
    links: &'l [Rc<Record<'m>>],
    end_field: &str,
) -> HashMap<&'l str, Vec<ExpressionValue<'m>>> {
    let mut links_by_name: HashMap<&str, Vec<ExpressionValue<'m>>> = HashMap::new();
    for link in links {
        let group = links_by_name.entry(link.text_field(end_field)).or_default();
        group.push(ExpressionValue::Record(Rc::clone(link)));
    }
    links_by_name
}

/// Builds the records of the variables, with their fields in the documented order. `nodes` is the map of the variables
/// in the document, which contains their metadata.
fn build_variable_records<'m>(pipeline: &'m Pipeline, nodes: Option<NodeRef<'m, 'm>>) -> Vec<Rc<Record<'m>>> {
    let nodes_by_name = index_entries(nodes);
    let mut records = Vec::new();
    for variable in &pipeline.variables {
        let node = nodes_by_name.get(variable.name.as_str());
        let metadata = node.and_then(|node| node.get("metadata"));
        let metadata_text = |key: &str| text_value(metadata.and_then(|metadata| metadata.get(key)));
        let default_value = node
            .and_then(|node| node.get("defaultValue"))
            .filter(|node| !node.is_null());
        let fields = vec![
            ExpressionValue::from_text(&variable.name),
            metadata_text("type"),
            metadata_text("scope"),
            metadata_text("visibility"),
            default_value.map_or_else(|| ExpressionValue::from_text(""), ExpressionValue::from_node),
            metadata_text("description"),
        ];
        records.push(Rc::new(Record {
            kind: RecordKind::Variable,
            line: variable.position.line,
            fields,
        }));
    }
    records
}

/// Builds a record for each call to a pipeline or a script, with their fields in the documented order. `nodes` is the
/// map of the components in the document, which contains the arguments of the calls. Only calls to pipelines set
/// variables, so a call to a script has no arguments.
fn build_call_records<'m>(
    path: &str,
    pipeline: &'m Pipeline,
    nodes: Option<NodeRef<'m, 'm>>,
    files: &'m PipelineFiles<'m>,
) -> Vec<Rc<Record<'m>>> {
    let mut records = Vec::new();
    let callers = pipeline
        .components
        .iter()
        .filter(|component| !component.calls.is_empty());
    let nodes_by_name = index_entries(nodes);
    for component in callers {
        let parameters = nodes_by_name
            .get(component.name.as_str())
            .and_then(|node| node.get("parameters"));
        for call in &component.calls {
            let (kind, target, arguments) = match call.kind {
                ReferenceKind::Pipeline(kind) => (
                    kind.name(),
                    resolve_target(files, &call.target, kind, path),
                    build_arguments(parameters),
                ),
                ReferenceKind::Script => ("script", call.target.as_str(), empty_map()),
            };
            let fields = vec![
                ExpressionValue::from_text(&component.name),
                ExpressionValue::from_text(kind),
                ExpressionValue::from_text(target),
                arguments,
            ];
            records.push(Rc::new(Record {
                kind: RecordKind::Call,
                line: call.position.line,
                fields,
            }));
        }
    }
    records
}

/// Returns the path of the called pipeline. If no pipeline or several pipelines match, returns the text in the file.
fn resolve_target<'m>(
    files: &'m PipelineFiles<'m>,
    target: &'m str,
    kind: PipelineKind,
    caller: &str,
) -> &'m str {
    match files.resolve(target, kind, caller) {
        CallResolution::File(path) | CallResolution::ByName(path) => path,
        CallResolution::Missing | CallResolution::Ambiguous(_) => target,
    }
}

/// Returns the values that a call sets, by the name of the variable. A scalar variable is set by a list of its name and
/// its value, a grid variable by a map. This complete map is the value of the grid variable. If a call sets a variable
/// several times, the last value is used.
fn build_arguments<'m>(parameters: Option<NodeRef<'m, 'm>>) -> ExpressionValue<'m> {
    let mut arguments = Vec::new();
    for row in list_rows(parameters, "setScalarVariables") {
        let mut cells = row.items().into_iter().flatten();
        if let Some(name) = cells.next().and_then(NodeRef::text) {
            let value = cells
                .next()
                .map_or(ExpressionValue::Null, ExpressionValue::from_node);
            arguments.push((name, value));
        }
    }
    for row in list_rows(parameters, "setGridVariables") {
        if let Some(name) = row.get("variable").and_then(NodeRef::text) {
            arguments.push((name, ExpressionValue::from_node(row)));
        }
    }
    let mut entries: Vec<(ExpressionValue<'m>, ExpressionValue<'m>)> = Vec::new();
    let mut indices_by_name: HashMap<&str, usize> = HashMap::new();
    for (name, value) in arguments {
        let index = *indices_by_name.entry(name).or_insert(entries.len());
        match entries.get_mut(index) {
            Some(entry) => entry.1 = value,
            None => entries.push((ExpressionValue::Text(Cow::Borrowed(name)), value)),
        }
    }
    ExpressionValue::Map(Rc::new(entries))
}

/// Returns the items of the parameter `key`; none if it is not a list.
fn list_rows<'m>(parameters: Option<NodeRef<'m, 'm>>, key: &str) -> impl Iterator<Item = NodeRef<'m, 'm>> {
    let rows = parameters.and_then(|parameters| parameters.get(key));
    rows.and_then(NodeRef::items).into_iter().flatten()
}
