//! A 2xx response, read completely within its limit, and its conversion to a value or an error.

use super::error::{HttpError, RetryRule};
use super::memory_estimate::{MAX_RESPONSE_MEMORY, estimate_memory};
use super::server_text::{self, parse_server_text, truncate};
use super::{ErrorKind, retry};
use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{AGE, CONTENT_TYPE, DATE, HeaderMap};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use sluicegate_base::duplicate_key::find_duplicate_key;
use sluicegate_base::input::strip_byte_order_mark;
use sluicegate_base::named_fields::NamedFields;
use sluicegate_base::redaction::redact_json;
use std::time::SystemTime;

/// Maximum size of a body that is read for an error message, in bytes.
pub(super) const MAX_ERROR_BODY_SIZE: usize = 256 * 1024;

/// Maximum number of characters of a body's message that are shown.
const MAX_MESSAGE_LENGTH: usize = 300;

/// The headers in which servers, and the proxies in front of them, send the id of a request.
const REQUEST_ID_HEADERS: [&str; 7] = [
    "x-request-id",
    "x-correlation-id",
    "request-id",
    "x-amzn-requestid",
    "x-amz-request-id",
    "x-trace-id",
    "cf-ray",
];

/// Returns the id that the server, or a proxy in front of it, gave to a request, if it is valid text.
pub(super) fn find_request_id(headers: &HeaderMap) -> Option<&str> {
    REQUEST_ID_HEADERS
        .iter()
        .find_map(|name| headers.get(*name)?.to_str().ok())
}

/// Returns the server's time from the response's `Date`. Returns `None` if the date is missing or invalid, or if the
/// response comes from a cache, because its date is old then.
pub(super) fn find_server_time(headers: &HeaderMap) -> Option<SystemTime> {
    if headers.contains_key(AGE) {
        return None;
    }
    httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()
}

/// Status and headers of a response, and the request that it belongs to.
pub(super) struct ResponseHead {
    pub(super) subject: String,
    pub(super) is_read_only: bool,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
}

impl ResponseHead {
    /// Returns the content type of the body; empty if it is missing or not text.
    fn content_type(&self) -> &str {
        self.headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// Creates an error of this kind with the subject, status and request id of this response.
    pub(super) fn build_error(
        &self,
        kind: ErrorKind,
        message: impl Into<server_text::ServerText>,
    ) -> HttpError {
        self.add_context(HttpError::new(kind, message))
    }

    /// Adds the subject, status and request id of this response to the error. If the status is a success,
    /// the request may have had its effect, unless it is read-only.
    pub(super) fn add_context(&self, error: HttpError) -> HttpError {
        let error = error
            .with_subject(&self.subject)
            .with_status(self.status, find_request_id(&self.headers));
        if self.status.is_success() && !self.is_read_only {
            error.mark_maybe_processed()
        } else {
            error
        }
    }

    /// Returns the error for a status other than 2xx, with the server's message, and with the rules for retries that
    /// follow from the status.
    pub(super) fn status_error(&self, body: &[u8]) -> HttpError {
        let requested_delay = retry::parse_retry_after(&self.headers, SystemTime::now());
        let error = self
            .build_error(
                ErrorKind::from_status(self.status),
                parse_server_text(self.content_type(), body),
            )
            .with_retry_rule(retry::retry_rule_for(self.status, requested_delay))
            .with_retry_after(requested_delay);
        if retry::may_have_effect(self.status) {
            error.mark_maybe_processed()
        } else {
            error
        }
    }
}

/// A 2xx response.
pub struct Response {
    pub(super) head: ResponseHead,
    pub(super) body: Bytes,
    pub(super) sent_secrets: Vec<SecretString>,
}

impl Response {
    pub(crate) fn status(&self) -> u16 {
        self.head.status.as_u16()
    }

    /// Returns the maximum memory of the response's values in bytes, plus `earlier_memory`, that of earlier pages.
    /// Fails if the sum exceeds the limit for a response.
    pub(crate) fn check_memory(&self, earlier_memory: u64) -> Result<u64, HttpError> {
        let memory = earlier_memory + estimate_memory(&self.body);
        if memory > MAX_RESPONSE_MEMORY {
            let limit_in_mb = MAX_RESPONSE_MEMORY >> 20;
            let values = if earlier_memory == 0 {
                "its values"
            } else {
                "all values up to this page"
            };
            return Err(self.unusable_error(&format!(
                "{values} would take more than {limit_in_mb} MB of memory"
            )));
        }
        Ok(memory)
    }

