//! Common parts of most calls: a response both as a typed value and as raw JSON.

use super::Platform;
use super::lenient_values::convert_json;
use crate::http::{ErrorKind, HttpError, Method, NamedFields, Repeat, Request, Response, Success, Url};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::ops::Deref;

/// A response, or an entry of a list. Fields that the API document does not define are only in `raw`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ApiValue<T> {
    pub value: T,
    /// The complete JSON, unchanged.
    pub raw: Value,
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for ApiValue<T> {
    /// Deserializes the raw JSON, and converts it to the typed value, so that both are available.
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let raw = Value::deserialize(reader)?;
        let value = T::deserialize(NamedFields(&raw)).map_err(serde::de::Error::custom)?;
        Ok(Self { value, raw })
    }
}

impl<T> Deref for ApiValue<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// All entries of a list, and what else its first page contains.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiList<T> {
    pub entries: Vec<ApiValue<T>>,
    /// The fields of the first page without the entries; empty if the response is a bare array.
    pub envelope: Map<String, Value>,
}

impl<T> Default for ApiList<T> {
    /// Returns the list without entries.
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            envelope: Map::new(),
        }
    }
}

impl<T> Deref for ApiList<T> {
    type Target = [ApiValue<T>];

    fn deref(&self) -> &[ApiValue<T>] {
        &self.entries
    }
}

impl<T> IntoIterator for ApiList<T> {
    type Item = ApiValue<T>;
    type IntoIter = std::vec::IntoIter<ApiValue<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl Platform {
    /// Sends a request and parses its JSON response.
    pub(super) async fn send_and_parse<T: DeserializeOwned>(
        &self,
        request: &Request,
    ) -> Result<ApiValue<T>, HttpError> {
        parse_api_value(&self.client.send(request).await?)
    }

    /// Sends a request and parses its JSON response; `None` if the response has no body.
    pub(super) async fn send_and_parse_optional<T: DeserializeOwned>(
        &self,
        request: &Request,
    ) -> Result<Option<ApiValue<T>>, HttpError> {
        let response = self.client.send(request).await?;
        if response.is_empty() {
            return Ok(None);
        }
        parse_api_value(&response).map(Some)
    }

    /// Sends a request, and returns the JSON of the response, or null if the body is not JSON. The client has already
    /// rejected any status that is not a success, so a missing body is no failure.
    pub(super) async fn send_and_read_body(&self, request: &Request) -> Result<Value, HttpError> {
        let response = self.client.send(request).await?;
        Ok(response.json().unwrap_or_default())
    }

    /// Sends a request that creates a resource, and returns the raw JSON of the response.
    pub(super) async fn create_resource(&self, request: &Request) -> Result<Value, HttpError> {
        self.client.send(request).await?.json()
    }

    /// Deletes the resource at this URL. A 404 is a success if an earlier try may have been processed, because that
    /// try probably deleted the resource. Otherwise it is an error: the resource does not exist.
    pub(super) async fn delete_resource(&self, url: Url) -> Result<(), HttpError> {
        match self
            .client
            .send(&Request::new(Method::DELETE, url, Repeat::Safe).with_success(Success::NoContent))
            .await
        {
            Err(error) if error.kind() == ErrorKind::NotFound && error.has_maybe_processed_try() => Ok(()),
            result => result.map(drop),
        }
    }
}

/// Parses the JSON of a response.
fn parse_api_value<T: DeserializeOwned>(response: &Response) -> Result<ApiValue<T>, HttpError> {
    let raw: Value = response.json()?;
    let root_path = "";
    let value = convert_json(&raw, root_path, response)?;
    Ok(ApiValue { value, raw })
}
