//! A file as a value that knows where each of its parts stands.

use super::DesiredError;
use super::number::number;
use crate::base::input;
use crate::model::yaml::{self, NodeRef, Position, Tree};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes.
const LIMIT: u64 = 4 * 1024 * 1024;

/// The most places that are kept; aliases multiply them.
const MOST_PLACES: usize = 200_000;

/// A file's content with the places of its parts.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    file: PathBuf,
    pub value: Value,
    places: HashMap<String, Position>,
    /// The numbers that are sent in other words than those of the file, with the file's.
    reworded: HashMap<String, String>,
}

impl Document {
    /// Reads a YAML or JSON file. Errors name the file as `shown`.
    pub(crate) fn read(path: &Path, shown: &Path) -> Result<Self, DesiredError> {
        let unreadable =
            |why: std::io::Error| DesiredError::new(shown, None, format!("it cannot be read: {why}"));
        let bytes = input::file(path, LIMIT).map_err(unreadable)?;
        Self::parse(&bytes, shown)
    }

    /// Reads YAML, of which JSON is a part. What only JSON allows (tabs that indent, pairs of `\u` escapes) is read
    /// as JSON, without places.
    pub(crate) fn parse(bytes: &[u8], shown: &Path) -> Result<Self, DesiredError> {
        let tree = match Tree::read(bytes, None) {
            Ok(tree) => tree,
            Err(why) => {
                let json = why.message.starts_with("not YAML").then_some(bytes);
                return match json.and_then(|bytes| serde_json::from_slice(bytes).ok()) {
                    Some(value) => Ok(Self {
                        file: shown.to_owned(),
                        value,
                        places: HashMap::new(),
                        reworded: HashMap::new(),
                    }),
                    None => Err(DesiredError::new(shown, why.position, why.message)),
                };
            }
        };
        let mut reader = Reader {
            file: shown,
            places: HashMap::new(),
            reworded: HashMap::new(),
        };
        let value = reader.value(tree.root(), tree.root().position(), String::new())?;
        Ok(Self {
            file: shown.to_owned(),
            value,
            places: reader.places,
            reworded: reader.reworded,
        })
    }

    /// Where the part at this path stands (`a.b[0].c`); of one that is not there, what it would stand in.
    pub(crate) fn place(&self, path: &str) -> Option<Position> {
        let mut path = path;
        loop {
            if let Some(position) = self.places.get(path) {
                return Some(*position);
            }
            path = match path.rfind(['.', '[']) {
                Some(end) => &path[..end],
                None if path.is_empty() => return None,
                None => "",
            };
        }
    }

    /// The number at this path as the file has it, where it is sent in other words.
    pub(super) fn reworded(&self, path: &str) -> Option<&str> {
        self.reworded.get(path).map(String::as_str)
    }

    /// A complaint about the part at this path.
    pub(crate) fn error(&self, path: &str, message: impl AsRef<str>) -> DesiredError {
        let message = message.as_ref();
        let message = if path.is_empty() {
            message.to_owned()
        } else {
            format!("{path}: {message}")
        };
        DesiredError::new(&self.file, self.place(path), message)
    }
}

struct Reader<'f> {
    file: &'f Path,
    places: HashMap<String, Position>,
    reworded: HashMap<String, String>,
}

impl Reader<'_> {
    fn value(&mut self, node: NodeRef<'_, '_>, at: Position, path: String) -> Result<Value, DesiredError> {
        if self.places.len() >= MOST_PLACES {
            return Err(DesiredError::new(
                self.file,
                Some(at),
                format!("it has more than {MOST_PLACES} parts"),
            ));
        }
        let value = if let Some(items) = node.items() {
            let items = items.enumerate();
            let read = |(index, item): (usize, NodeRef<'_, '_>)| {
                self.value(item, item.position(), format!("{path}[{index}]"))
            };
            Value::Array(items.map(read).collect::<Result<_, _>>()?)
        } else if node.is_map() {
            let mut map = Map::new();
            for (key, at, node) in node.entries() {
                map.insert(key.to_owned(), self.value(node, at, joined(&path, key))?);
            }
            Value::Object(map)
        } else {
            scalar(node).map_err(|why| DesiredError::new(self.file, Some(node.position()), why))?
        };
        if let (Value::Number(number), Some(text)) = (&value, node.text())
            && number.to_string() != text
        {
            self.reworded.insert(path.clone(), text.to_owned());
        }
        self.places.insert(path, at);
        Ok(value)
    }
}

/// A path with one more key.
pub(super) fn joined(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn scalar(node: NodeRef<'_, '_>) -> Result<Value, String> {
    let text = node.text().unwrap_or_default();
    Ok(match node.value() {
        None | Some(yaml::Value::Null) => Value::Null,
        Some(yaml::Value::Boolean(value)) => Value::Bool(value),
        Some(yaml::Value::Text(text)) => Value::String(text.to_owned()),
        Some(yaml::Value::Natural(number)) if number < u64::MAX => Value::Number(number.into()),
        Some(_) => Value::Number(number(text)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(text: &str) -> Result<Document, DesiredError> {
        Document::parse(text.as_bytes(), Path::new("f.yaml"))
    }

    #[test]
    fn each_part_knows_its_place() {
        let document =
            read("name: n\nsource:\n  connection:\n    max.size: 1\n  tables:\n    - schema: s\n").unwrap();
        let place = |path| document.place(path).map(|at| (at.line, at.column));
        assert_eq!(place("name"), Some((1, 1)));
        assert_eq!(place("source.connection.max.size"), Some((4, 5)));
        assert_eq!(place("source.tables[0].schema"), Some((6, 7)));
        // What is missing is complained of where it would stand.
        assert_eq!(place("source.connection.username"), Some((3, 3)));
        assert_eq!(place("source.tables[7].schema"), Some((5, 3)));
        assert_eq!(place("target.x"), Some((1, 1)));
        assert_eq!(
            document.error("source.connection", "no").to_string(),
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
    fn what_would_change_on_the_way_is_refused() {
        for (text, said) in [
            (
                "a: 123456789012345678901234567890",
                "f.yaml:1:4: the number 123456789012345678901234567890 has too many digits to be sent exactly",
            ),
            ("a: .nan", "f.yaml:1:4: \".nan\" is no number that JSON can carry"),
            ("a: 1\na: 2", "f.yaml:2:1: the key `a` stands twice in one map"),
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

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-c:\\- \\n\\[\\]{}\"0-9.&*]{0,60}") {
            if let Ok(document) = read(&text) {
                prop_assert!(document.place("a.b[0].c").is_some() || document.places.is_empty());
            }
        }
    }
}
