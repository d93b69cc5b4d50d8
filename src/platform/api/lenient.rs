//! Reading answers that are not exactly as documented.

use crate::platform::http::{HttpError, Response};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// `null` like a missing field: the default.
pub(super) fn null_is_default<'de, T, D>(reader: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(reader)?.unwrap_or_default())
}

/// An array of texts; `null` is an empty one, an entry that is no text becomes its JSON.
pub(super) fn texts<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<String>, D::Error> {
    let entries: Vec<Value> = null_is_default(reader)?;
    Ok(entries.into_iter().map(text).collect())
}

/// A text; `null` is none, what is no text becomes its JSON.
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

/// A value from JSON that is already read; `place` is where it stood in the answer.
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
