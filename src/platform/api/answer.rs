//! What most calls have in common: an answer both as the document names its fields and as it came.

use super::Platform;
use super::lenient::from_value;
use super::lists::Paging;
use crate::platform::http::{ErrorKind, HttpError, Method, Repeat, Request, Success, Url};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::ops::Deref;

/// An answer, or an entry of a list. Fields that the document does not know are in `raw` only.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer<T> {
    pub value: T,
    /// Everything, as it came.
    pub raw: Value,
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Answer<T> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let raw = Value::deserialize(reader)?;
        let value = T::deserialize(&raw).map_err(serde::de::Error::custom)?;
        Ok(Self { value, raw })
    }
}

impl<T> Deref for Answer<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl Platform {
    /// Sends a request whose answer says something.
    pub(super) async fn ask<T: DeserializeOwned>(&self, request: &Request) -> Result<Answer<T>, HttpError> {
        let response = self.client.send(request).await?;
        let raw: Value = response.json()?;
        let value = from_value(&raw, "", &response)?;
        Ok(Answer { value, raw })
    }

    /// Sends a request whose status says it all; the body is given as it came, null if it is no JSON.
    pub(super) async fn tell(&self, request: &Request) -> Result<Value, HttpError> {
        let response = self.client.send(request).await?;
        Ok(response.json().unwrap_or_default())
    }

    /// Sends a request that makes something, and is answered with JSON that says nothing of it.
    pub(super) async fn make(&self, request: &Request) -> Result<Value, HttpError> {
        self.client.send(request).await?.json()
    }

    /// All entries of a list whose endpoint takes `page` and `size`.
    pub(super) async fn all<T: DeserializeOwned>(&self, url: Url) -> Result<Vec<Answer<T>>, HttpError> {
        self.list(url, Paging::FromTheStart, |raw, place, response| {
            let value = from_value(&raw, place, response)?;
            Ok(Answer { value, raw })
        })
        .await
    }

    /// Deletes what is at this URL. It may be sent again, and then a 404 means that an earlier try did it: what was
    /// asked for is so. At the first try a 404 is a name that is not there.
    pub(super) async fn remove(&self, url: Url) -> Result<(), HttpError> {
        match self
            .client
            .send(&Request::new(Method::DELETE, url, Repeat::Safe).succeeds_by(Success::Nothing))
            .await
        {
            Err(error) if error.kind() == ErrorKind::NotFound && error.tries() > 1 => Ok(()),
            other => other.map(drop),
        }
    }
}
