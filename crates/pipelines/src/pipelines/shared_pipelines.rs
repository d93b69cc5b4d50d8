//! The shared-pipelines file, which lists the pipelines that a project offers to others.

use super::node_text::{format_canonical_text, format_value};
use super::pipeline_facts::PipelineFacts;
use sluicegate_yaml::{DocumentError, NodeRef, Position, Tree, Value, shorten};
use std::collections::HashMap;

/// The content of `<CONFIG_DIR>/shared-pipelines.yaml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPipelines {
    /// The entries, in file order.
    pub entries: Vec<SharedEntry>,
    pub position: Position,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedEntry {
    /// The path of the pipeline from the repository root, with its extension.
    pub pipeline: String,
    pub pipeline_position: Position,
    /// The id by which consumers refer to the pipeline; unique in the file.
    pub id: String,
    pub display_name: Option<String>,
    pub description: Option<String>,
    /// Whether the pipeline is offered; true if the file does not set it.
    pub enabled: bool,
    /// The parameters, in file order.
    pub parameters: Vec<SharedParameter>,
    pub position: Position,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedParameter {
    pub name: String,
    pub position: Position,
    /// The type: `TEXT`, `NUMERIC`, `GRID`, or any other text in the file.
    pub kind: Option<String>,
    /// Whether consumers get the parameter's value back; false if the file does not set it.
    pub export_allowed: bool,
    pub description: Option<String>,
    /// The default value, on one line; `None` if it is missing or null.
    pub default: Option<String>,
    /// The columns of a grid, in file order.
    pub columns: Vec<SharedColumn>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedColumn {
    pub name: String,
    pub position: Position,
    pub kind: Option<String>,
}

impl SharedEntry {
    /// Returns the parameters that the pipeline does not declare as variables, according to these facts.
    pub fn undeclared_parameters<'e>(
        &'e self,
        facts: &'e PipelineFacts,
    ) -> impl Iterator<Item = &'e SharedParameter> {
        self.parameters
            .iter()
            .filter(|parameter| !facts.declares_variable(&parameter.name))
    }
}

impl SharedPipelines {
    /// Parses the shared-pipelines file. Fails if two entries have the same id. Ignores unknown keys, and parts of a
    /// parameter that have an unexpected form.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let tree = Tree::parse(bytes)?;
        let root = tree.root();
        let list = root
            .get("pipelines")
            .ok_or_else(|| DocumentError::at_position(root.position(), "the list `pipelines` is missing"))?;
        let items = list
            .items()
            .ok_or_else(|| DocumentError::at_position(list.position(), "`pipelines` is not a list"))?;
        let mut id_positions = HashMap::new();
        let entries = items
            .map(|item| reject_duplicate_id(&mut id_positions, parse_entry(item)?))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            entries,
            position: list.position(),
        })
    }

    /// Returns the content of the shared-pipelines file as a text that is equal for equal contents. The order of
    /// entries and keys, quotes and comments have no effect.
    pub fn parse_canonical_text(bytes: &[u8]) -> Result<String, DocumentError> {
        let tree = Tree::parse(bytes)?;
        Ok(format_canonical_text(tree.root(), &|key| key == "pipelines"))
    }
}

/// Returns the entry, or an error if an earlier entry has its id.
fn reject_duplicate_id(
    id_positions: &mut HashMap<String, Position>,
    entry: SharedEntry,
) -> Result<SharedEntry, DocumentError> {
    if let Some(first) = id_positions.insert(entry.id.clone(), entry.position) {
        let id = shorten(&entry.id);
        return Err(DocumentError::at_position(
            entry.position,
            format!("the id `{id}` is already used on line {}", first.line),
        ));
    }
    Ok(entry)
}

/// Reads an entry of the shared-pipelines file. Fails if the path or the id is missing, or if a value is invalid.
fn parse_entry(node: NodeRef<'_, '_>) -> Result<SharedEntry, DocumentError> {
    if !node.is_map() {
        return Err(DocumentError::at_position(
            node.position(),
            "an entry of `pipelines` is not a map",
        ));
    }
    Ok(SharedEntry {
        pipeline: require_text(node, "pipeline")?,
        pipeline_position: node.get("pipeline").unwrap_or(node).position(),
        id: require_text(node, "id")?,
        display_name: optional_text(node, "displayName")?,
        description: optional_text(node, "description")?,
        enabled: parse_enabled(node)?,
        parameters: parse_parameters(node)?,
        position: node.position(),
    })
}

