//! Reads request bodies with limits on size and time.

use super::body_check::find_single_header;
use super::problem::Problem;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use futures_util::StreamExt;
use serde_json::{Map, Value};
use sluicegate_base::duplicate_key::find_duplicate_key;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::timeout;

/// Maximum size of a JSON body, in bytes.
pub(super) const MAX_JSON_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum time to receive a complete JSON body.
const JSON_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum time to wait for the next piece of a body.
const PIECE_TIMEOUT: Duration = Duration::from_secs(30);

/// A body whose size and time are checked while it is received.
pub(super) struct BoundedBody {
    pieces: Pin<Box<dyn futures_util::Stream<Item = Result<Bytes, axum::Error>> + Send>>,
    limit: u64,
    received_size: u64,
}

impl BoundedBody {
    /// Creates a reader of the body. A body whose declared length exceeds `limit` bytes is rejected before any of it is
    /// read.
    pub(super) fn new(headers: &HeaderMap, body: Body, limit: u64) -> Result<Self, Problem> {
        if declared_length(headers).is_some_and(|length| length > limit) {
            return Err(Problem::too_large("the body", limit));
        }
        Ok(Self {
            pieces: Box::pin(body.into_data_stream()),
            limit,
            received_size: 0,
        })
    }

    /// Receives the next piece, or `None` at the end. Returns an error if the piece does not arrive in time, or the
    /// body becomes larger than the limit.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        let next = timeout(PIECE_TIMEOUT, self.pieces.next())
            .await
            .map_err(|_| Problem::slow_body())?;
        let Some(piece) = next else {
            return Ok(None);
        };
        let piece =
            piece.map_err(|error| Problem::invalid_field("", format!("could not read the body: {error}")))?;
        self.received_size += piece.len() as u64;
        if self.received_size > self.limit {
            return Err(Problem::too_large("the body", self.limit));
        }
        Ok(Some(piece))
    }

    /// Reads the complete body into memory, within the limits that [`BoundedBody::next`] checks.
    async fn read_to_end(mut self) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.next().await? {
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }
}

/// Returns the length in the `Content-Length` header; `None` if the header is missing or is not a number.
fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Returns a 400 if the `Content-Type` header does not announce JSON: `application/json`, possibly with parameters.
fn require_json_type(headers: &HeaderMap) -> Result<(), Problem> {
    let name = header::CONTENT_TYPE.as_str();
    let value = find_single_header(headers, name).map_err(|message| Problem::invalid_field(name, message))?;
    let text = value.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = text.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Problem::invalid_field(name, "must be application/json"))
}

/// A JSON object as the request body; any other body gets a 400.
#[derive(Debug)]
pub(super) struct JsonObject(pub Map<String, Value>);

impl<S: Sync> FromRequest<S> for JsonObject {
    type Rejection = Problem;

    /// Reads the body within limits of size and time. Returns a 400 if the `Content-Type` header does not announce
    /// JSON, or the body is not a JSON object.
    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        require_json_type(&parts.headers)?;
        let body = BoundedBody::new(&parts.headers, body, MAX_JSON_BYTES)?;
        let bytes = timeout(JSON_TIMEOUT, body.read_to_end())
            .await
            .map_err(|_| Problem::slow_body())??;
        // The reader would take the last of the values.
        if let Some(reason) = find_duplicate_key(&bytes) {
            return Err(Problem::invalid_field(
                "",
                format!("the body is ambiguous: {reason}"),
            ));
        }
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(object)) => Ok(Self(object)),
            Ok(_) => Err(Problem::invalid_field("", "the body must be a JSON object")),
            Err(error) => Err(Problem::invalid_field(
                "",
                format!("the body is not JSON: {error}"),
            )),
        }
    }
}
