//! Reads the model of a pipeline from the nodes of a document.

use super::model::{
    Argument, Call, Component, Condition, Kind, Link, LinkRole, Pipeline, PipelineVariable, ReferenceKind,
};
use crate::yaml::{DocumentError, NodeRef, Position, Tree, Value, shortened};

/// Some files have keys that YAML reads as booleans, so the case is ignored.
const CONDITIONS: [Condition; 5] = [
    Condition::Unconditional,
    Condition::Success,
    Condition::Failure,
    Condition::True,
    Condition::False,
];

impl Pipeline {
    /// Reads a pipeline file.
    ///
    /// A pipeline is a map with a `pipeline` key whose value, and whose `components`, are a map or null, and with a
    /// valid `type`. Other errors are ignored.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        Self::of(&Tree::read(bytes, Some("design"))?)
    }

    /// Reads a pipeline from a document.
    pub fn of(tree: &Tree<'_>) -> Result<Self, DocumentError> {
        pipeline(tree.root())
    }
}

impl Kind {
    /// Reads the kind from the content of a pipeline file.
    pub fn read(bytes: &[u8]) -> Result<Self, DocumentError> {
        kind(Tree::read(bytes, Some("design"))?.root())
    }
}

/// The parts of a pipeline's document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline<'t, 'a> {
    /// From the `type` key.
    pub kind: Kind,
    /// The map of components, or null, if present.
    pub components: Option<NodeRef<'t, 'a>>,
    /// The value of `variables`, if present.
    pub variables: Option<NodeRef<'t, 'a>>,
}

