//! Reads the model of a pipeline from the nodes of a document.

use super::pipeline_model::{
    Call, CallArgument, Component, Link, LinkRole, Pipeline, PipelineKind, PipelineVariable, ReferenceKind,
    TransitionCondition,
};
use sluicegate_yaml::{DocumentError, NodeRef, Position, Tree, Value, shorten};

/// The key of a pipeline's layout. Most readers skip its value, because they need only the components.
pub(crate) const LAYOUT_KEY: &str = "design";

impl Pipeline {
    /// Reads a pipeline file.
    ///
    /// A pipeline is a map with a `pipeline` key whose value, and whose `components`, are a map or null, and with a
    /// valid `type`. Other errors are ignored. The key `design` is skipped, because it contains only the layout.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        Self::from_tree(&Tree::parse_without(bytes, LAYOUT_KEY)?)
    }

    /// Reads a pipeline from a parsed document; see [`Pipeline::parse`].
    pub fn from_tree(tree: &Tree<'_>) -> Result<Self, DocumentError> {
        parse_pipeline(tree.root())
    }
}

impl PipelineKind {
    /// Reads the kind from the `type` key in the content of a pipeline file. The key `design` is skipped, because it
    /// contains only the layout.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        parse_kind(Tree::parse_without(bytes, LAYOUT_KEY)?.root())
    }
}

/// The parts of a pipeline's document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PipelineOutline<'t, 'a> {
    /// The kind of the pipeline, from the key `type`.
    pub kind: PipelineKind,
    /// The map of components, or null, if present.
    pub components: Option<NodeRef<'t, 'a>>,
    /// The value of `variables`, if present.
    pub variables: Option<NodeRef<'t, 'a>>,
}

impl<'t, 'a> PipelineOutline<'t, 'a> {
    /// Finds the kind, the components and the variables in a pipeline's document. Fails if the document is not a
    /// pipeline, as defined in [`Pipeline::parse`].
    pub(crate) fn from_node(root: NodeRef<'t, 'a>) -> Result<Self, DocumentError> {
        let kind = parse_kind(root)?;
        let pipeline = root
            .get("pipeline")
            .ok_or_else(|| DocumentError::at_position(root.position(), "the key `pipeline` is missing"))?;
        require_map_or_null(pipeline, "pipeline")?;
        let components = pipeline.get("components");
        if let Some(components) = components {
            require_map_or_null(components, "pipeline.components")?;
        }
        Ok(Self {
            kind,
            components,
            variables: pipeline.get("variables"),
        })
    }
}

/// Reads the components and variables of a pipeline.
fn parse_pipeline(root: NodeRef<'_, '_>) -> Result<Pipeline, DocumentError> {
    let outline = PipelineOutline::from_node(root)?;
    let kind = outline.kind;
    let components = outline.components.map(|components| {
        let entries = components.entries();
        entries.map(|(name, position, node)| parse_component(kind, name, position, node))
    });
    let variables = outline.variables.map(|variables| {
        let entries = variables.entries();
        entries.map(|(name, position, node)| parse_variable(name, position, node))
    });
    Ok(Pipeline {
        kind,
        components: components.map(Iterator::collect).unwrap_or_default(),
        variables: variables.map(Iterator::collect).unwrap_or_default(),
    })
}

/// Reads the kind of the pipeline from the key `type`. Fails if the document is not a map or the kind is unknown.
fn parse_kind(root: NodeRef<'_, '_>) -> Result<PipelineKind, DocumentError> {
    if !root.is_map() {
        return Err(DocumentError::at_position(
            root.position(),
            "a pipeline must be a map with the keys `type` and `pipeline`",
        ));
    }
    let node = root
        .get("type")
        .ok_or_else(|| DocumentError::at_position(root.position(), "the key `type` is missing"))?;
    PipelineKind::ALL
        .into_iter()
        .find(|kind| node.text() == Some(kind.name()))
        .ok_or_else(|| unknown_kind_error(node))
}

