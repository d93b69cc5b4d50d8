//! Deserializers for responses that differ from the API document.

use crate::http::{HttpError, Response};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Deserializes `null` like a missing field: to the default.
pub(super) fn null_is_default<'de, T, D>(reader: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(reader)?.unwrap_or_default())
}

/// Deserializes an array of strings; `null` becomes an empty one, an entry of another type becomes its JSON.
pub(super) fn texts<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<String>, D::Error> {
    let entries: Vec<Value> = null_is_default(reader)?;
    Ok(entries.into_iter().map(text).collect())
}

/// Deserializes a string; `null` becomes `None`, a value of another type becomes its JSON.
pub(super) fn any_text<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<String>, D::Error> {
    let value: Option<Value> = Option::deserialize(reader)?;
    Ok(value.map(text))
}

fn text(entry: Value) -> String {
    match entry {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Converts JSON that is already parsed; `place` is its path in the response, for errors.
pub(super) fn from_value<T: DeserializeOwned>(
    raw: &Value,
    place: &str,
    response: &Response,
) -> Result<T, HttpError> {
    serde_path_to_error::deserialize(raw).map_err(|why| {
        let inner = why.path().to_string();
        let path: Vec<&str> = [place, &inner]
            .into_iter()
            .filter(|part| !matches!(*part, "" | "."))
            .collect();
        response.unusable(&format!("at {}: {}", path.join("."), why.inner()))
    })
}
