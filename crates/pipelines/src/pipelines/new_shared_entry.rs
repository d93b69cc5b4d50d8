//! Adds an entry to the shared-pipelines file in place: other entries and comments keep their bytes.
//!
//! An entry is added on lines of its own, or before the bracket that ends the list. The result is read again, and must
//! contain exactly the expected entries; otherwise nothing is changed.

use super::empty_list::{has_null_list, insert_empty_list};
use super::node_text::format_canonical_text;
use super::shared_pipelines::SharedPipelines;
use super::{LAYOUT_KEY, PipelineOutline, file_name, trim_pipeline_extension};
use sluicegate_base::text::shorten_name;
use sluicegate_yaml::{
    DocumentError, NodeRef, Position, Tree, Value, find_line_ending, format_double_quoted,
    format_plain_or_quoted, indent_width, is_comment_outside_entry, is_entry_start, remove_empty_brackets,
    split_lines,
};
use std::fmt::Write as _;

/// Maximum number of insertions that are tried to find the end of a list in brackets.
const MAX_FLOW_CANDIDATES: usize = 2_000;

/// A new file without entries.
const NEW_FILE: &str = "version: \"1.0\"\ntype: shared-pipelines-config\npipelines: []\n";

/// The reason why an entry cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SharedEditError {
    #[error(transparent)]
    Unreadable(#[from] DocumentError),
    /// The pipeline already has an entry.
    #[error(
        "`{}` is already shared as `{}` on line {line}",
        shorten_name(path),
        shorten_name(id)
    )]
    AlreadyShared { path: String, id: String, line: u32 },
    /// Another pipeline already uses the id.
    #[error("the id `{}` is already used on line {line}", shorten_name(id))]
    UsedId { id: String, line: u32 },
    /// The formatting of the file does not allow editing.
    #[error("the file cannot be edited in place: each entry of `pipelines` must start on its own line")]
    UnsupportedForm,
}

/// An entry for a pipeline, with the pipeline's variables as parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSharedEntry {
    pub path: String,
    pub id: String,
    pub parameters: Vec<NewSharedParameter>,
    /// The names of private variables, which consumers cannot set.
    pub private_names: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSharedParameter {
    pub(crate) name: String,
    kind: Option<String>,
    description: Option<String>,
    /// The default value as YAML on one line.
    default: Option<String>,
    /// The names of the columns of a grid, with their types.
    columns: Vec<(String, Option<String>)>,
}

impl NewSharedEntry {
    /// Builds the entry for the pipeline file with this content. Its public variables become parameters;
    /// `private_names` lists the others, which consumers cannot set. If `id` is `None`, it is made from the file name.
    pub fn for_pipeline(path: &str, id: Option<String>, bytes: &[u8]) -> Result<Self, DocumentError> {
        let tree = Tree::parse_without(bytes, LAYOUT_KEY)?;
        let outline = PipelineOutline::from_node(tree.root())?;
        let mut entry = Self {
            path: path.to_owned(),
            id: id.unwrap_or_else(|| build_default_id(path)),
            parameters: Vec::new(),
            private_names: Vec::new(),
        };
        for (name, _, node) in outline.variables.into_iter().flat_map(NodeRef::entries) {
            if find_metadata_text(node, "visibility").as_deref() == Some("PRIVATE") {
                entry.private_names.push(name.to_owned());
            } else {
                entry.parameters.push(build_parameter(name, node));
            }
        }
        Ok(entry)
    }

    /// Returns the text of the shared-pipelines file with this entry added at the end, or the text of a new file if
    /// `text` is empty. Fails if another entry has the pipeline or the id, or if the file cannot be edited in place.
    pub fn build_edited_text(&self, text: &str) -> Result<String, SharedEditError> {
        let is_empty = text.trim_start_matches('\u{feff}').trim().is_empty();
        let text = if is_empty { NEW_FILE } else { text };
        let text: &str = if has_null_list(text) {
            &insert_empty_list(text).ok_or(SharedEditError::UnsupportedForm)?
        } else {
            text
        };
        let shared_pipelines = SharedPipelines::parse(text.as_bytes())?;
        for entry in &shared_pipelines.entries {
            let line = entry.position.line;
            if entry.pipeline == self.path {
                return Err(SharedEditError::AlreadyShared {
                    path: self.path.clone(),
                    id: entry.id.clone(),
                    line,
                });
            }
            if entry.id == self.id {
                return Err(SharedEditError::UsedId {
                    id: self.id.clone(),
                    line,
                });
            }
        }
        match self.insert_lines(text, &shared_pipelines) {
            // The entries may be in one list in brackets, which has no line for each entry.
            Err(SharedEditError::UnsupportedForm) => self.insert_in_flow_list(text),
            result => result,
        }
    }

