//! The error of a call, with everything that a reader or a caller needs: the request, the status, the request id, the
//! server's message, and whether the request may have had its effect.
//!
//! Texts from the server are kept unchanged (bounded, without the secrets that were sent); the code that shows them
//! has to escape them.

use super::redact::redacted;
use super::words::{self, FieldViolation, ServerText};
use reqwest::{Method, StatusCode, Url};
use secrecy::SecretString;
use std::fmt;
use std::time::Duration;

/// The kinds of failure that a caller handles differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The settings cannot be used: an unreadable CA file, a broken token source, a value that no header allows.
    Configuration,
    /// 401, or the token URL rejected the client.
    Unauthorized,
    /// 403.
    Forbidden,
    /// 404.
    NotFound,
    /// 409.
    Conflict,
    /// 413.
    TooLarge,
    /// 400 or 422.
    BadRequest,
    /// Any other status that is not 2xx.
    OtherStatus(u16),
    /// The connection failed or broke.
    Unreachable,
    /// The server's certificate is not trusted.
    Certificate,
    /// No response, or no progress, within the timeout.
    Timeout,
    /// A response that cannot be used: not the expected JSON, too large, a redirect to another origin.
    BadAnswer,
    /// The content of an upload did not have its announced length, or could not be read.
    Source,
}

/// Rule for sending the same request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryRule {
    /// A repetition would fail in the same way.
    Never,
    /// Repeat only if a second execution does no harm.
    IfSafe,
    /// Repeat in any case: the first request was certainly not processed.
    Always,
}

#[derive(Debug, Clone)]
pub struct HttpError(Box<Facts>);

#[derive(Debug, Clone)]
struct Facts {
    kind: ErrorKind,
    subject: String,
    status: Option<StatusCode>,
    request_id: Option<String>,
    words: ServerText,
    tries: u32,
    again: RetryRule,
    retry_after: Option<Duration>,
    processed: bool,
    hint: Option<String>,
}

impl HttpError {
    /// Creates a failure of this kind. By default it is final and the request had no effect.
    pub(super) fn new(kind: ErrorKind, words: impl Into<ServerText>) -> Self {
        Self(Box::new(Facts {
            kind,
            subject: String::new(),
            status: None,
            request_id: None,
            words: words.into(),
            tries: 1,
            again: RetryRule::Never,
            retry_after: None,
            processed: false,
            hint: None,
        }))
    }

    pub(crate) fn configuration(words: impl Into<String>) -> Self {
        Self::new(ErrorKind::Configuration, words.into())
    }

