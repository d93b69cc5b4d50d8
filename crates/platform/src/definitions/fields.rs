//! Reads the fields of a part of a document; each error has its position.

use super::document::join_path;
use super::{DefinitionError, Document};
use serde_json::{Map, Value};
use sluicegate_base::text;

#[derive(Clone, Copy)]
pub(super) struct FieldReader<'d> {
    document: &'d Document,
    path: &'d str,
    map: &'d Map<String, Value>,
}

impl<'d> FieldReader<'d> {
    /// Creates the reader of the map `value`, which is at `path` in the document. Fails if `value` is not a map.
    pub(super) fn new(
        document: &'d Document,
        path: &'d str,
        value: &'d Value,
    ) -> Result<Self, DefinitionError> {
        match value {
            Value::Object(map) => Ok(Self { document, path, map }),
            _ => Err(document.error_at(path, "must be a map")),
        }
    }

    /// Fails if the map has another key than these. The hint suggests a similar key, or lists all of them.
    pub(super) fn reject_unknown_keys(&self, keys: &[&str]) -> Result<(), DefinitionError> {
        for key in self.map.keys() {
            if !keys.contains(&key.as_str()) {
                let error = self.error_at(key, "unknown key");
                let hint = text::suggest(key, keys);
                return Err(
                    error.with_hint(hint.unwrap_or_else(|| format!("valid keys: {}", keys.join(", "))))
                );
            }
        }
        Ok(())
    }

    /// Returns the value of a key; null is treated as missing.
    pub(super) fn get(&self, key: &str) -> Option<&'d Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// Returns whether the map has this key, also with the value null.
    pub(super) fn has_key(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    /// Returns the reader of the required section `name`, which must be a key of the document's root.
    pub(super) fn read_section(&self, name: &'d str) -> Result<Self, DefinitionError> {
        match self.get(name) {
            Some(value) => Self::new(self.document, name, value),
            None => Err(self.error_at(name, "is required")),
        }
    }

    /// Returns the string at a key, or `None` if the key is missing. Fails if the string is blank or the value is not a
    /// string.
    pub(super) fn find_text(&self, key: &str) -> Result<Option<String>, DefinitionError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => {
                Err(self.error_at(key, "must not be empty"))
            }
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(value) => {
                reject_unquoted(value).map_err(|reason| self.error_at(key, reason))?;
                Err(self.error_at(key, "must be a string"))
            }
        }
    }

    /// Returns the string at a key, or `None` if the key is missing. The string may be empty, but a string that
    /// contains only blanks is an error.
    pub(super) fn find_possibly_empty_text(&self, key: &str) -> Result<Option<String>, DefinitionError> {
        match self.get(key) {
            Some(Value::String(text)) if text.is_empty() => Ok(Some(String::new())),
            _ => self.find_text(key),
        }
    }

    /// Returns the string at a required key. Fails if the string is blank.
    pub(super) fn required_text(&self, key: &str) -> Result<String, DefinitionError> {
        self.find_text(key)?
            .ok_or_else(|| self.error_at(key, "is required"))
    }

    /// Returns the UUID at a required key in the file's notation.
    pub(super) fn required_uuid(&self, key: &str) -> Result<String, DefinitionError> {
        let text = self.required_text(key)?;
        match uuid::Uuid::parse_str(&text) {
            Ok(_) => Ok(text),
            Err(error) => Err(self.error_at(key, format!("{text:?} is not a UUID: {error}"))),
        }
    }

    /// Returns the boolean at a key, or `None` if the key is missing.
    pub(super) fn find_boolean(&self, key: &str) -> Result<Option<bool>, DefinitionError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(_) => Err(self.error_at(key, "must be true or false")),
        }
    }

    /// Returns the fields that `is_known` does not accept, so that they can be sent unchanged.
    pub(super) fn unknown_fields(&self, is_known: impl Fn(&String) -> bool) -> Map<String, Value> {
        self.map
            .iter()
            .filter(|(key, _)| !is_known(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// Creates an error about a key of this map, with its position in the file.
    pub(super) fn error_at(&self, key: &str, message: impl AsRef<str>) -> DefinitionError {
        self.document.error_at(&self.field_path(key), message)
    }

    /// Returns the path of a key of this map in the document.
    pub(super) fn field_path(&self, key: &str) -> String {
        join_path(self.path, key)
    }
}

/// Returns whether the value is a text that is not blank.
pub(super) fn is_nonempty_text(value: Option<&Value>) -> bool {
    value
        .and_then(Value::as_str)
        .is_some_and(|text| !text.trim().is_empty())
}

/// Rejects a number or boolean where a string is required: the value has no quotes in the file. The value is not
/// converted to a string, because the number `1.10` and the string `"1.10"` differ. Values of all other types pass.
pub(super) fn reject_unquoted(value: &Value) -> Result<(), &'static str> {
    match value {
        Value::Number(_) => Err("is a number but must be a string: put the value in quotes"),
        Value::Bool(_) => Err("is a boolean but must be a string: put the value in quotes"),
        _ => Ok(()),
    }
}

/// Applies [`reject_unquoted`] to the values of these keys, if the map has them.
pub(super) fn reject_unquoted_fields(
    document: &Document,
    path: &str,
    map: &Map<String, Value>,
    keys: &[&str],
) -> Result<(), DefinitionError> {
    keys.iter()
        .filter_map(|key| Some((key, map.get(*key)?)))
        .try_for_each(|(key, value)| {
            reject_unquoted(value).map_err(|reason| document.error_at(&join_path(path, key), reason))
        })
}
