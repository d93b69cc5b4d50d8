//! The error of a call, with everything that a reader or a caller needs: the request, the status, the request id, the
//! server's message, and whether the request may have had its effect.
//!
//! Texts from the server are kept unchanged (bounded, without the secrets that were sent); the code that shows them
//! has to escape them.

use super::error_kind::ErrorKind;
use super::server_text::{self, FieldViolation, ServerText};
use reqwest::{StatusCode, Url};
use secrecy::SecretString;
use sluicegate_base::redaction::redact;
use std::fmt;
use std::time::Duration;

/// Rule for sending the same request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryRule {
    /// A repetition would fail in the same way.
    Never,
    /// Repeat only if a second execution does no harm.
    IfSafe,
    /// Repeat unless a second execution would create a second resource: the server requests a repetition, but may have
    /// processed the first request.
    UnlessDoubled,
    /// Repeat in any case: the first request was certainly not processed.
    Always,
}

#[derive(Debug, Clone)]
pub struct HttpError(Box<ErrorDetails>);

#[derive(Debug, Clone)]
struct ErrorDetails {
    kind: ErrorKind,
    subject: String,
    status: Option<StatusCode>,
    request_id: Option<String>,
    message: ServerText,
    tries: u32,
    has_maybe_processed_try: bool,
    retry_rule: RetryRule,
    retry_after: Option<Duration>,
    is_maybe_processed: bool,
    hint: Option<String>,
}

impl HttpError {
    /// Creates a failure of this kind. By default, the request must not be retried and certainly had no effect.
    pub(super) fn new(kind: ErrorKind, message: impl Into<ServerText>) -> Self {
        Self(Box::new(ErrorDetails {
            kind,
            subject: String::new(),
            status: None,
            request_id: None,
            message: message.into(),
            tries: 1,
            has_maybe_processed_try: false,
            retry_rule: RetryRule::Never,
            retry_after: None,
            is_maybe_processed: false,
            hint: None,
        }))
    }