    /// Creates an error for responses that are valid separately but cannot be used together.
    pub(crate) fn bad_answer(words: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadAnswer, words.into())
    }

    /// Creates an error for a response that did not arrive within the time limit.
    pub(crate) fn late(words: impl Into<String>) -> Self {
        Self::new(ErrorKind::Timeout, words.into())
    }

    pub(super) fn about(mut self, subject: &str) -> Self {
        subject.clone_into(&mut self.0.subject);
        self
    }

    pub(super) fn status_is(mut self, status: StatusCode, request_id: Option<&str>) -> Self {
        self.0.status = Some(status);
        self.0.request_id = request_id.map(str::to_owned);
        self
    }

    pub(super) fn again(mut self, again: RetryRule) -> Self {
        self.0.again = again;
        self
    }

    /// Marks the request as one that may have had its effect.
    #[must_use]
    pub(crate) fn maybe_processed(mut self) -> Self {
        self.0.processed = true;
        self
    }

    pub(super) fn without_effect(mut self) -> Self {
        self.0.processed = false;
        self
    }

    pub(super) fn retry_after(mut self, delay: Option<Duration>) -> Self {
        self.0.retry_after = delay;
        self
    }

    /// Reports that the server requests a longer wait than the client allows.
    pub(super) fn too_long(mut self, most: Duration) -> Self {
        let asked = self.0.retry_after.unwrap_or_default().as_secs();
        let text = &mut self.0.words.text;
        let more = format!(
            "the server requests a wait of {asked} s, and the limit is {} s",
            most.as_secs()
        );
        *text = if text.is_empty() {
            more
        } else {
            format!("{more}: {text}")
        };
        self.with_hint(format!("try again in {asked} s"))
    }

    pub(super) fn tried(mut self, tries: u32) -> Self {
        self.0.tries = tries;
        self
    }

    pub(super) fn without_secret(mut self, secret: Option<&SecretString>) -> Self {
        if let Some(secret) = secret {
            let words = &mut self.0.words;
            words.text = redacted(&words.text, secret);
            for violation in &mut words.violations {
                violation.field = redacted(&violation.field, secret);
                violation.message = redacted(&violation.message, secret);
            }
            self.0.request_id = self.0.request_id.map(|id| redacted(&id, secret));
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

    /// Returns whether the server was unreachable or gave no usable response; false if it rejected the request.
    pub fn is_unavailable(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::Unreachable
                | ErrorKind::Timeout
                | ErrorKind::BadAnswer
                | ErrorKind::OtherStatus(429 | 500..=599)
        )
    }

    /// Returns the fields that the server rejects, with its messages.
    pub fn violations(&self) -> &[FieldViolation] {
        &self.0.words.violations
    }

    /// Returns the server's message, unabridged; for searching in it.
    pub(crate) fn server_text(&self) -> &str {
        &self.0.words.text
    }

    /// Returns whether the server responded with 2xx and only its response could not be used.
    pub fn was_accepted(&self) -> bool {
        self.0.status.is_some_and(|status| status.is_success())
    }

    /// Returns whether the request may have had its effect although no usable response arrived.
    pub fn may_have_been_processed(&self) -> bool {
        self.0.processed
    }

    pub fn hint(&self) -> Option<String> {
        let hint = self.0.hint.clone();
        hint.or_else(|| Some(self.hint_where("check the result before you repeat it")))
    }

    /// Returns the hint for this error. If the request may have been processed, it starts with `look`.
    pub fn hint_where(&self, look: &str) -> String {
        let general = general_hint(self.0.kind);
        if self.0.processed {
            format!("the request may have been processed nevertheless: {look}; then {general}")
        } else {
            general.to_owned()
        }
    }

    pub(super) fn retry_rule(&self) -> RetryRule {
        self.0.again
    }

    pub(super) fn requested_delay(&self) -> Option<Duration> {
        self.0.retry_after
    }

    fn facts_in_brackets(&self) -> String {
        let mut facts = Vec::new();
        if let Some(id) = &self.0.request_id {
            facts.push(format!("request id {}", words::bounded(id, 200)));
        }
        if self.0.tries > 1 {
            facts.push(format!("{} tries", self.0.tries));
        }
        if facts.is_empty() {
            String::new()
        } else {
            format!(" ({})", facts.join(", "))
        }
    }
}

/// The failure without the server's message: the reason for a retry.
pub(super) struct Brief<'a>(pub(super) &'a HttpError);

impl fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = &*self.0.0;
        match facts.status {
            Some(status) => write!(f, "{}: {}", facts.subject, status_line(status)),
            None => write!(f, "{}: {}", facts.subject, words::bounded(&facts.words.text, 300)),
        }
    }
}

impl HttpError {
    /// Returns the message without the request id and the number of tries, so that requests that failed for the same
    /// reason have the same text.
    pub fn cause(&self) -> String {
        self.said("")
    }

    fn said(&self, brackets: &str) -> String {
        let facts = &*self.0;
        let mut parts = Vec::new();
        if !facts.subject.is_empty() {
            parts.push(facts.subject.clone());
        }
        let words = facts.words.to_string();
        match facts.status {
            Some(status) => {
                parts.push(format!("{}{brackets}", status_line(status)));
                parts.extend(beyond_the_reason(status, &words));
            }
            None if facts.tries > 1 => parts.extend([format!("failed{brackets}"), words]),
            None => parts.push(words),
        }
        parts.join(": ")
    }
}

/// Returns the message without the reason of the status line, which servers like to repeat at its start.
fn beyond_the_reason(status: StatusCode, words: &str) -> Option<String> {
    let reason = status.canonical_reason().unwrap_or_default();
    let mut rest = words;
    loop {
        if !reason.is_empty() && rest.eq_ignore_ascii_case(reason) {
            return None;
        }
        match rest.split_once(": ") {
            Some((start, further)) if start.eq_ignore_ascii_case(reason) => rest = further,
            _ => return Some(rest.to_owned()),
        }
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said(&self.facts_in_brackets()))
    }
}

