//! Reads fields of the event payload of GitHub and compatible hosts.

use super::CiError;
use crate::env::{self, Env};
use serde_json::Value;

pub(super) struct Payload<'a> {
    value: &'a Value,
    file: &'a str,
    event: &'a str,
}

impl<'a> Payload<'a> {
    /// Reads the payload of the event from the file that the host names, or returns `None` if the host does not name
    /// one. The name of the event is only for error messages.
    pub(super) fn read(env: &'a Env, event: &'a str) -> Result<Option<Self>, CiError> {
        let value = env.event_payload().map_err(|reason| CiError::Payload {
            reason: reason.to_owned(),
        })?;
        let file = env.get(env::GITHUB_EVENT_PATH).unwrap_or("(no file)");
        Ok(value.map(|value| Self { value, file, event }))
    }

    /// Reads the payload like [`Self::read`], but returns an error if the host does not name a file.
    pub(super) fn read_required(env: &'a Env, event: &'a str) -> Result<Self, CiError> {
        Self::read(env, event)?.ok_or_else(|| CiError::NoPayload {
            event: event.to_owned(),
        })
    }

    /// Returns the value at a path such as `pull_request.head.sha`. A null value is treated as missing.
    pub(super) fn get(&self, path: &str) -> Option<&'a Value> {
        path.split('.')
            .try_fold(self.value, |value, key| value.get(key))
            .filter(|value| !value.is_null())
    }

    /// Returns the string at a path, if it exists and is not empty.
    pub(super) fn find_text(&self, path: &str) -> Option<String> {
        self.get(path)?
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    }

    /// Returns the string at a path, or an error if it is missing.
    pub(super) fn require_text(&self, path: &str) -> Result<String, CiError> {
        self.find_text(path).ok_or_else(|| CiError::Field {
            file: self.file.to_owned(),
            field: path.to_owned(),
            event: self.event.to_owned(),
        })
    }
}