    /// Creates an error for a name that cannot be a part of a URL path.
    pub(super) fn invalid_name(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidName, message.into())
    }

    /// Creates an error for a setting that cannot be used.
    pub(crate) fn configuration(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Configuration, message.into())
    }

    /// Creates an error for responses that are valid separately but cannot be used together.
    pub(crate) fn bad_response(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadResponse, message.into())
    }

    /// Creates an error for a response that did not arrive within the time limit.
    pub(crate) fn timeout(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Timeout, message.into())
    }

    /// Sets the method and the URL of the failed request, which begin the message.
    pub(super) fn with_subject(mut self, subject: &str) -> Self {
        subject.clone_into(&mut self.0.subject);
        self
    }

    pub(super) fn with_status(mut self, status: StatusCode, request_id: Option<&str>) -> Self {
        self.0.status = Some(status);
        self.0.request_id = request_id.map(str::to_owned);
        self
    }

    pub(super) fn with_retry_rule(mut self, retry_rule: RetryRule) -> Self {
        self.0.retry_rule = retry_rule;
        self
    }

    /// Marks the error as one of a request that the server may have processed, so that a retry could do it twice.
    #[must_use]
    pub(crate) fn mark_maybe_processed(mut self) -> Self {
        self.0.is_maybe_processed = true;
        self
    }

    /// Marks the error as one of a request that certainly changed nothing on the server.
    pub(super) fn without_effect(mut self) -> Self {
        self.0.is_maybe_processed = false;
        self
    }

    /// Treats the status 409 like any other status: the request creates nothing, so that no name is taken.
    pub(super) fn without_conflict(mut self) -> Self {
        if self.0.kind == ErrorKind::Conflict {
            self.0.kind = ErrorKind::OtherStatus(409);
        }
        self
    }

    pub(super) fn with_retry_after(mut self, delay: Option<Duration>) -> Self {
        self.0.retry_after = delay;
        self
    }

    /// Puts in front of the server's message that it requests a longer wait than the client allows.
    pub(super) fn with_excessive_delay(mut self, max_delay: Duration) -> Self {
        let requested_seconds = self.0.retry_after.unwrap_or_default().as_secs();
        let text = &mut self.0.message.text;
        let reason = format!(
            "the server requested a wait of {requested_seconds} s, but the limit is {} s",
            max_delay.as_secs()
        );
        *text = if text.is_empty() {
            reason
        } else {
            format!("{reason}: {text}")
        };
        self.with_hint(format!("try again in {requested_seconds} s"))
    }

    /// Sets the number of tries, and whether one of those before the last may have been processed.
    pub(super) fn with_tries(mut self, tries: u32, has_maybe_processed_try: bool) -> Self {
        self.0.tries = tries;
        self.0.has_maybe_processed_try = has_maybe_processed_try;
        self
    }

    /// Removes a secret from all texts of the error; without a secret, the error does not change.
    pub(super) fn without_secret(mut self, secret: Option<&SecretString>) -> Self {
        if let Some(secret) = secret {
            self.0.message.redact_secret(secret);
            self.0.request_id = self.0.request_id.map(|id| redact(&id, secret));
        }
        self
    }

    /// Replaces the general hint with a more specific one.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the status of the response, or `None` if there was no response.
    pub fn status(&self) -> Option<u16> {
        self.0.status.map(|status| status.as_u16())
    }

    /// Returns the number of times the request was sent.
    pub fn tries(&self) -> u32 {
        self.0.tries
    }

    /// Returns whether an earlier try of the request may have been processed, so that the error may be its effect. A
    /// try that got the status 429, or that was not sent, had no effect.
    pub fn has_maybe_processed_try(&self) -> bool {
        self.0.has_maybe_processed_try
    }

    /// Returns whether no usable response arrived, or only the status 429 or 5xx; false for a rejected certificate.
    pub fn is_unavailable(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::Unreachable
                | ErrorKind::Timeout
                | ErrorKind::BadResponse
                | ErrorKind::OtherStatus(429 | 500..=599)
        )
    }

    /// Returns the fields that the server rejected, each with the server's message.
    pub fn violations(&self) -> &[FieldViolation] {
        &self.0.message.violations
    }

    /// Returns the server's complete message, to search in it.
    pub(crate) fn server_text(&self) -> String {
        self.0.message.full_text()
    }

    /// Returns whether the server responded with 2xx and only its response could not be used.
    pub fn is_accepted(&self) -> bool {
        self.0.status.is_some_and(|status| status.is_success())
    }

    /// Returns whether the request may have had its effect although no usable response arrived.
    pub fn is_maybe_processed(&self) -> bool {
        self.0.is_maybe_processed
    }

    /// Returns whether the error has a more specific hint than that for its kind.
    pub fn has_specific_hint(&self) -> bool {
        self.0.hint.is_some()
    }

    /// Returns the hint, with the advice to check the result if the request may have had its effect.
    pub fn hint(&self) -> String {
        self.hint_with_check("check whether the request took effect before you repeat the command")
    }

    /// Returns the specific hint, or else the general one for this kind of failure, after `check` if the request may
    /// have had its effect.
    pub fn hint_with_check(&self, check: &str) -> String {
        let advice = self.0.hint.as_deref().unwrap_or(self.0.kind.general_hint());
        if self.0.is_maybe_processed {
            format!("the request may have been processed nevertheless: {check}; then {advice}")
        } else {
            advice.to_owned()
        }
    }

    /// Returns whether the server requested the client to come back later.
    pub fn is_wait_requested(&self) -> bool {
        self.0.retry_after.is_some()
    }

    pub(super) fn retry_rule(&self) -> RetryRule {
        self.0.retry_rule
    }

    pub(super) fn requested_delay(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns the request id and the number of tries in parentheses; empty if there is nothing to add.
    fn format_details(&self) -> String {
        let mut details = Vec::new();
        if let Some(id) = &self.0.request_id {
            details.push(format!("request id {}", server_text::truncate_request_id(id)));
        }
        if self.0.tries > 1 {
            details.push(format!("{} tries", self.0.tries));
        }
        if details.is_empty() {
            String::new()
        } else {
            format!(" ({})", details.join(", "))
        }
    }

    /// Returns the message without the request id and the number of tries, so that equal failures have equal texts.
    pub fn message_without_details(&self) -> String {
        self.format_message("")
    }

    /// Returns the message without the violations that the server lists, for use with [`Self::list_violations`].
    pub fn summary(&self) -> String {
        self.split_message(&self.format_details()).0
    }

    /// Returns the descriptions of the violations that the server lists, up to the maximum length of a message.
    pub fn list_violations(&self) -> Vec<String> {
        self.0.message.truncate().1
    }

    /// Returns the message, with a line for each violation that the server lists.
    fn format_message(&self, details: &str) -> String {
        let (summary, entries) = self.split_message(details);
        server_text::join_entries(&summary, &entries)
    }

    /// Returns the message and the violations that the server lists. The message consists of the request, the status
    /// followed by `details` (empty or in parentheses), and the server's message. If there is no status, `failed`
    /// replaces it after several tries; after one try, there are no details.
    fn split_message(&self, details: &str) -> (String, Vec<String>) {
        let error = &*self.0;
        let mut parts = Vec::new();
        if !error.subject.is_empty() {
            parts.push(error.subject.clone());
        }
        let (message, entries) = error.message.truncate();
        match error.status {
            Some(status) => {
                parts.push(format!("{}{details}", status_line(status)));
                let reason = strip_status_reason(status, &message).unwrap_or_default();
                // An empty reason keeps the colon, which announces the violations.
                if !reason.is_empty() || !entries.is_empty() {
                    parts.push(reason);
                }
            }
            None if error.tries > 1 => parts.extend([format!("failed{details}"), message]),
            None => parts.push(message),
        }
        (parts.join(": ").trim_end().to_owned(), entries)
    }
}