/// Returns the text of a key, or an error if it is missing or empty.
fn require_text(node: NodeRef<'_, '_>, key: &str) -> Result<String, DocumentError> {
    match optional_text(node, key)? {
        Some(text) if !text.is_empty() => Ok(text),
        _ => Err(DocumentError::at_position(
            node.position(),
            format!("the required key `{key}` is missing or empty"),
        )),
    }
}

/// Returns the scalar of this key as written, because ids such as `2024` may be unquoted; `None` if it is missing or
/// null. Fails for a list or a map.
fn optional_text(node: NodeRef<'_, '_>, key: &str) -> Result<Option<String>, DocumentError> {
    let Some(value) = node.get(key).filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let text = value
        .text()
        .ok_or_else(|| DocumentError::at_position(value.position(), format!("`{key}` is not a string")))?;
    Ok(Some(text.to_owned()))
}

/// Returns whether the entry is enabled, which is the default. A value that is not a boolean is an error.
fn parse_enabled(node: NodeRef<'_, '_>) -> Result<bool, DocumentError> {
    match node.get("enabled").map(|value| (value, value.value())) {
        None | Some((_, Some(Value::Null))) => Ok(true),
        Some((_, Some(Value::Boolean(is_enabled)))) => Ok(is_enabled),
        Some((value, _)) => Err(DocumentError::at_position(
            value.position(),
            "`enabled` is neither `true` nor `false`",
        )),
    }
}

/// Reads the parameters of an entry, which may be missing or null.
fn parse_parameters(node: NodeRef<'_, '_>) -> Result<Vec<SharedParameter>, DocumentError> {
    let Some(parameters) = node.get("parameters").filter(|value| !value.is_null()) else {
        return Ok(Vec::new());
    };
    if !parameters.is_map() {
        return Err(DocumentError::at_position(
            parameters.position(),
            "`parameters` is not a map",
        ));
    }
    Ok(parameters
        .entries()
        .map(|(name, position, node)| parse_parameter(name, position, node))
        .collect())
}

