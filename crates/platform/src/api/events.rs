//! Audit events: API document, sections "Audit event record", "Audit logs" and "Events".

use super::lenient_values::{convert_json, read_text_or_json};
use super::lists::is_page_size_rejection;
use super::{ApiValue, Platform};
use crate::http::{ErrorKind, HttpError, Request};
use serde::Deserialize;
use serde_json::Value;

/// Maximum number of events on a page.
pub const EVENT_PAGE_SIZE: usize = 100;

/// An audit event. A field whose type differs from the API document is kept as its JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Event {
    #[serde(deserialize_with = "read_text_or_json")]
    pub event_id: Option<String>,
    /// The event, for example `Artifact created`.
    #[serde(deserialize_with = "read_text_or_json")]
    pub event_name: Option<String>,
    /// Event type; the API document does not show the values.
    #[serde(deserialize_with = "read_text_or_json")]
    pub event_type: Option<String>,
    #[serde(deserialize_with = "read_text_or_json")]
    pub event_description: Option<String>,
    /// Event time, ISO 8601.
    #[serde(deserialize_with = "read_text_or_json")]
    pub event_timestamp: Option<String>,
    #[serde(deserialize_with = "read_text_or_json")]
    pub event_source: Option<String>,
    #[serde(deserialize_with = "read_text_or_json")]
    pub event_project_id: Option<String>,
    #[serde(deserialize_with = "read_text_or_json")]
    pub event_subject_id: Option<String>,
    #[serde(deserialize_with = "read_text_or_json")]
    pub event_subject_name: Option<String>,
    /// Type of the subject; the API document does not show the values.
    #[serde(deserialize_with = "read_text_or_json")]
    pub event_subject_type: Option<String>,
    /// The user who caused the event.
    #[serde(deserialize_with = "read_text_or_json")]
    pub actor_id: Option<String>,
    /// E-mail address of the user who caused the event.
    #[serde(deserialize_with = "read_text_or_json")]
    pub actor_email: Option<String>,
    #[serde(deserialize_with = "read_text_or_json")]
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
    pub events: Vec<ApiValue<Event>>,
    /// Number of events on all pages, if the response contains it.
    pub total: Option<usize>,
    /// Page size, if the response contains one other than the requested size.
    pub size: Option<usize>,
    /// The page size that was requested; `None` if the platform rejected it and uses its own.
    pub requested_size: Option<usize>,
}

#[derive(Deserialize)]
struct EventEnvelope {
    results: Vec<Value>,
    total: Option<usize>,
    size: Option<usize>,
}

impl Platform {
    /// Returns one page of the audit events: `GET /v1/events`. The first page is page 0. The list may grow between two
    /// requests, which moves events to other pages, so a caller that needs all events must detect this. If the platform
    /// rejects `size`, requests the page without one; the next pages should then be requested without one, too.
    pub async fn fetch_event_page(
        &self,
        window: &EventWindow,
        page: usize,
        size: Option<usize>,
    ) -> Result<EventPage, HttpError> {
        let mut request = self.build_event_request(window, page)?;
        if let Some(size) = size {
            request = request.query("size", &size.to_string());
        }
        let mut requested_size = size;
        let mut result = self.client.send(&request).await;
        // The platform's limit is smaller than the API document's: without a size, it uses its own.
        if size.is_some() && result.as_ref().is_err_and(is_page_size_rejection) {
            requested_size = None;
            result = self.client.send(&self.build_event_request(window, page)?).await;
        }
        let response = result.map_err(add_super_admin_hint)?;
        let envelope: EventEnvelope = response.json()?;
        let mut events = Vec::with_capacity(envelope.results.len());
        for (index, raw) in envelope.results.into_iter().enumerate() {
            let value = convert_json(&raw, &format!("results[{index}]"), &response)?;
            events.push(ApiValue { value, raw });
        }
        Ok(EventPage {
            events,
            total: envelope.total,
            size: envelope.size.filter(|size| *size > 0),
            requested_size,
        })
    }

    /// Creates the request for a page of the audit events, without a page size.
    fn build_event_request(&self, window: &EventWindow, page: usize) -> Result<Request, HttpError> {
        let mut request = Request::get(self.client.url(&["events"])?);
        for (name, value) in [("from", &window.from), ("to", &window.to)] {
            if let Some(value) = value {
                request = request.query(name, value);
            }
        }
        Ok(request.query("page", &page.to_string()))
    }
}

/// Adds the hint that audit events need the role Super Admin to an error with status 403. Other errors are returned
/// unchanged.
fn add_super_admin_hint(error: HttpError) -> HttpError {
    match error.kind() {
        ErrorKind::Forbidden => {
            error.with_hint("reading audit events requires a token with the account role Super Admin")
        }
        _ => error,
    }
}
