//! A file as a value, with the position of each value in it.

use super::DefinitionError;
use super::number::parse_number;
use serde_json::{Map, Value};
use sluicegate_base::duplicate_key::find_duplicate_key;
use sluicegate_base::input;
use sluicegate_base::text;
use sluicegate_yaml::{NodeRef, Position, Tree};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Maximum size of a file, in bytes.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Path of the complete document.
pub(super) const ROOT_PATH: &str = "";

/// Maximum number of positions in a file: YAML aliases can multiply them.
const MAX_POSITIONS: usize = 200_000;

/// Maximum size of the paths and texts of all values together, in megabytes: long keys and YAML aliases can multiply
/// them.
const MAX_TOTAL_MEGABYTES: usize = 64;

/// The content of a file, with the position of each value in it.
#[derive(Debug, Clone)]
pub struct Document {
    file: PathBuf,
    pub value: Value,
    positions: HashMap<String, Position>,
    /// Numbers that are sent in another notation than in the file, with the file's notation.
    original_notations: HashMap<String, String>,
}

impl Document {
    /// Reads a YAML or JSON file. Errors show its path as `display_path`.
    pub fn load(path: &Path, display_path: &Path) -> Result<Self, DefinitionError> {
        let bytes = input::read_file(path, MAX_FILE_BYTES).map_err(|error| {
            let no_position = None;
            DefinitionError::new(
                display_path,
                no_position,
                format!("could not read the file: {error}"),
            )
        })?;
        Self::parse(&bytes, display_path)
    }

    /// Parses YAML, which includes most JSON. JSON that is indented with tabs is parsed with blanks in their place.
    /// Other input that is valid only as JSON (pairs of `\u` escapes) is parsed as JSON, and its values have no
    /// positions. Only an error in the syntax, whose message begins with `not YAML`, leads to a second attempt.
    pub(crate) fn parse(bytes: &[u8], display_path: &Path) -> Result<Self, DefinitionError> {
        let error = match Tree::parse(bytes) {
            Ok(tree) => return Self::from_tree(&tree, display_path),
            Err(error) => error,
        };
        if error.message.starts_with("not YAML")
            && let Ok(value) = serde_json::from_slice(bytes)
        {
            // In JSON, a tab is never part of a string.
            if bytes.contains(&b'\t') {
                return Self::parse(&replace_tabs(bytes), display_path);
            }
            if let Some(reason) = find_duplicate_key(bytes) {
                let no_position = None;
                return Err(DefinitionError::new(display_path, no_position, reason));
            }
            return Ok(Self {
                file: display_path.to_owned(),
                value,
                positions: HashMap::new(),
                original_notations: HashMap::new(),
            });
        }
        Err(DefinitionError::new(display_path, error.position, error.message))
    }

    /// Converts a parsed file to a value with positions.
    fn from_tree(tree: &Tree<'_>, display_path: &Path) -> Result<Self, DefinitionError> {
        let mut reader = ValueReader {
            file: display_path,
            positions: HashMap::new(),
            original_notations: HashMap::new(),
            total_bytes: 0,
        };
        let value = reader.read_value(tree.root(), tree.root().position(), String::new())?;
        Ok(Self {
            file: display_path.to_owned(),
            value,
            positions: reader.positions,
            original_notations: reader.original_notations,
        })
    }

    /// Returns the position of the value at this path (`a.b[0].c`), or of its nearest parent that has a position.
    pub(crate) fn nearest_position(&self, path: &str) -> Option<Position> {
        let mut path = path;
        loop {
            if let Some(position) = self.positions.get(path) {
                return Some(*position);
            }
            path = match path.rfind(['.', '[']) {
                Some(end) => &path[..end],
                None if path.is_empty() => return None,
                None => "",
            };
        }
    }

    /// Returns the number at this path as the file writes it, if it will be sent in another notation.
    pub(super) fn original_notation(&self, path: &str) -> Option<&str> {
        self.original_notations.get(path).map(String::as_str)
    }