    /// Returns the text with the entry on its own lines at the end of the list. Fails for entries in brackets.
    fn insert_lines(
        &self,
        text: &str,
        shared_pipelines: &SharedPipelines,
    ) -> Result<String, SharedEditError> {
        let ending = find_line_ending(text);
        let position = shared_pipelines.position;
        let last_entry = shared_pipelines.entries.last();
        let opened_text = match last_entry {
            Some(_) => Some(text.to_owned()),
            None => remove_empty_brackets(text, position),
        };
        let mut lines = split_lines(&opened_text.ok_or(SharedEditError::UnsupportedForm)?);
        let (line_index, indent) = match last_entry {
            Some(last_entry) => find_entry_end(&lines, last_entry.position.line),
            None => find_list_start(text, position),
        }
        .ok_or(SharedEditError::UnsupportedForm)?;
        lines.insert(line_index, self.format_lines(&indent, ending));
        self.verify_edit(lines.concat(), text)
    }

    /// Returns the text with the entry before the bracket that ends the list. Its position is unknown, so each bracket
    /// is tried, without and with a comma, until the entry is the last one of the list. Fails after too many attempts.
    fn insert_in_flow_list(&self, text: &str) -> Result<String, SharedEditError> {
        let entry = self.format_on_one_line();
        text.match_indices(']')
            .flat_map(|(index, _)| [(index, " "), (index, ", ")])
            .take(MAX_FLOW_CANDIDATES)
            .find_map(|(index, separator)| {
                let (text_before, text_after) = text.split_at(index);
                let candidate = format!("{text_before}{separator}{entry} {text_after}");
                self.verify_edit(candidate, text).ok()
            })
            .ok_or(SharedEditError::UnsupportedForm)
    }

    /// Returns the text. Fails if the list does not end with this id, path and parameter names, or if any other part of
    /// the file differs from the earlier text.
    fn verify_edit(&self, text: String, earlier_text: &str) -> Result<String, SharedEditError> {
        let edited_pipelines =
            SharedPipelines::parse(text.as_bytes()).map_err(|_| SharedEditError::UnsupportedForm)?;
        let Some((last_entry, earlier_entries)) = edited_pipelines.entries.split_last() else {
            return Err(SharedEditError::UnsupportedForm);
        };
        let names = last_entry.parameters.iter().map(|parameter| &parameter.name);
        let is_added = last_entry.id == self.id
            && last_entry.pipeline == self.path
            && names.eq(self.parameters.iter().map(|parameter| &parameter.name));
        let entry_count = earlier_entries.len();
        if is_added && format_file_parts(&text, entry_count) == format_file_parts(earlier_text, usize::MAX) {
            Ok(text)
        } else {
            Err(SharedEditError::UnsupportedForm)
        }
    }

    /// Returns the entry as YAML on one line.
    fn format_on_one_line(&self) -> String {
        let parameters: Vec<String> = self
            .parameters
            .iter()
            .map(|parameter| {
                let value = parameter.format_on_one_line();
                format!("{}: {value}", format_plain_or_quoted(&parameter.name))
            })
            .collect();
        let parameters = parameters.join(", ");
        let space = if parameters.is_empty() { "" } else { " " };
        format!(
            "{{ pipeline: {}, displayName: {}, id: {}, enabled: true, parameters: {{{space}{parameters}{space}}} }}",
            format_plain_or_quoted(&self.path),
            format_plain_or_quoted(file_name(trim_pipeline_extension(&self.path))),
            format_plain_or_quoted(&self.id)
        )
    }

    /// Returns the names of the parameters, in the order of the pipeline.
    pub fn parameter_names(&self) -> Vec<String> {
        self.parameters
            .iter()
            .map(|parameter| parameter.name.clone())
            .collect()
    }

    /// Returns the entry as YAML on several lines, with this indent and line ending.
    fn format_lines(&self, indent: &str, ending: &str) -> String {
        let mut lines = String::new();
        let display_name = format_plain_or_quoted(file_name(trim_pipeline_extension(&self.path)));
        let _ = write!(
            lines,
            "{indent}- pipeline: {}{ending}",
            format_plain_or_quoted(&self.path)
        );
        let _ = write!(lines, "{indent}  displayName: {display_name}{ending}");
        let _ = write!(
            lines,
            "{indent}  id: {}{ending}",
            format_plain_or_quoted(&self.id)
        );
        let _ = write!(lines, "{indent}  enabled: true{ending}");
        if self.parameters.is_empty() {
            let _ = write!(lines, "{indent}  parameters: {{}}{ending}");
            return lines;
        }
        let _ = write!(lines, "{indent}  parameters:{ending}");
        for parameter in &self.parameters {
            let _ = write!(
                lines,
                "{indent}    {}: {}{ending}",
                format_plain_or_quoted(&parameter.name),
                parameter.format_on_one_line()
            );
        }
        lines
    }
}

