//! The shared-pipelines file: which pipelines a project offers to others.

use crate::yaml::{DocumentError, NodeRef, Position, Tree, Value, shortened};
use std::collections::HashMap;

/// `<CONFIG_DIR>/shared-pipelines.yaml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPipelines {
    /// In file order.
    pub entries: Vec<SharedEntry>,
}

/// One shared pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedEntry {
    /// The path from the repository root, with extension.
    pub pipeline: String,
    /// By this consumers name it; unique in the file.
    pub id: String,
    /// The name for people.
    pub display_name: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// Whether it is offered; true where the file does not say.
    pub enabled: bool,
    /// The names of the parameters and their places, in file order.
    pub parameters: Vec<(String, Position)>,
    /// Where the entry begins.
    pub position: Position,
}

impl SharedPipelines {
    /// Reads the file. Further keys are ignored, and so are the types of the parameters.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let tree = Tree::read(bytes, None)?;
        let root = tree.root();
        let list = root
            .get("pipelines")
            .ok_or_else(|| DocumentError::at(root.position(), "the list `pipelines` is missing"))?;
        let items = list
            .items()
            .ok_or_else(|| DocumentError::at(list.position(), "`pipelines` is not a list"))?;
        let mut known = HashMap::new();
        let entries = items
            .map(|item| unique(&mut known, entry(item)?))
            .collect::<Result<_, _>>()?;
        Ok(Self { entries })
    }
}

fn unique(known: &mut HashMap<String, Position>, entry: SharedEntry) -> Result<SharedEntry, DocumentError> {
    if let Some(first) = known.insert(entry.id.clone(), entry.position) {
        let id = shortened(&entry.id);
        return Err(DocumentError::at(
            entry.position,
            format!("the id `{id}` is that of the entry on line {} too", first.line),
        ));
    }
    Ok(entry)
}

fn entry(node: NodeRef<'_, '_>) -> Result<SharedEntry, DocumentError> {
    if !node.is_map() {
        return Err(DocumentError::at(
            node.position(),
            "an entry of `pipelines` is not a map",
        ));
    }
    Ok(SharedEntry {
        pipeline: required(node, "pipeline")?,
        id: required(node, "id")?,
        display_name: text(node, "displayName")?,
        description: text(node, "description")?,
        enabled: enabled(node)?,
        parameters: parameters(node)?,
        position: node.position(),
    })
}

fn required(node: NodeRef<'_, '_>, key: &str) -> Result<String, DocumentError> {
    match text(node, key)? {
        Some(text) if !text.is_empty() => Ok(text),
        _ => Err(DocumentError::at(
            node.position(),
            format!("the entry has no `{key}`"),
        )),
    }
}

/// A scalar as it is written, since people leave ids such as `2024` unquoted; none for null.
fn text(node: NodeRef<'_, '_>, key: &str) -> Result<Option<String>, DocumentError> {
    let Some(value) = node.get(key).filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let text = value
        .text()
        .ok_or_else(|| DocumentError::at(value.position(), format!("`{key}` is not a text")))?;
    Ok(Some(text.to_owned()))
}

fn enabled(node: NodeRef<'_, '_>) -> Result<bool, DocumentError> {
    match node.get("enabled").map(|value| (value, value.value())) {
        None | Some((_, Some(Value::Null))) => Ok(true),
        Some((_, Some(Value::Boolean(enabled)))) => Ok(enabled),
        Some((value, _)) => Err(DocumentError::at(
            value.position(),
            "`enabled` is neither `true` nor `false`",
        )),
    }
}

fn parameters(node: NodeRef<'_, '_>) -> Result<Vec<(String, Position)>, DocumentError> {
    let Some(parameters) = node.get("parameters").filter(|value| !value.is_null()) else {
        return Ok(Vec::new());
    };
    if !parameters.is_map() {
        return Err(DocumentError::at(
            parameters.position(),
            "`parameters` is not a map",
        ));
    }
    let names = parameters.entries();
    Ok(names
        .map(|(name, position, _)| (name.to_owned(), position))
        .collect())
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
    fn entries_are_read_with_their_places() {
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
        let place = |line| Position { line, column: 7 };
        assert_eq!(
            first.parameters,
            [("var_a".into(), place(10)), ("grid_b".into(), place(11))]
        );
        assert_eq!(first.position, Position { line: 4, column: 5 });
        assert_eq!((second.id.as_str(), second.enabled), ("2024", false));
        assert_eq!(second.display_name, None);
        assert_eq!((third.enabled, third.description.as_deref()), (true, None));
        assert!(third.parameters.is_empty());
    }

    #[test]
    fn an_empty_list_is_a_file_without_shared_pipelines() {
        assert!(
            SharedPipelines::parse(b"pipelines: []")
                .unwrap()
                .entries
                .is_empty()
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let table = [
            ("", "the document is empty", (1, 1)),
            ("a: [", "not YAML", (2, 1)),
            ("x: 1", "`pipelines` is missing", (1, 1)),
            ("[]", "`pipelines` is missing", (1, 1)),
            ("pipelines:", "not a list", (1, 10)),
            ("pipelines: {}", "not a list", (1, 12)),
            ("pipelines:\n- 1", "not a map", (2, 3)),
            ("pipelines:\n- id: a", "no `pipeline`", (2, 3)),
            ("pipelines:\n- pipeline: a", "no `id`", (2, 3)),
            ("pipelines:\n- pipeline: a\n  id: ''", "no `id`", (2, 3)),
            (
                "pipelines:\n- pipeline: a\n  id: [x]",
                "`id` is not a text",
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
                "`x` is that of the entry on line 2",
                (3, 3),
            ),
            ("pipelines: []\npipelines: []", "stands twice", (2, 1)),
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