    /// Describes each of these keys of the map at `path` that is not a known key, with its position and the nearest
    /// known key: the API document does not define it, so it may be misspelled.
    pub(super) fn describe_unknown_keys<'k>(
        &self,
        path: &str,
        keys: impl IntoIterator<Item = &'k String>,
        known_keys: &[&str],
    ) -> Vec<String> {
        keys.into_iter()
            .filter(|key| !known_keys.contains(&key.as_str()))
            .map(|key| {
                let mut message = "the key is not in the API document, and is sent unchanged".to_owned();
                if let Some(suggestion) = text::suggest(key, known_keys) {
                    message = format!("{message}: {suggestion}");
                }
                self.error_at(&join_path(path, key), message).to_string()
            })
            .collect()
    }

    /// Creates an error about the value at this path, with the nearest position in the file.
    pub(crate) fn error_at(&self, path: &str, message: impl AsRef<str>) -> DefinitionError {
        let message = message.as_ref();
        let message = if path.is_empty() {
            message.to_owned()
        } else {
            format!("{path}: {message}")
        };
        DefinitionError::new(&self.file, self.nearest_position(path), message)
    }
}

struct ValueReader<'f> {
    file: &'f Path,
    positions: HashMap<String, Position>,
    original_notations: HashMap<String, String>,
    /// Size of the paths and texts of the values so far.
    total_bytes: usize,
}

impl ValueReader<'_> {
    /// Converts a node and all nodes below it to a value. Records each value's position by its path, and the notation
    /// of each number that JSON writes differently. `position` is that of the node; in a map, of its key.
    fn read_value(
        &mut self,
        node: NodeRef<'_, '_>,
        position: Position,
        path: String,
    ) -> Result<Value, DefinitionError> {
        self.check_limits(node, position, &path)?;
        let value = if let Some(items) = node.items() {
            let mut values = Vec::new();
            for (index, item) in items.enumerate() {
                values.push(self.read_value(item, item.position(), format!("{path}[{index}]"))?);
            }
            Value::Array(values)
        } else if node.is_map() {
            let mut map = Map::new();
            for (key, position, node) in node.entries() {
                map.insert(
                    key.to_owned(),
                    self.read_value(node, position, join_path(&path, key))?,
                );
            }
            Value::Object(map)
        } else {
            convert_scalar(node)
                .map_err(|reason| DefinitionError::new(self.file, Some(node.position()), reason))?
        };
        if let (Value::Number(number), Some(text)) = (&value, node.text())
            && number.to_string() != text
        {
            self.original_notations.insert(path.clone(), text.to_owned());
        }
        self.positions.insert(path, position);
        Ok(value)
    }

    /// Fails if there are too many values, or if their paths and texts are too large together.
    fn check_limits(
        &mut self,
        node: NodeRef<'_, '_>,
        position: Position,
        path: &str,
    ) -> Result<(), DefinitionError> {
        self.total_bytes += path.len() + node.text().map_or(0, str::len);
        let reason = if self.positions.len() >= MAX_POSITIONS {
            format!("the file has more than {MAX_POSITIONS} values")
        } else if self.total_bytes > MAX_TOTAL_MEGABYTES * 1024 * 1024 {
            format!(
                "reading the file would take more than {MAX_TOTAL_MEGABYTES} MB: shorten or unnest its keys, or use \
                 fewer aliases"
            )
        } else {
            return Ok(());
        };
        Err(DefinitionError::new(self.file, Some(position), reason))
    }
}

/// Returns the text with a blank in place of each tab, so that all positions stay the same.
fn replace_tabs(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .map(|byte| if *byte == b'\t' { b' ' } else { *byte })
        .collect()
}