impl NewSharedParameter {
    /// Returns the map of the parameter as YAML on one line. With `exportAllowed: false`, the parameter's value is not
    /// returned to consumers: users can allow this later, but withdrawing it would break consumers.
    fn format_on_one_line(&self) -> String {
        let mut keys: Vec<String> = Vec::new();
        if let Some(kind) = &self.kind {
            keys.push(format!("type: {}", format_plain_or_quoted(kind)));
        }
        keys.push("exportAllowed: false".to_owned());
        if let Some(description) = &self.description {
            keys.push(format!("description: {}", format_double_quoted(description)));
        }
        if let Some(value) = &self.default {
            keys.push(format!("default: {value}"));
        }
        let mut columns = Vec::new();
        for (name, kind) in &self.columns {
            let column_type = match kind {
                Some(kind) => format!(" columnType: {} ", format_plain_or_quoted(kind)),
                None => String::new(),
            };
            columns.push(format!("{}: {{{column_type}}}", format_plain_or_quoted(name)));
        }
        if !columns.is_empty() {
            keys.push(format!("columns: {{ {} }}", columns.join(", ")));
        }
        format!("{{ {} }}", keys.join(", "))
    }
}

/// Builds the parameter for a variable. The type `NUMBER` of a variable is called `NUMERIC` in a parameter.
fn build_parameter(name: &str, node: NodeRef<'_, '_>) -> NewSharedParameter {
    let kind = find_metadata_text(node, "type").map(|kind| match kind.as_str() {
        "NUMBER" => "NUMERIC".to_owned(),
        _ => kind,
    });
    let default = node.get("defaultValue").filter(|value| !value.is_null());
    let columns = node.get("metadata").and_then(|metadata| metadata.get("columns"));
    NewSharedParameter {
        name: name.to_owned(),
        kind,
        description: find_metadata_text(node, "description").filter(|text| !text.is_empty()),
        default: default.and_then(format_default_value),
        columns: columns.map(parse_columns).unwrap_or_default(),
    }
}

/// Returns the default value as YAML on one line: a scalar, or the rows of a grid; `None` if it contains a map.
fn format_default_value(node: NodeRef<'_, '_>) -> Option<String> {
    if let Some(items) = node.items() {
        let items: Option<Vec<String>> = items.map(format_default_value).collect();
        return Some(format!("[{}]", items?.join(", ")));
    }
    match node.value()? {
        Value::Null => Some("null".to_owned()),
        Value::Text(text) => Some(format_double_quoted(text)),
        Value::Boolean(_) | Value::Natural(_) | Value::OtherNumber => node.text().map(str::to_owned),
    }
}

/// Returns the names and types of a grid's columns, which are stored as a map by name, or as a list of maps or names.
fn parse_columns(node: NodeRef<'_, '_>) -> Vec<(String, Option<String>)> {
    match node.items() {
        Some(items) => items
            .filter_map(|item| {
                let name = item.get("name").unwrap_or(item).text()?;
                Some((name.to_owned(), parse_column_type(item)))
            })
            .collect(),
        None => node
            .entries()
            .map(|(name, _, column)| (name.to_owned(), parse_column_type(column)))
            .collect(),
    }
}

/// Returns the type of a grid's column, from `columnType` or `type`. In a parameter, the type `NUMERIC` of a column is
/// called `NUMBER`. For the type of the variable itself, it is the opposite (see `build_parameter`).
fn parse_column_type(column: NodeRef<'_, '_>) -> Option<String> {
    let node = column.get("columnType").or_else(|| column.get("type"))?;
    match node.text()? {
        "NUMERIC" => Some("NUMBER".to_owned()),
        kind => Some(kind.to_owned()),
    }
}

/// Returns the text of this key in the metadata of a variable; `None` if it is missing or null.
fn find_metadata_text(node: NodeRef<'_, '_>, key: &str) -> Option<String> {
    let value = node.get("metadata")?.get(key)?;
    value.text().filter(|_| !value.is_null()).map(str::to_owned)
}

