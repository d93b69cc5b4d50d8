//! Deserializers for responses that differ from the API document.

use crate::http::{HttpError, NamedFields, Response, find_segment_problem};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Deserializes a value. Like a missing field, `null` becomes the type's default.
pub(super) fn default_if_null<'de, T, D>(reader: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(reader)?.unwrap_or_default())
}

/// Deserializes an optional value. A value that does not have the type `T` becomes `None`, like `null`.
pub(super) fn none_if_invalid<'de, T, D>(reader: D) -> Result<Option<T>, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let value: Option<Value> = Option::deserialize(reader)?;
    Ok(value.and_then(|value| T::deserialize(NamedFields(value)).ok()))
}

/// Deserializes an optional text. An empty text becomes `None`, like `null`.
pub(super) fn none_if_empty<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<String>, D::Error> {
    let text: Option<String> = Option::deserialize(reader)?;
    Ok(text.filter(|text| !text.is_empty()))
}

/// Deserializes the id of a resource. An id that cannot be part of a request's path becomes `None`, like a missing id.
pub(super) fn read_resource_id<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<String>, D::Error> {
    let id: Option<String> = Option::deserialize(reader)?;
    Ok(id.filter(|id| find_segment_problem(id).is_none()))
}

/// Deserializes an array of strings; `null` becomes an empty one, an entry of another type becomes its JSON.
pub(super) fn read_texts<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<String>, D::Error> {
    let entries: Vec<Value> = default_if_null(reader)?;
    Ok(entries.into_iter().map(to_text).collect())
}

/// Deserializes an optional text: `null` becomes `None`. A value that is not a text becomes its JSON, because the
/// platform may send another type than the API document states.
pub(super) fn read_text_or_json<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<String>, D::Error> {
    let value: Option<Value> = Option::deserialize(reader)?;
    Ok(value.map(to_text))
}

/// Returns a text unchanged, and any other value as JSON.
fn to_text(entry: Value) -> String {
    match entry {
        Value::String(text) => text,
        _ => entry.to_string(),
    }
}

/// Converts JSON that is already parsed; `parent_path` is its path in the response, for errors.
pub(super) fn convert_json<T: DeserializeOwned>(
    raw: &Value,
    parent_path: &str,
    response: &Response,
) -> Result<T, HttpError> {
    serde_path_to_error::deserialize(NamedFields(raw)).map_err(|error| {
        let inner_path = error.path().to_string();
        let path: Vec<&str> = [parent_path, &inner_path]
            .into_iter()
            // An error about the complete value has the inner path ".".
            .filter(|part| !matches!(*part, "" | "."))
            .collect();
        response.type_error(&path.join("."), error.inner())
    })
}