/// Appends a key to a path, with a period unless the path is empty.
pub(super) fn join_path(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// Converts a string, number, boolean or null. Integers of more than 64 bits are parsed from their digits, as
/// fractions are.
fn convert_scalar(node: NodeRef<'_, '_>) -> Result<Value, String> {
    let text = node.text().unwrap_or_default();
    Ok(match node.value() {
        None | Some(sluicegate_yaml::Value::Null) => Value::Null,
        Some(sluicegate_yaml::Value::Boolean(value)) => Value::Bool(value),
        Some(sluicegate_yaml::Value::Text(text)) => Value::String(text.to_owned()),
        Some(sluicegate_yaml::Value::Natural(number)) => Value::Number(number.into()),
        Some(_) => Value::Number(parse_number(text)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(text: &str) -> Result<Document, DefinitionError> {
        Document::parse(text.as_bytes(), Path::new("f.yaml"))
    }

    #[test]
    fn each_part_knows_its_place() {
        let document =
            read("name: n\nsource:\n  connection:\n    max.size: 1\n  tables:\n    - schema: s\n").unwrap();
        let place = |path| document.nearest_position(path).map(|at| (at.line, at.column));
        assert_eq!(place("name"), Some((1, 1)));
        assert_eq!(place("source.connection.max.size"), Some((4, 5)));
        assert_eq!(place("source.tables[0].schema"), Some((6, 7)));
        // The error about a missing key is at its parent.
        assert_eq!(place("source.connection.username"), Some((3, 3)));
        assert_eq!(place("source.tables[7].schema"), Some((5, 3)));
        assert_eq!(place("target.x"), Some((1, 1)));
        assert_eq!(
            document.error_at("source.connection", "no").to_string(),
            "f.yaml:3:3: source.connection: no"
        );
    }

    #[test]
    fn yaml_and_json_mean_the_same() {
        let yaml = read("a: [1, -2, 1.5, true, null, '1', text]\nb: {c: 18446744073709551615}\n").unwrap();
        let json = json!({ "a": [1, -2, 1.5, true, null, "1", "text"], "b": { "c": u64::MAX } });
        assert_eq!(yaml.value, json);
        assert_eq!(read(&json.to_string()).unwrap().value, json);
        let tabs = "{\n\t\"a\": {\n\t\t\"b\": \"\\ud83d\\ude00\"\n\t}\n}\n";
        assert_eq!(read(tabs).unwrap().value, json!({ "a": { "b": "😀" } }));
    }

    #[test]
    fn value_that_would_change_in_transit_is_refused() {
        for (text, said) in [
            (
                "a: 123456789012345678901234567890",
                "f.yaml:1:4: the number 123456789012345678901234567890 has too many digits to be sent exactly",
            ),
            (
                "a: .nan",
                "f.yaml:1:4: \".nan\" is not a number that JSON can represent",
            ),
            ("a: 1\na: 2", "f.yaml:2:1: duplicate key `a`"),
            ("{\n\t\"a\": 1,\n\t\"a\": 2\n}\n", "f.yaml:3:2: duplicate key `a`"),
            (
                "{\n\t\"a\": 1234567890123456.789\n}\n",
                "f.yaml:2:7: the number 1234567890123456.789 has too many digits to be sent exactly",
            ),
            (
                "{ \"a\": \"\\ud83d\\ude00\", \"a\": 2 }",
                "f.yaml: duplicate key `a` at line 1 column 31",
            ),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), said);
        }
        assert!(
            read("{\"a\": [}")
                .unwrap_err()
                .to_string()
                .starts_with("f.yaml:1:")
        );
    }

    /// Returns nested maps with keys of 1,000 characters around a list of zeros.
    fn nested_list(depth: usize, length: usize) -> String {
        let keys: Vec<String> = (0..depth)
            .map(|level| format!("{}{}:\n", " ".repeat(level), "k".repeat(1000)))
            .collect();
        format!(
            "{}{}[{}]\n",
            keys.concat(),
            " ".repeat(depth),
            vec!["0"; length].join(",")
        )
    }

    #[test]
    fn file_whose_paths_are_too_large_together_is_refused() {
        assert!(read(&nested_list(50, 1000)).is_ok());
        let error = read(&nested_list(50, 2000)).unwrap_err().to_string();
        assert!(error.contains("would take more than 64 MB: shorten"), "{error}");
    }

    #[test]
    fn text_that_aliases_multiply_is_refused() {
        let text = format!(
            "a: &a {}\nb: [{}]\n",
            "x".repeat(1_000_000),
            vec!["*a"; 100].join(",")
        );
        let message = read(&text).unwrap_err().to_string();
        assert!(message.contains("alias"), "{message}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-c:\\- \\n\\[\\]{}\"0-9.&*]{0,60}") {
            if let Ok(document) = read(&text) {
                prop_assert!(document.nearest_position("a.b[0].c").is_some() || document.positions.is_empty());
            }
        }
    }
}