/// Returns the file's name without extension, in lower case, with hyphens between words (letters, digits, `_`, `.`).
fn build_default_id(path: &str) -> String {
    let name = file_name(trim_pipeline_extension(path)).to_lowercase();
    let words: Vec<&str> = name
        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
        .filter(|word| !word.is_empty())
        .collect();
    words.join("-")
}

/// Returns the canonical texts of all parts of the file: each key with its value, but of the list `pipelines` only the
/// first `entry_count` entries, one by one. Returns `None` if the text is not valid YAML.
fn format_file_parts(text: &str, entry_count: usize) -> Option<Vec<String>> {
    let tree = Tree::parse(text.as_bytes()).ok()?;
    let mut parts = Vec::new();
    for (key, _, value) in tree.root().entries() {
        if key == "pipelines" {
            for entry in value.items().into_iter().flatten().take(entry_count) {
                parts.push(format_canonical_text(entry, &|_| false));
            }
        } else {
            parts.push(format!("{key:?}: {}", format_canonical_text(value, &|_| false)));
        }
    }
    Some(parts)
}

/// Returns the index of the line after the last entry, and the indentation of the entry's dash. The dash is on the line
/// with the number `line` (from 1) or earlier. Blank lines after the entry, and comments that are not indented further
/// than its dash, do not belong to it. A line that is indented further may look like a comment but be part of a text.
fn find_entry_end(lines: &[String], line: u32) -> Option<(usize, String)> {
    let (start, dash_line) = lines
        .iter()
        .enumerate()
        .take(usize::try_from(line).ok()?)
        .rfind(|(_, line)| is_entry_start(line))?;
    let dash_indent = indent_width(dash_line);
    let mut end = start + 1;
    for (index, line) in lines.iter().enumerate().skip(start + 1) {
        if line.trim().is_empty() || is_comment_outside_entry(line, dash_indent) {
            continue;
        }
        if indent_width(line) <= dash_indent {
            break;
        }
        end = index + 1;
    }
    Some((end, " ".repeat(dash_indent)))
}

