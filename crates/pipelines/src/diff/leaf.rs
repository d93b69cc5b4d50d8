//! The leaves of a document and their paths.

use serde::{Serialize, Serializer};
use sluicegate_yaml::{NodeRef, Value};
use std::fmt;

/// A step of a path: the key of a map, or the index in a list, from 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(untagged)]
pub enum PathStep {
    /// A key, as written.
    Key(String),
    Index(usize),
}

impl PathStep {
    /// Creates the step to the value of this key.
    pub(crate) fn key(key: &str) -> Self {
        Self::Key(key.to_owned())
    }

    /// Returns the key, unless the step is an index.
    pub(super) fn as_key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::Index(_) => None,
        }
    }
}

impl fmt::Display for PathStep {
    /// Writes the key, or the position in the list, counted from 1.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => f.write_str(key),
            Self::Index(index) => write!(f, "{}", index + 1),
        }
    }
}

/// A value without parts: the value of a scalar, or an empty list or map.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Leaf {
    /// `null`, in any spelling.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A number in its shortest spelling, so that `0x10` is `16` and `1.50` is `1.5`.
    Number(String),
    /// A text, however it is quoted or folded.
    Text(String),
    /// `[]`.
    EmptyList,
    /// `{}`.
    EmptyMap,
}

impl Leaf {
    /// Returns the leaf at a node, or `None` if the node is a list or a map that is not empty.
    pub(super) fn from_node(node: NodeRef<'_, '_>) -> Option<Self> {
        if node.is_map() {
            return node.entries().next().is_none().then_some(Self::EmptyMap);
        }
        if let Some(mut items) = node.items() {
            return items.next().is_none().then_some(Self::EmptyList);
        }
        Some(match node.value()? {
            Value::Null => Self::Null,
            Value::Boolean(value) => Self::Boolean(value),
            Value::Text(text) => Self::Text(text.to_owned()),
            Value::Natural(number) => Self::Number(number.to_string()),
            Value::OtherNumber => Self::Number(shorten_number(node.text()?)),
        })
    }

    /// Returns the size of the text or of the number, in bytes; 0 for other leaves.
    pub(super) fn text_size(&self) -> usize {
        match self {
            Self::Number(text) | Self::Text(text) => text.len(),
            Self::Null | Self::Boolean(_) | Self::EmptyList | Self::EmptyMap => 0,
        }
    }

    /// Returns the text if it has several lines; `None` for one line and for leaves that are not text. Line breaks at
    /// the end of the text do not count as lines.
    pub(super) fn find_multiline_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) if text.trim_end_matches('\n').contains('\n') => Some(text),
            _ => None,
        }
    }
}

/// Returns the shortest spelling of a number, so that `1.50` equals `1.5`. An integer of more than 64 bits is returned
/// as written, because a float would lose digits; so is a number that is not finite.
fn shorten_number(text: &str) -> String {
    if let Ok(integer) = text.parse::<i64>() {
        return integer.to_string();
    }
    let digits = text.trim_start_matches(['-', '+']);
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && !digits.chars().all(|c| c.is_ascii_digit()) => {
            format!("{number:?}")
        }
        _ => text.to_owned(),
    }
}

/// Writes the value without quotes, even if the text could be read as something else.
impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Number(number) => f.write_str(number),
            Self::Text(text) => f.write_str(text),
            Self::EmptyList => f.write_str("[]"),
            Self::EmptyMap => f.write_str("{}"),
        }
    }
}

/// Keeps the type of the document; a number that JSON cannot represent becomes a text.
impl Serialize for Leaf {
    /// Writes the leaf as the JSON value with the same content. A number that JSON cannot represent, such as `.inf`, is
    /// written as text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Text(text) => serializer.serialize_str(text),
            Self::EmptyList => <[u8; 0]>::default().serialize(serializer),
            Self::EmptyMap => serde_json::Map::new().serialize(serializer),
            Self::Number(text) => match serde_json::from_str::<serde_json::Number>(text) {
                Ok(number) => number.serialize(serializer),
                Err(_) => serializer.serialize_str(text),
            },
        }
    }
}