/// Reads a parameter. Its values are kept as text, because they are only compared and shown.
fn parse_parameter(name: &str, position: Position, node: NodeRef<'_, '_>) -> SharedParameter {
    let value_text = |key: &str| node.get(key).and_then(format_value);
    let columns = node.get("columns").into_iter().flat_map(NodeRef::entries);
    SharedParameter {
        name: name.to_owned(),
        position,
        kind: value_text("type"),
        export_allowed: node.get("exportAllowed").and_then(NodeRef::value) == Some(Value::Boolean(true)),
        description: value_text("description"),
        default: value_text("default"),
        columns: columns
            .map(|(name, position, node)| SharedColumn {
                name: name.to_owned(),
                position,
                kind: node.get("columnType").and_then(format_value),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"version: "1.0"
type: shared-pipelines-config
pipelines:
  - pipeline: folder/load it.orch.yaml
    displayName: load it
    id: load-it
    description: text
    enabled: true
    parameters:
      var_a: { type: TEXT, exportAllowed: true, description: "", default: "x" }
      grid_b: { type: GRID, exportAllowed: true, columns: { c1: { columnType: NUMBER } } }
  - id: 2024
    pipeline: b.tran.yaml
    enabled: false
    parameters: {}
  - { id: c, pipeline: c.tran.yaml, parameters: , description: ~ }
"#;

    #[test]
    fn entries_are_read_with_positions() {
        let shared = SharedPipelines::parse(FILE.as_bytes()).unwrap();
        let [first, second, third] = shared.entries.as_slice() else {
            panic!("three entries expected")
        };
        assert_eq!(
            (first.pipeline.as_str(), first.id.as_str()),
            ("folder/load it.orch.yaml", "load-it")
        );
        assert_eq!(first.display_name.as_deref(), Some("load it"));
        assert_eq!(first.description.as_deref(), Some("text"));
        assert!(first.enabled);
        let [text, grid] = first.parameters.as_slice() else {
            panic!("two parameters expected")
        };
        assert_eq!(
            (text.name.as_str(), text.position),
            ("var_a", Position { line: 10, column: 7 })
        );
        assert_eq!(
            (text.kind.as_deref(), text.default.as_deref()),
            (Some("TEXT"), Some("x"))
        );
        assert_eq!(
            (text.export_allowed, text.description.as_deref()),
            (true, Some(""))
        );
        assert_eq!((grid.position.line, grid.default.as_deref()), (11, None));
        assert_eq!(grid.columns[0].name, "c1");
        assert_eq!(grid.columns[0].kind.as_deref(), Some("NUMBER"));
        assert_eq!(shared.position.line, 4);
        assert_eq!(first.position, Position { line: 4, column: 5 });
        assert_eq!((second.id.as_str(), second.enabled), ("2024", false));
        assert_eq!(second.display_name, None);
        assert_eq!((third.enabled, third.description.as_deref()), (true, None));
        assert!(third.parameters.is_empty());
    }

    #[test]
    fn parameter_part_of_unexpected_form_is_ignored() {
        let yaml = "pipelines:\n- id: a\n  pipeline: p\n  parameters:\n    x: 1\n    y:\n    z: { exportAllowed: yes, default: [1, {b: ~, a: 'q'}], columns: [c] }\n";
        let shared = SharedPipelines::parse(yaml.as_bytes()).unwrap();
        let [x, y, z] = shared.entries[0].parameters.as_slice() else {
            panic!("three parameters expected")
        };
        for plain in [x, y] {
            assert_eq!(
                (&plain.kind, &plain.default, plain.export_allowed),
                (&None, &None, false)
            );
        }
        assert_eq!(z.default.as_deref(), Some(r#"[1, {"a": "q", "b": null}]"#));
        assert!(!z.export_allowed && z.columns.is_empty());
    }

    #[test]
    fn equivalent_files_have_equal_canonical_texts() {
        let meaning = |yaml: &str| SharedPipelines::parse_canonical_text(yaml.as_bytes()).unwrap();
        let one =
            "# a\nversion: '1.0'\npipelines:\n- {id: a, pipeline: p, x: [1, 2]}\n- {id: b, pipeline: q}\n";
        let same =
            "pipelines:\n- {pipeline: q, id: b}\n- {x: [1, 2], pipeline: \"p\", id: a}\nversion: \"1.0\"\n";
        assert_eq!(meaning(one), meaning(same));
        for other in [
            one.replace("[1, 2]", "[2, 1]"),
            one.replace("'1.0'", "1.0"),
            one.replace("id: b", "id: c"),
        ] {
            assert_ne!(meaning(one), meaning(&other), "{other}");
        }
    }

    #[test]
    fn empty_list_has_no_shared_pipelines() {
        assert!(
            SharedPipelines::parse(b"pipelines: []")
                .unwrap()
                .entries
                .is_empty()
        );
    }

    #[test]
    fn invalid_entry_is_rejected_with_position() {
        let table = [
            ("", "the document is empty", (1, 1)),
            ("a: [", "not YAML", (2, 1)),
            ("x: 1", "`pipelines` is missing", (1, 1)),
            ("[]", "`pipelines` is missing", (1, 1)),
            ("pipelines:", "not a list", (1, 10)),
            ("pipelines: {}", "not a list", (1, 12)),
            ("pipelines:\n- 1", "not a map", (2, 3)),
            (
                "pipelines:\n- id: a",
                "the required key `pipeline` is missing or empty",
                (2, 3),
            ),
            (
                "pipelines:\n- pipeline: a",
                "the required key `id` is missing or empty",
                (2, 3),
            ),
            (
                "pipelines:\n- pipeline: a\n  id: ''",
                "the required key `id` is missing or empty",
                (2, 3),
            ),
            (
                "pipelines:\n- pipeline: a\n  id: [x]",
                "`id` is not a string",
                (3, 7),
            ),
            (
                "pipelines:\n- pipeline: a\n  id: x\n  enabled: yes",
                "neither `true` nor",
                (4, 12),
            ),
            (
                "pipelines:\n- pipeline: a\n  id: x\n  parameters: []",
                "`parameters` is not",
                (4, 15),
            ),
            (
                "pipelines:\n- {pipeline: a, id: x}\n- {pipeline: b, id: x}",
                "`x` is already used on line 2",
                (3, 3),
            ),
            ("pipelines: []\npipelines: []", "duplicate key", (2, 1)),
        ];
        for (yaml, message, (line, column)) in table {
            let error = SharedPipelines::parse(yaml.as_bytes()).unwrap_err();
            assert!(error.message.contains(message), "{yaml:?}: {error}");
            assert_eq!(
                error.position,
                Some(Position { line, column }),
                "{yaml:?}: {error}"
            );
        }
    }
}