/// Builds the error for a `type` that is not a known kind of pipeline. The message quotes the `type` unless it is
/// empty, a list or a map.
fn unknown_kind_error(node: NodeRef<'_, '_>) -> DocumentError {
    let other_type = node
        .text()
        .filter(|text| !text.is_empty())
        .map(|text| format!(", but is `{}`", shorten(text)))
        .unwrap_or_default();
    DocumentError::at_position(
        node.position(),
        format!("`type` must be `orchestration` or `transformation`{other_type}"),
    )
}

/// Fails if the value of this key is neither a map nor null.
fn require_map_or_null(node: NodeRef<'_, '_>, key: &str) -> Result<(), DocumentError> {
    if node.is_map() || node.is_null() {
        return Ok(());
    }
    Err(DocumentError::at_position(
        node.position(),
        format!("`{key}` is not a map"),
    ))
}

/// Reads a component. Missing or invalid values are left empty. Its links depend on the kind of the pipeline.
fn parse_component(
    pipeline_kind: PipelineKind,
    name: &str,
    position: Position,
    node: NodeRef<'_, '_>,
) -> Component {
    let kind = node.get("type").and_then(non_null_text);
    let parameters = node.get("parameters");
    let get_parameter = |key: &str| parameters.and_then(|parameters| parameters.get(key));
    Component {
        name: name.to_owned(),
        position,
        skipped: node.get("skipped").and_then(NodeRef::value) == Some(Value::Boolean(true)),
        links: match pipeline_kind {
            PipelineKind::Orchestration => parse_orchestration_links(node),
            PipelineKind::Transformation => parse_source_links(node),
        },
        concurrency: get_parameter("concurrency").and_then(non_null_text),
        iteration_variables: kind
            .as_deref()
            .map(|kind| parse_iteration_variables(kind, get_parameter))
            .unwrap_or_default(),
        calls: parse_calls(get_parameter),
        arguments: parse_arguments(get_parameter),
        kind,
    }
}

/// Reads the name, the position and the scope of a variable.
fn parse_variable(name: &str, position: Position, node: NodeRef<'_, '_>) -> PipelineVariable {
    PipelineVariable {
        name: name.to_owned(),
        position,
        scope: node
            .get("metadata")
            .and_then(|metadata| metadata.get("scope"))
            .and_then(non_null_text),
    }
}

/// Returns the text of a scalar; `None` for null, a list or a map.
fn non_null_text(node: NodeRef<'_, '_>) -> Option<String> {
    node.text().filter(|_| !node.is_null()).map(ToOwned::to_owned)
}

/// Reads the links of a component in an orchestration: its transitions and, for an iterator, the component that it runs
/// repeatedly. Ignores transitions with an unknown condition.
fn parse_orchestration_links(node: NodeRef<'_, '_>) -> Vec<Link> {
    let mut links = Vec::new();
    for (key, _, names) in node.get("transitions").into_iter().flat_map(NodeRef::entries) {
        if let Some(condition) = TransitionCondition::from_key(key) {
            add_links(&mut links, LinkRole::Transition, Some(condition), names);
        }
    }
    links.extend(
        node.get("iterationTarget")
            .and_then(|target| parse_link(LinkRole::IterationTarget, None, target)),
    );
    links
}

/// Reads the links of a component in a transformation: the components from which it gets its data.
fn parse_source_links(node: NodeRef<'_, '_>) -> Vec<Link> {
    let mut links = Vec::new();
    if let Some(names) = node.get("sources") {
        add_links(&mut links, LinkRole::Source, None, names);
    }
    links
}

/// Adds a link for each name in a list of components. Ignores a node that is not a list.
fn add_links(
    links: &mut Vec<Link>,
    role: LinkRole,
    condition: Option<TransitionCondition>,
    names: NodeRef<'_, '_>,
) {
    if let Some(names) = names.items() {
        links.extend(names.filter_map(|name| parse_link(role, condition, name)));
    }
}

