//! The event payload of GitHub and its kin, asked field by field.

use super::CiError;
use crate::base::env::{self, Env};
use serde_json::Value;

pub(super) struct Payload<'a> {
    value: &'a Value,
    file: &'a str,
    event: &'a str,
}

impl<'a> Payload<'a> {
    /// The payload, or none if the host named no file.
    pub(super) fn find(env: &'a Env, event: &'a str) -> Result<Option<Self>, CiError> {
        let value = env
            .payload()
            .map_err(|why| CiError::Payload { why: why.to_owned() })?;
        let file = env.get(env::GITHUB_EVENT_PATH).unwrap_or("(no file)");
        Ok(value.map(|value| Self { value, file, event }))
    }

    /// The payload, which the event cannot do without.
    pub(super) fn need(env: &'a Env, event: &'a str) -> Result<Self, CiError> {
        Self::find(env, event)?.ok_or_else(|| CiError::NoPayload {
            event: event.to_owned(),
        })
    }

    /// The value at a path such as `pull_request.head.sha`; null counts as absent.
    pub(super) fn get(&self, path: &str) -> Option<&'a Value> {
        let found = path.split('.').try_fold(self.value, |value, key| value.get(key));
        found.filter(|value| !value.is_null())
    }

    /// The text at a path, if there is one that is not empty.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        self.get(path)?
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    }

    /// The text at a path, which the event always has.
    pub(super) fn need_text(&self, path: &str) -> Result<String, CiError> {
        self.text(path).ok_or_else(|| CiError::Field {
            file: self.file.to_owned(),
            field: path.to_owned(),
            event: self.event.to_owned(),
        })
    }
}