impl std::error::Error for HttpError {}

pub(super) fn status_line(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

/// Returns the hint for each kind of failure, for callers without a more specific one.
const fn general_hint(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Configuration => "correct this setting or name; `sluicegate doctor` checks the settings",
        ErrorKind::BadRequest => "correct the fields that the platform rejects",
        ErrorKind::Conflict => {
            "an existing resource or running operation conflicts with this one: end or rename one of the two"
        }
        ErrorKind::Source => "nothing was published: make sure that no file changes during the upload",
        ErrorKind::Unauthorized => {
            "check the token: it may have expired, or belong to another account or region than the base URL"
        }
        ErrorKind::Forbidden => "the token is valid, but its account role is not allowed to do this",
        ErrorKind::NotFound => "check the base URL and the identifiers in the URL above",
        ErrorKind::TooLarge => "send less data in one request",
        ErrorKind::OtherStatus(407) => "set the proxy credentials: HTTPS_PROXY=http://user:password@host",
        ErrorKind::OtherStatus(429) => "the platform's rate limit is exceeded: try again later",
        ErrorKind::OtherStatus(500..=599) => "the platform has a problem: try again later",
        ErrorKind::Unreachable => {
            "check the base URL, the network, and the proxy variables (HTTPS_PROXY, NO_PROXY)"
        }
        ErrorKind::Certificate => {
            "if a company's own authority signed the certificate, pass it with --ca-cert (SLUICEGATE_CA_CERT)"
        }
        ErrorKind::Timeout => "set a longer timeout with --timeout (SLUICEGATE_TIMEOUT)",
        ErrorKind::BadAnswer => "check that the base URL is the address of the platform's API",
        ErrorKind::OtherStatus(_) => {
            "check the base URL; `sluicegate doctor` checks the connection to the platform"
        }
    }
}

/// Returns the request for display: method and URL, without user, password and fragment, and without the query unless
/// this program built the URL.
pub(super) fn subject(method: &Method, url: &Url, show_query: bool) -> String {
    let mut shown = url.clone();
    // Both setters fail only on URLs that cannot have the part that is removed.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_fragment(None);
    if !show_query {
        shown.set_query(None);
    }
    format!("{method} {}", words::bounded(shown.as_str(), 500))
}

/// Returns the error kind of a status other than 2xx.
pub(super) fn kind_of(status: StatusCode) -> ErrorKind {
    match status.as_u16() {
        400 | 422 => ErrorKind::BadRequest,
        401 => ErrorKind::Unauthorized,
        403 => ErrorKind::Forbidden,
        404 => ErrorKind::NotFound,
        409 => ErrorKind::Conflict,
        413 => ErrorKind::TooLarge,
        other => ErrorKind::OtherStatus(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subject_shows_no_secret() {
        let url = Url::parse("https://me:pw@h/a?token=t#f").unwrap();
        assert_eq!(subject(&Method::GET, &url, false), "GET https://h/a");
        let ours = Url::parse("https://h/a?page=0").unwrap();
        assert_eq!(subject(&Method::GET, &ours, true), "GET https://h/a?page=0");
    }

    #[test]
    fn every_fact_is_shown() {
        let error = HttpError::new(ErrorKind::OtherStatus(503), "down for an hour")
            .about("GET https://h/v1/events")
            .status_is(StatusCode::SERVICE_UNAVAILABLE, Some("abc-1"))
            .tried(5);
        insta::assert_snapshot!(error, @"GET https://h/v1/events: 503 Service Unavailable (request id abc-1, 5 tries): down for an hour");
        insta::assert_snapshot!(error.hint().unwrap(), @"the platform has a problem: try again later");
    }

    #[test]
    fn secret_that_server_repeats_is_hidden() {
        let error = HttpError::new(ErrorKind::Unauthorized, "bad token s3cret")
            .status_is(StatusCode::UNAUTHORIZED, Some("s3cret"))
            .without_secret(Some(&SecretString::from("s3cret")));
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }
}
