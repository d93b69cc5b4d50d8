//! A 2xx response, read completely within its limit, and its conversion to a value or an error.

use super::error::{HttpError, RetryRule};
use super::redact::{redacted, redacted_json};
use super::weight::{MOST_MEMORY, weight};
use super::words::{self, bounded, in_body};
use super::{ErrorKind, error, retry};
use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use sluicegate_base::duplicate_key::find_duplicate_key;
use std::time::SystemTime;

/// Maximum size of a body that is read for an error message, in bytes.
pub(super) const ERROR_LIMIT: usize = 256 * 1024;

/// The headers in which servers, and the proxies in front of them, send the id of a request.
const REQUEST_IDS: [&str; 7] = [
    "x-request-id",
    "x-correlation-id",
    "request-id",
    "x-amzn-requestid",
    "x-amz-request-id",
    "x-trace-id",
    "cf-ray",
];

/// Status and headers of a response, and the request that it belongs to.
pub(super) struct ResponseHead {
    pub(super) subject: String,
    pub(super) reads: bool,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
}

impl ResponseHead {
    fn request_id(&self) -> Option<&str> {
        REQUEST_IDS
            .iter()
            .find_map(|name| self.headers.get(*name)?.to_str().ok())
    }

    fn content_type(&self) -> &str {
        self.headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    pub(super) fn failure(&self, kind: ErrorKind, words: impl Into<words::ServerText>) -> HttpError {
        self.known(HttpError::new(kind, words))
    }

    /// Adds the subject, status and request id of this response to the failure.
    pub(super) fn known(&self, error: HttpError) -> HttpError {
        let error = error
            .about(&self.subject)
            .status_is(self.status, self.request_id());
        if self.status.is_success() && !self.reads {
            error.maybe_processed()
        } else {
            error
        }
    }

    /// Returns the failure for a status other than 2xx.
    pub(super) fn refusal(&self, body: &[u8]) -> HttpError {
        let asked = retry::retry_after(&self.headers, SystemTime::now());
        let error = self
            .failure(error::kind_of(self.status), in_body(self.content_type(), body))
            .again(retry::again_after(self.status, asked))
            .retry_after(asked);
        if retry::maybe_processed(self.status, asked) {
            error.maybe_processed()
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

    /// Returns the maximum memory of its values in bytes, plus the `before` of earlier pages; an error if the sum
    /// exceeds the limit for a response.
    pub(crate) fn fits_beside(&self, before: u64) -> Result<u64, HttpError> {
        let all = before + weight(&self.body);
        if all > MOST_MEMORY {
            let most = MOST_MEMORY >> 20;
            let whose = if before == 0 {
                "its values"
            } else {
                "all values up to this page"
            };
            return Err(self.unusable(&format!("{whose} would take more than {most} MB of memory")));
        }
        Ok(all)
    }

    /// Returns whether the status is exactly 200.
    pub(crate) fn is_ok(&self) -> bool {
        self.head.status == StatusCode::OK
    }

    /// Returns whether the status is exactly 201.
    pub(crate) fn is_created(&self) -> bool {
        self.head.status == StatusCode::CREATED
    }

    /// Parses the body as JSON, with the sent secrets removed in case the server repeats them. If the body does not
    /// match `T`, the error contains the path of the mismatch. An object with a duplicate key is an error, too.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        self.fits_beside(0)?;
        // A byte order mark before JSON may be ignored: <https://www.rfc-editor.org/rfc/rfc8259#section-8.1>.
        let body = self.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.body);
        let body = redacted_json(body, &self.sent_secrets);
        if let Some(reason) = find_duplicate_key(&body) {
            return Err(self.unusable(&reason));
        }
        let mut reader = serde_json::Deserializer::from_slice(&body);
        serde_path_to_error::deserialize(&mut reader)
            .map_err(|why| self.not_as_expected(&why))
            .and_then(|value| {
                reader
                    .end()
                    .map_err(|why| self.unusable(&format!("after the JSON: {why}")))?;
                Ok(value)
            })
    }

    /// Returns the failure for a body that is not JSON, or JSON that does not match the expected type.
    fn not_as_expected(&self, why: &serde_path_to_error::Error<serde_json::Error>) -> HttpError {
        if why.inner().is_data() {
            return self.unusable(&format!("at {}: {}", why.path(), why.inner()));
        }
        self.unusable(&format!(
            "the body is not JSON ({}): {}",
            why.inner(),
            self.said()
        ))
    }

    /// Returns whether the body is an HTML page, as proxies in front of a server send them.
    pub(super) fn is_page(&self) -> bool {
        words::is_page(self.head.content_type(), &self.body)
    }

    /// Returns the beginning of the body's message, for people.
    pub(crate) fn said(&self) -> String {
        if self.body.is_empty() {
            return String::new();
        }
        let start = self.body.get(..ERROR_LIMIT).unwrap_or(&self.body);
        let mut words = in_body(self.head.content_type(), start);
        // Redact before truncating: half a secret would not be found.
        for secret in &self.sent_secrets {
            words.text = redacted(&words.text, secret);
        }
        bounded(&words.to_string(), 300)
    }

    /// Returns the failure for a response that cannot be used.
    pub(crate) fn unusable(&self, why: &str) -> HttpError {
        let error = self
            .head
            .failure(
                ErrorKind::BadAnswer,
                format!("the response cannot be used: {why}"),
            )
            .again(RetryRule::Never);
        let secrets = self.sent_secrets.iter();
        secrets.fold(error, |error, secret| error.without_secret(Some(secret)))
    }
}