/// Reads a link to the component that the node names; `None` if the node is not a scalar.
fn parse_link(role: LinkRole, condition: Option<TransitionCondition>, node: NodeRef<'_, '_>) -> Option<Link> {
    Some(Link {
        role,
        condition,
        name: node.text()?.to_owned(),
        is_null: node.is_null(),
        position: node.position(),
    })
}

/// Returns the names of the variables that an iterator sets. Each type of iterator stores them in different parameters.
/// Where a parameter is a list of rows, the number is the column with the variable. The parameter `gridVariable` is
/// omitted, because the iterator only reads this grid.
fn parse_iteration_variables<'t, 'a: 't>(
    kind: &str,
    get_parameter: impl Fn(&str) -> Option<NodeRef<'t, 'a>>,
) -> Vec<String> {
    match kind {
        "grid-iterator" => list_column(get_parameter("gridIteratorVariableMapping"), 1),
        "table-iterator" => {
            let mut names = list_column(get_parameter("columnMapping"), 1);
            names.extend(list_column(get_parameter("columnMapping1"), 1));
            names
        }
        "file-iterator" => list_column(get_parameter("variables"), 0),
        "fixed-iterator" => list_items(get_parameter("variablesToIterate"))
            .filter_map(non_null_text)
            .collect(),
        "loop-iterator" => get_parameter("variableToIterate")
            .and_then(non_null_text)
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the texts in one column of a list of rows. The first column has the index 0.
fn list_column(rows: Option<NodeRef<'_, '_>>, column_index: usize) -> Vec<String> {
    list_items(rows)
        .filter_map(|row| row.items()?.nth(column_index).and_then(non_null_text))
        .collect()
}

/// Returns the items of a list, or no items if the node is missing or not a list.
fn list_items<'t, 'a: 't>(node: Option<NodeRef<'t, 'a>>) -> impl Iterator<Item = NodeRef<'t, 'a>> {
    node.and_then(NodeRef::items).into_iter().flatten()
}

/// Reads the calls of a component: the pipelines and the script that it runs. A script is included only if it is in a
/// file, because the text of other scripts is part of the pipeline.
fn parse_calls<'t, 'a: 't>(get_parameter: impl Fn(&str) -> Option<NodeRef<'t, 'a>>) -> Vec<Call> {
    let is_file = get_parameter("scriptLocation").and_then(NodeRef::text) == Some("File");
    let orchestration = get_parameter("orchestrationJob");
    let transformation = get_parameter("transformationJob");
    let script = get_parameter("fileName").filter(|_| is_file);
    [
        orchestration.and_then(|node| parse_call(ReferenceKind::Pipeline(PipelineKind::Orchestration), node)),
        transformation
            .and_then(|node| parse_call(ReferenceKind::Pipeline(PipelineKind::Transformation), node)),
        script.and_then(|node| parse_call(ReferenceKind::Script, node)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Reads a call whose target is the text of the node; `None` if the text is missing or blank.
fn parse_call(kind: ReferenceKind, node: NodeRef<'_, '_>) -> Option<Call> {
    let target = non_null_text(node).filter(|target| !target.trim().is_empty())?;
    Some(Call {
        kind,
        target,
        position: node.position(),
    })
}

/// Reads the variables that a component sets in the pipeline that it calls. Scalars are stored as rows
/// `[variable, value]`, grids as maps with the key `variable`.
fn parse_arguments<'t, 'a: 't>(get_parameter: impl Fn(&str) -> Option<NodeRef<'t, 'a>>) -> Vec<CallArgument> {
    let scalars = list_items(get_parameter("setScalarVariables")).filter_map(|row| row.items()?.next());
    let grids = list_items(get_parameter("setGridVariables")).filter_map(|row| row.get("variable"));
    scalars.chain(grids).filter_map(parse_argument).collect()
}

/// Reads the name and the position of a variable that a call sets; `None` if the name is missing or empty.
fn parse_argument(node: NodeRef<'_, '_>) -> Option<CallArgument> {
    Some(CallArgument {
        name: non_null_text(node).filter(|name| !name.is_empty())?,
        position: node.position(),
    })
}