    /// Returns whether the response has no body.
    pub(crate) fn is_empty(&self) -> bool {
        self.body.iter().all(u8::is_ascii_whitespace)
    }

    /// Returns whether the status is exactly 200.
    pub(crate) fn is_ok(&self) -> bool {
        self.head.status == StatusCode::OK
    }

    /// Returns whether the status is exactly 201.
    pub(crate) fn is_created(&self) -> bool {
        self.head.status == StatusCode::CREATED
    }

    /// Parses the body as JSON, without the secrets that were sent, in case the server repeats them. If the body does
    /// not match `T`, the error contains the path of the mismatch. Also fails if an object has a duplicate key, or if
    /// the values would need too much memory.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        let earlier_memory = 0;
        self.check_memory(earlier_memory)?;
        // A byte order mark before JSON may be ignored: <https://www.rfc-editor.org/rfc/rfc8259#section-8.1>.
        // Some servers write a byte order mark before JSON.
        let body = strip_byte_order_mark(&self.body);
        let json = redact_json(body, &self.sent_secrets);
        if let Some(reason) = find_duplicate_key(&json) {
            return Err(self.unusable_error(&reason));
        }
        let mut reader = serde_json::Deserializer::from_slice(&json);
        let value = serde_path_to_error::deserialize(NamedFields(&mut reader))
            .map_err(|error| self.json_error(&error))?;
        reader
            .end()
            .map_err(|error| self.unusable_error(&format!("unexpected text after the JSON: {error}")))?;
        Ok(value)
    }

    /// Creates the error for a body that is not JSON, or for JSON that does not match the expected type.
    fn json_error(&self, error: &serde_path_to_error::Error<serde_json::Error>) -> HttpError {
        if error.inner().is_data() {
            return self.type_error(&error.path().to_string(), error.inner());
        }
        self.unusable_error(&format!(
            "the body is not JSON ({}): {}",
            error.inner(),
            self.message_text()
        ))
    }

    /// Creates the error for a value at this path of the response that has another type than expected.
    pub(crate) fn type_error(&self, path: &str, error: &serde_json::Error) -> HttpError {
        let reason = describe_type_error(error);
        self.unusable_error(&match path {
            // The document itself.
            "" | "." => reason,
            _ => format!("at {path}: {reason}"),
        })
    }

    /// Returns whether the body is an HTML page, such as one from a proxy in front of the server.
    pub(super) fn is_html(&self) -> bool {
        server_text::is_html(self.head.content_type(), &self.body)
    }

    /// Returns the beginning of the body's message, for people; empty if there is no body.
    pub(crate) fn message_text(&self) -> String {
        if self.body.is_empty() {
            return String::new();
        }
        let start = self.body.get(..MAX_ERROR_BODY_SIZE).unwrap_or(&self.body);
        let mut message = parse_server_text(self.head.content_type(), start);
        // Redact before truncating: half a secret would not be found.
        for secret in &self.sent_secrets {
            message.redact_secret(secret);
        }
        truncate(&message.to_string(), MAX_MESSAGE_LENGTH)
    }

    /// Creates the error for a response that cannot be used, with the secrets removed from the reason. The request is
    /// not retried.
    pub(crate) fn unusable_error(&self, reason: &str) -> HttpError {
        let error = self
            .head
            .build_error(
                ErrorKind::BadResponse,
                format!("the response cannot be used: {reason}"),
            )
            .with_retry_rule(RetryRule::Never);
        self.sent_secrets
            .iter()
            .fold(error, |error, secret| error.without_secret(Some(secret)))
    }
}

/// Describes JSON of another type than expected. Names of types of this program are replaced by "an object".
fn describe_type_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let Some((start, type_name)) = text.split_once("expected struct ") else {
        return text;
    };
    let name_end = type_name
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(type_name.len());
    let mut end = &type_name[name_end..];
    // In an array, serde expects as many elements as the type has fields.
    if let Some((_, after_count)) = end
        .strip_prefix(" with ")
        .and_then(|count| count.split_once(" element"))
    {
        end = after_count.trim_start_matches('s');
    }
    format!("{start}expected an object{end}")
}