/// The failure without the server's message: the reason for a retry.
pub(super) struct RetryReason<'a> {
    pub(super) error: &'a HttpError,
    pub(super) url: &'a Url,
}

impl fmt::Display for RetryReason<'_> {
    /// Writes the request and the status of the response. Without a response, and if the status is a success, also
    /// writes the beginning of the reason. Without a connection, names only the server, because the reason is the same
    /// for all of its requests.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = &*self.error.0;
        // A server's message may begin with the same words.
        if error.status.is_none()
            && error.kind == ErrorKind::Unreachable
            && let Some(reason) = error.message.text.strip_prefix(server_text::NO_CONNECTION)
        {
            let server = self.url.origin().ascii_serialization();
            let reason = server_text::truncate(reason, server_text::MAX_REASON_LENGTH);
            return write!(f, "cannot connect to {server}: {reason}");
        }
        f.write_str(&error.subject)?;
        if let Some(status) = error.status {
            write!(f, ": {}", status_line(status))?;
        }
        if error.status.is_none_or(|status| status.is_success()) {
            let reason = server_text::truncate(&error.message.full_text(), server_text::MAX_REASON_LENGTH);
            write!(f, ": {reason}")?;
        }
        Ok(())
    }
}

/// Returns the message without the status and its name, which servers repeat at its start; `None` if nothing else is
/// left.
fn strip_status_reason(status: StatusCode, text: &str) -> Option<String> {
    let reason = status.canonical_reason().unwrap_or_default();
    let line = status_line(status);
    let mut message = text;
    loop {
        let is_status = |name: &str| !name.is_empty() && message.eq_ignore_ascii_case(name);
        if is_status(reason) || is_status(&line) {
            return None;
        }
        let details = match message.split_once(": ") {
            Some((start, details)) if start.eq_ignore_ascii_case(reason) => Some(details),
            // The page of a proxy contains the status as its title and as its heading.
            _ => message
                .strip_prefix(&line)
                .and_then(|details| details.strip_prefix(": ").or(details.strip_prefix(' '))),
        };
        match details {
            Some(details) => message = details,
            None => return Some(message.to_owned()),
        }
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format_message(&self.format_details()))
    }
}

impl std::error::Error for HttpError {}

/// Returns the status with its name, for example "404 Not Found".
pub(super) fn status_line(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_is_shown() {
        let error = HttpError::new(ErrorKind::OtherStatus(503), "down for an hour")
            .with_subject("GET https://h/v1/events")
            .with_status(StatusCode::SERVICE_UNAVAILABLE, Some("abc-1"))
            .with_tries(5, false);
        insta::assert_snapshot!(error, @"GET https://h/v1/events: 503 Service Unavailable (request id abc-1, 5 tries): down for an hour");
        insta::assert_snapshot!(error.hint(), @"try again later: the platform has a problem");
    }

    #[test]
    fn secret_that_server_repeats_is_hidden() {
        let error = HttpError::new(ErrorKind::Unauthorized, "bad token s3cret")
            .with_status(StatusCode::UNAUTHORIZED, Some("s3cret"))
            .without_secret(Some(&SecretString::from("s3cret")));
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }
}