impl<'t, 'a> Outline<'t, 'a> {
    /// Reads the parts of a document that is a pipeline; see [`Pipeline::parse`].
    pub(crate) fn of(root: NodeRef<'t, 'a>) -> Result<Self, DocumentError> {
        let kind = kind(root)?;
        let pipeline = root
            .get("pipeline")
            .ok_or_else(|| DocumentError::at(root.position(), "the key `pipeline` is missing"))?;
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

fn pipeline(root: NodeRef<'_, '_>) -> Result<Pipeline, DocumentError> {
    let outline = Outline::of(root)?;
    let kind = outline.kind;
    let components = outline.components.map(|components| {
        let entries = components.entries();
        entries.map(|(name, position, node)| component(kind, name, position, node))
    });
    let variables = outline.variables.map(|variables| {
        let entries = variables.entries();
        entries.map(|(name, position, node)| variable(name, position, node))
    });
    Ok(Pipeline::new(
        kind,
        components.map(Iterator::collect).unwrap_or_default(),
        variables.map(Iterator::collect).unwrap_or_default(),
    ))
}

fn kind(root: NodeRef<'_, '_>) -> Result<Kind, DocumentError> {
    if !root.is_map() {
        return Err(DocumentError::at(
            root.position(),
            "a pipeline is a map with the keys `type` and `pipeline`",
        ));
    }
    let node = root
        .get("type")
        .ok_or_else(|| DocumentError::at(root.position(), "the key `type` is missing"))?;
    Kind::ALL
        .into_iter()
        .find(|kind| node.text() == Some(kind.name()))
        .ok_or_else(|| unknown_kind(node))
}

fn unknown_kind(node: NodeRef<'_, '_>) -> DocumentError {
    let found = node
        .text()
        .map(|text| format!("`{}`, and ", shortened(text)))
        .unwrap_or_default();
    DocumentError::at(
        node.position(),
        format!("`type` is {found}neither `orchestration` nor `transformation`"),
    )
}

fn require_map_or_null(node: NodeRef<'_, '_>, what: &str) -> Result<(), DocumentError> {
    if node.is_map() || node.is_null() {
        return Ok(());
    }
    Err(DocumentError::at(
        node.position(),
        format!("`{what}` is not a map"),
    ))
}

fn component(pipeline: Kind, name: &str, position: Position, node: NodeRef<'_, '_>) -> Component {
    let kind = node.get("type").and_then(text_of);
    let parameters = node.get("parameters");
    let parameter = |key: &str| parameters.and_then(|parameters| parameters.get(key));
    Component {
        name: name.to_owned(),
        position,
        skipped: node.get("skipped").and_then(NodeRef::value) == Some(Value::Boolean(true)),
        links: match pipeline {
            Kind::Orchestration => orchestration_links(node),
            Kind::Transformation => sources(node),
        },
        concurrency: parameter("concurrency").and_then(text_of),
        iteration_variables: kind
            .as_deref()
            .map(|kind| iteration_variables(kind, parameter))
            .unwrap_or_default(),
        calls: calls(parameter),
        arguments: arguments(parameter),
        kind,
    }
}

fn variable(name: &str, position: Position, node: NodeRef<'_, '_>) -> PipelineVariable {
    PipelineVariable {
        name: name.to_owned(),
        position,
        scope: node
            .get("metadata")
            .and_then(|metadata| metadata.get("scope"))
            .and_then(text_of),
    }
}

/// Returns the text of a scalar that is not null.
fn text_of(node: NodeRef<'_, '_>) -> Option<String> {
    node.text().filter(|_| !node.is_null()).map(ToOwned::to_owned)
}

fn orchestration_links(node: NodeRef<'_, '_>) -> Vec<Link> {
    let mut links = Vec::new();
    for (key, _, names) in node.get("transitions").into_iter().flat_map(NodeRef::entries) {
        let known = CONDITIONS
            .into_iter()
            .find(|known| known.key().eq_ignore_ascii_case(key));
        if let Some(condition) = known {
            add_list(&mut links, LinkRole::Transition, Some(condition), names);
        }
    }
    links.extend(
        node.get("iterationTarget")
            .and_then(|target| link(LinkRole::IterationTarget, None, target)),
    );
    links
}

fn sources(node: NodeRef<'_, '_>) -> Vec<Link> {
    let mut links = Vec::new();
    if let Some(names) = node.get("sources") {
        add_list(&mut links, LinkRole::Source, None, names);
    }
    links
}

fn add_list(links: &mut Vec<Link>, role: LinkRole, condition: Option<Condition>, names: NodeRef<'_, '_>) {
    if let Some(names) = names.items() {
        links.extend(names.filter_map(|name| link(role, condition, name)));
    }
}

fn link(role: LinkRole, condition: Option<Condition>, node: NodeRef<'_, '_>) -> Option<Link> {
    Some(Link {
        role,
        condition,
        name: node.text()?.to_owned(),
        is_null: node.is_null(),
        position: node.position(),
    })
}

/// Returns the variables that an iterator sets. Each type of iterator stores them in another form. The parameter
/// `gridVariable` is the grid that is read and is not included.
fn iteration_variables<'t, 'a: 't>(
    kind: &str,
    parameter: impl Fn(&str) -> Option<NodeRef<'t, 'a>>,
) -> Vec<String> {
    match kind {
        "grid-iterator" => column(parameter("gridIteratorVariableMapping"), 1),
        "table-iterator" => {
            let mut names = column(parameter("columnMapping"), 1);
            names.extend(column(parameter("columnMapping1"), 1));
            names
        }
        "file-iterator" => column(parameter("variables"), 0),
        "fixed-iterator" => list(parameter("variablesToIterate"))
            .filter_map(text_of)
            .collect(),
        "loop-iterator" => parameter("variableToIterate")
            .and_then(text_of)
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

fn column(rows: Option<NodeRef<'_, '_>>, at: usize) -> Vec<String> {
    list(rows)
        .filter_map(|row| row.items()?.nth(at).and_then(text_of))
        .collect()
}

fn list<'t, 'a: 't>(node: Option<NodeRef<'t, 'a>>) -> impl Iterator<Item = NodeRef<'t, 'a>> {
    node.and_then(NodeRef::items).into_iter().flatten()
}

fn calls<'t, 'a: 't>(parameter: impl Fn(&str) -> Option<NodeRef<'t, 'a>>) -> Vec<Call> {
    let call = |kind, key: &str| {
        let node = parameter(key)?;
        let target = text_of(node).filter(|target| !target.trim().is_empty())?;
        Some(Call {
            kind,
            target,
            position: node.position(),
        })
    };
    let is_file = parameter("scriptLocation").and_then(NodeRef::text) == Some("File");
    [
        call(ReferenceKind::Pipeline(Kind::Orchestration), "orchestrationJob"),
        call(ReferenceKind::Pipeline(Kind::Transformation), "transformationJob"),
        call(ReferenceKind::Script, "fileName").filter(|_| is_file),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the variables that a call sets: scalars are rows [variable, value], grids are maps with the key `variable`.
fn arguments<'t, 'a: 't>(parameter: impl Fn(&str) -> Option<NodeRef<'t, 'a>>) -> Vec<Argument> {
    let scalars = list(parameter("setScalarVariables")).filter_map(|row| row.items()?.next());
    let grids = list(parameter("setGridVariables")).filter_map(|row| row.get("variable"));
    let argument = |node: NodeRef<'_, '_>| {
        Some(Argument {
            name: text_of(node).filter(|name| !name.is_empty())?,
            position: node.position(),
        })
    };
    scalars.chain(grids).filter_map(argument).collect()
}
