//! Audit events: API document, sections "Audit event record", "Audit logs" and "Events".

use super::lenient::{any_text, from_value};
use super::{Answer, Platform};
use crate::platform::http::{ErrorKind, HttpError, Request};
use serde::Deserialize;
use serde_json::Value;

/// The most events that a page can have.
pub const EVENT_PAGE: usize = 100;

/// An audit event. A field of another shape than the document's is its JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Event {
    #[serde(deserialize_with = "any_text")]
    pub event_id: Option<String>,
    /// What happened, for example `Artifact created`.
    #[serde(deserialize_with = "any_text")]
    pub event_name: Option<String>,
    /// Its type; the document does not show the values.
    #[serde(deserialize_with = "any_text")]
    pub event_type: Option<String>,
    #[serde(deserialize_with = "any_text")]
    pub event_description: Option<String>,
    /// When, ISO 8601.
    #[serde(deserialize_with = "any_text")]
    pub event_timestamp: Option<String>,
    #[serde(deserialize_with = "any_text")]
    pub event_source: Option<String>,
    #[serde(deserialize_with = "any_text")]
    pub event_project_id: Option<String>,
    #[serde(deserialize_with = "any_text")]
    pub event_subject_id: Option<String>,
    #[serde(deserialize_with = "any_text")]
    pub event_subject_name: Option<String>,
    /// To what kind of thing; the document does not show the values.
    #[serde(deserialize_with = "any_text")]
    pub event_subject_type: Option<String>,
    /// By whom.
    #[serde(deserialize_with = "any_text")]
    pub actor_id: Option<String>,
    /// By whom, the e-mail address.
    #[serde(deserialize_with = "any_text")]
    pub actor_email: Option<String>,
    #[serde(deserialize_with = "any_text")]
    pub additional_info: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventWindow {
    /// The earliest timestamp, ISO 8601 with offset.
    pub from: Option<String>,
    /// The latest timestamp, ISO 8601 with offset.
    pub to: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventPage {
    pub events: Vec<Answer<Event>>,
    /// How many there are on all pages, if the answer tells.
    pub total: Option<usize>,
    /// The size of a page, if the answer tells another than was asked for.
    pub size: Option<usize>,
}

#[derive(Deserialize)]
struct Envelope {
    results: Vec<Value>,
    total: Option<usize>,
    size: Option<usize>,
}

impl Platform {
    /// One page of the audit events: `GET /v1/events`. The list grows while it is read, so that whoever wants all
    /// of them must read the pages with care.
    pub async fn events(&self, window: &EventWindow, page: usize) -> Result<EventPage, HttpError> {
        let mut request = Request::get(self.client.url(&["events"])?);
        for (name, value) in [("from", &window.from), ("to", &window.to)] {
            if let Some(value) = value {
                request = request.query(name, value);
            }
        }
        let request = request
            .query("page", &page.to_string())
            .query("size", &EVENT_PAGE.to_string());
        let response = self.client.send(&request).await.map_err(naming_role)?;
        let envelope: Envelope = response.json()?;
        let read = |(index, raw): (usize, Value)| {
            let value = from_value(&raw, &format!("results[{index}]"), &response)?;
            Ok(Answer { value, raw })
        };
        Ok(EventPage {
            events: envelope
                .results
                .into_iter()
                .enumerate()
                .map(read)
                .collect::<Result<_, HttpError>>()?,
            total: envelope.total,
            size: envelope.size.filter(|size| *size > 0),
        })
    }
}

fn naming_role(error: HttpError) -> HttpError {
    match error.kind() {
        ErrorKind::Forbidden => {
            error.with_hint("audit events need a token with the account role Super Admin")
        }
        _ => error,
    }
}
