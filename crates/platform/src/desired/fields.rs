//! Reads the fields of a part of a document; each error has its position.

use super::document::joined;
use super::{DesiredError, Document};
use serde_json::{Map, Value};
use sluicegate_base::text;

#[derive(Clone, Copy)]
pub(super) struct Fields<'d> {
    document: &'d Document,
    path: &'d str,
    map: &'d Map<String, Value>,
}

impl<'d> Fields<'d> {
    /// Creates the reader of the map at `path`, whose value is `value`.
    pub(super) fn of(document: &'d Document, path: &'d str, value: &'d Value) -> Result<Self, DesiredError> {
        match value {
            Value::Object(map) => Ok(Self { document, path, map }),
            _ => Err(document.error(path, "must be a map")),
        }
    }

    pub(super) fn known(&self, keys: &[&str]) -> Result<(), DesiredError> {
        for key in self.map.keys() {
            if !keys.contains(&key.as_str()) {
                let error = self.error(key, "unknown key");
                let hint = text::suggest(key, keys);
                return Err(
                    error.with_hint(hint.unwrap_or_else(|| format!("known keys here: {}", keys.join(", "))))
                );
            }
        }
        Ok(())
    }

    /// Returns the value of a key; null counts as missing.
    pub(super) fn get(&self, key: &str) -> Option<&'d Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// Returns a string that is not empty, or `None` if the key is missing.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, DesiredError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Err(self.error(key, "must not be empty")),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => {
                quoted(other).map_err(|why| self.error(key, why))?;
                Err(self.error(key, "must be a string"))
            }
        }
    }

    /// Returns a string that may be empty, or `None` if the key is missing.
    pub(super) fn any_text(&self, key: &str) -> Result<Option<String>, DesiredError> {
        match self.get(key) {
            Some(Value::String(text)) if text.is_empty() => Ok(Some(String::new())),
            _ => self.text(key),
        }
    }

    /// Returns a required string.
    pub(super) fn required(&self, key: &str) -> Result<String, DesiredError> {
        self.text(key)?.ok_or_else(|| self.error(key, "is required"))
    }

    /// Returns a required UUID.
    pub(super) fn uuid(&self, key: &str) -> Result<String, DesiredError> {
        let text = self.required(key)?;
        match uuid::Uuid::parse_str(&text) {
            Ok(_) => Ok(text),
            Err(why) => Err(self.error(key, format!("{text:?} is not a UUID: {why}"))),
        }
    }

    /// Returns `true` or `false`, or `None` if the key is missing.
    pub(super) fn switch(&self, key: &str) -> Result<Option<bool>, DesiredError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(_) => Err(self.error(key, "must be true or false")),
        }
    }

    pub(super) fn others(&self, known: impl Fn(&String) -> bool) -> Map<String, Value> {
        let others = self.map.iter().filter(|(key, _)| !known(key));
        others.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    pub(super) fn error(&self, key: &str, message: impl AsRef<str>) -> DesiredError {
        self.document.error(&self.path_of(key), message)
    }

    pub(super) fn path_of(&self, key: &str) -> String {
        joined(self.path, key)
    }
}

/// Rejects a value that is not a string because its quotes are missing. Nothing is converted, as `1.10` and `"1.10"`
/// are not the same.
pub(super) fn quoted(value: &Value) -> Result<(), &'static str> {
    match value {
        Value::Number(_) => Err("is a number and must be a string: put it in quotes"),
        Value::Bool(_) => Err("is a boolean and must be a string: put it in quotes"),
        _ => Ok(()),
    }
}

/// Applies [`quoted`] to these keys of a map.
pub(super) fn quoted_all(
    document: &Document,
    path: &str,
    map: &Map<String, Value>,
    keys: &[&str],
) -> Result<(), DesiredError> {
    keys.iter()
        .filter_map(|key| Some((key, map.get(*key)?)))
        .try_for_each(|(key, value)| quoted(value).map_err(|why| document.error(&joined(path, key), why)))
}