/// Returns the index and the indentation of the first entry's line, after the brackets of the empty list at this
/// position are removed. A line with only the brackets is removed with them.
fn find_list_start(text: &str, position: Position) -> Option<(usize, String)> {
    let line_index = usize::try_from(position.line).ok()?.checked_sub(1)?;
    let has_key = !text.lines().nth(line_index)?.trim_start().starts_with('[');
    Some((line_index + usize::from(has_key), "  ".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIPELINE: &str = "type: orchestration\npipeline:\n  components: {}\n  variables:\n    day:\n      metadata: { type: TEXT, description: 'the \"day\"', visibility: PUBLIC }\n      defaultValue: 'a: b'\n    size:\n      metadata: { type: NUMBER }\n      defaultValue: 7\n    rows:\n      metadata: { type: GRID, columns: { c 1: { columnType: NUMBER } } }\n    secret:\n      metadata: { type: TEXT, visibility: PRIVATE }\n";

    fn entry() -> NewSharedEntry {
        NewSharedEntry::for_pipeline("sales/Load It.orch.yaml", None, PIPELINE.as_bytes()).unwrap()
    }

    #[test]
    fn new_file_has_variables_as_parameters() {
        insta::assert_snapshot!(entry().build_edited_text("").unwrap(), @r#"
        version: "1.0"
        type: shared-pipelines-config
        pipelines:
          - pipeline: sales/Load It.orch.yaml
            displayName: Load It
            id: load-it
            enabled: true
            parameters:
              day: { type: TEXT, exportAllowed: false, description: "the \"day\"", default: "a: b" }
              size: { type: NUMERIC, exportAllowed: false, default: 7 }
              rows: { type: GRID, exportAllowed: false, columns: { c 1: { columnType: NUMBER } } }
        "#);
        assert_eq!(entry().private_names, ["secret"]);
    }

    #[test]
    fn entry_is_added_after_last_one_and_other_bytes_stay() {
        let added = entry();
        for text in [
            "# a\npipelines:\n- id: a # b\n  pipeline: a.orch.yaml\n\n# end\nversion: '1.0'\n",
            "pipelines:\n    - { id: a, pipeline: a.orch.yaml }",
            "pipelines:\r\n  - id: a\r\n    pipeline: a.orch.yaml\r\n",
            "pipelines: [] # none\nversion: '1.0'\n",
            "pipelines:\nversion: '1.0'\n",
            "pipelines: # none\nversion: '1.0'\n",
            "pipelines: ~\r\n",
            "version: '1.0'\npipelines: null # none",
            "version: '1.0'\n# pipelines:\npipelines:\n",
            "\u{feff}pipelines:\n",
            "'pipelines':\nversion: '1.0'\n",
            "pipelines:\n  # none\n  null\nversion: '1.0'\n",
            "pipelines:\n- id: a\n  pipeline: a.orch.yaml\n  notes: |\n    text\n    # heading\nversion: '1.0'\n",
            "pipelines:\n  -\n    id: a\n    pipeline: a.orch.yaml\n  # about b\n  - id: b\n    pipeline: b.orch.yaml\n",
        ] {
            let edited = added.build_edited_text(text).unwrap();
            let start = edited.find("- pipeline: sales").unwrap();
            let lines: Vec<&str> = edited.split_inclusive('\n').collect();
            let own = added.format_lines("", "\n").lines().count();
            assert!(edited[start..].contains("id: load-it"), "{edited}");
            assert_eq!(lines.len(), text.lines().count() + own, "{edited}");
            let is_kept = |line: &&str| !line.contains("[]") && !line.contains("null") && !line.contains('~');
            for line in text.lines().filter(is_kept) {
                assert!(edited.contains(line.trim_end()), "{line}: {edited}");
            }
            assert!(matches!(
                added.build_edited_text(&edited),
                Err(SharedEditError::AlreadyShared { .. })
            ));
        }
    }

    #[test]
    fn last_entry_keeps_all_its_values() {
        let notes =
            "pipelines:\n  - id: a\n    pipeline: a.orch.yaml\n    notes: |\n      text\n      # heading\n";
        let edited = entry().build_edited_text(notes).unwrap();
        assert!(edited.starts_with(notes), "{edited}");
        let blank_lines = notes.replace("|\n", "|+\n") + "\n\n";
        assert_eq!(
            entry().build_edited_text(&blank_lines),
            Err(SharedEditError::UnsupportedForm)
        );
    }

    #[test]
    fn null_in_place_of_list_is_replaced_or_refused() {
        let edited = entry().build_edited_text("{ pipelines: null }\n").unwrap();
        assert!(edited.starts_with("{ pipelines: [ { pipeline: "), "{edited}");
        for text in ["a: &a null\npipelines: *a\n", "pipelines: !!null null\n"] {
            assert_eq!(
                entry().build_edited_text(text),
                Err(SharedEditError::UnsupportedForm),
                "{text}"
            );
        }
    }

    #[test]
    fn entry_is_added_at_end_of_list_in_brackets() {
        let added = entry();
        for text in [
            "pipelines: [ { id: a, pipeline: 'a[1].orch.yaml' } ]\n",
            "pipelines: [{ id: a, pipeline: a.orch.yaml, note: [ x ] }] # [ the ] end\n",
            "pipelines: [\n    { id: a, pipeline: a.orch.yaml }, # a\n  ]\n",
            "pipelines: [\n    { id: a, pipeline: a.orch.yaml } # a\n  ]\nversion: '1.0'\n",
            "{ pipelines: [] }\n",
        ] {
            let edited = added.build_edited_text(text).unwrap();
            let own = added.format_on_one_line();
            let (before, after) = edited.split_once(&own).unwrap();
            assert!(text.starts_with(before.trim_end_matches([' ', ','])), "{edited}");
            assert!(text.ends_with(after.trim_start()), "{edited}");
            assert_eq!(text.lines().count(), edited.lines().count(), "{edited}");
        }
    }

    #[test]
    fn brackets_of_empty_list_are_removed_in_every_form() {
        let added = entry();
        let lines = added.format_lines("  ", "\n");
        for (text, text_before, text_after) in [
            ("pipelines: [ ]\n", "pipelines:\n", ""),
            ("pipelines: []", "pipelines:\n", ""),
            ("pipelines: [\n  ]\nname: a\n", "pipelines:\n", "name: a\n"),
            ("pipelines:\n  []\nname: a\n", "pipelines:\n", "name: a\n"),
            ("pipelines: &a [ ] # was []\n", "pipelines: &a # was []\n", ""),
            ("\u{feff}pipelines: [ ]\n", "\u{feff}pipelines:\n", ""),
        ] {
            let edited = added.build_edited_text(text).unwrap();
            assert_eq!(edited, format!("{text_before}{lines}{text_after}"), "{text}");
        }
    }

    #[test]
    fn used_id_and_file_without_list_are_refused() {
        let added = entry();
        let used = "pipelines:\n  - { id: load-it, pipeline: a.orch.yaml }\n";
        assert!(matches!(
            added.build_edited_text(used),
            Err(SharedEditError::UsedId { line: 2, .. })
        ));
        assert!(matches!(
            added.build_edited_text("pipelines: 1\n"),
            Err(SharedEditError::Unreadable(_))
        ));
    }
}
