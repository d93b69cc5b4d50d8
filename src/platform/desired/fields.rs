//! Reads the fields of a part of a document, each complaint at its line.

use super::document::joined;
use super::{DesiredError, Document};
use crate::base::text::nearest;
use serde_json::{Map, Value};

#[derive(Clone, Copy)]
pub(super) struct Fields<'d> {
    document: &'d Document,
    path: &'d str,
    map: &'d Map<String, Value>,
}

impl<'d> Fields<'d> {
    /// The map at `path`, whose value is `value`.
    pub(super) fn of(document: &'d Document, path: &'d str, value: &'d Value) -> Result<Self, DesiredError> {
        match value {
            Value::Object(map) => Ok(Self { document, path, map }),
            _ => Err(document.error(path, "must be a map")),
        }
    }

    pub(super) fn known(&self, keys: &[&str]) -> Result<(), DesiredError> {
        for key in self.map.keys() {
            if !keys.contains(&key.as_str()) {
                let error = self.error(key, "is no key of this place");
                return Err(match nearest(key, keys) {
                    Some(known) => error.with_hint(format!("did you mean `{known}`?")),
                    None => error.with_hint(format!("known keys here: {}", keys.join(", "))),
                });
            }
        }
        Ok(())
    }

    /// The value of a key; null is as if it were not there.
    pub(super) fn get(&self, key: &str) -> Option<&'d Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// A text that is not empty, if it is there.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, DesiredError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Err(self.error(key, "must not be empty")),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => {
                quoted(other).map_err(|why| self.error(key, why))?;
                Err(self.error(key, "must be a text"))
            }
        }
    }

    /// A text that may be empty, if it is there.
    pub(super) fn any_text(&self, key: &str) -> Result<Option<String>, DesiredError> {
        match self.get(key) {
            Some(Value::String(text)) if text.is_empty() => Ok(Some(String::new())),
            _ => self.text(key),
        }
    }

    /// A text that must be there.
    pub(super) fn required(&self, key: &str) -> Result<String, DesiredError> {
        self.text(key)?
            .ok_or_else(|| self.error(key, "is missing and needed"))
    }

    /// A UUID that must be there.
    pub(super) fn uuid(&self, key: &str) -> Result<String, DesiredError> {
        let text = self.required(key)?;
        match uuid::Uuid::parse_str(&text) {
            Ok(_) => Ok(text),
            Err(why) => Err(self.error(key, format!("{text:?} is no UUID: {why}"))),
        }
    }

    /// `true` or `false`, if it is there.
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

/// Refuses what is no text only because quotes are missing: nothing is converted, as `1.10` and `"1.10"` are not the
/// same.
pub(super) fn quoted(value: &Value) -> Result<(), &'static str> {
    match value {
        Value::Number(_) => Err("is a number and must be a text: put it in quotes"),
        Value::Bool(_) => Err("is a boolean and must be a text: put it in quotes"),
        _ => Ok(()),
    }
}

/// Holds these keys of a map to [`quoted`].
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
