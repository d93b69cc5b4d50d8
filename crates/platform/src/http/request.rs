//! A request as data, from which each try is built.

use super::ErrorKind;
use super::error::HttpError;
use super::request_subject::format_subject;
use super::retry::Repeat;
use super::success::Success;
use super::upload::UploadBody;
use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use secrecy::SecretString;
use std::sync::Arc;

/// The body of a request.
pub(super) enum Body {
    Empty,
    Complete(Bytes),
    Upload(Arc<dyn UploadBody>),
}

/// A request that can be sent several times.
pub struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Body,
    pub(super) repeat: Repeat,
    pub(super) success: Success,
    pub(super) is_read_only: bool,
    /// True if retries of the request are logged, but not reported to the user.
    pub(super) is_probe: bool,
    pub(super) timeout_retries: u32,
    pub(super) secret: Option<SecretString>,
    show_query: bool,
}

impl Request {
    /// Creates a request without a body. Errors show its URL with the query, so the URL must not contain a secret.
    pub fn new(method: Method, url: Url, repeat: Repeat) -> Self {
        Self {
            is_read_only: method == Method::GET,
            is_probe: false,
            method,
            url,
            headers: HeaderMap::new(),
            body: Body::Empty,
            repeat,
            success: Success::default(),
            timeout_retries: u32::MAX,
            secret: None,
            show_query: true,
        }
    }

    /// Creates a GET request, which may be repeated.
    pub fn get(url: Url) -> Self {
        Self::new(Method::GET, url, Repeat::Safe)
    }

    /// Marks the request as one that changes nothing on the server, whatever its method is.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Marks the request as a probe: it only shows whether the server responds, so its retries are not reported.
    #[must_use]
    pub fn probe(mut self) -> Self {
        self.is_probe = true;
        self
    }

    /// Sets which response is a success, instead of one with a JSON body.
    #[must_use]
    pub(crate) fn with_success(mut self, success: Success) -> Self {
        self.success = success;
        self
    }

    /// Adds a parameter to the query of the URL.
    #[must_use]
    pub fn query(mut self, name: &str, value: &str) -> Self {
        self.url.query_pairs_mut().append_pair(name, value);
        self
    }

    #[must_use]
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sets a JSON body and its content type.
    #[must_use]
    pub fn json(self, value: &serde_json::Value) -> Self {
        self.with_body("application/json", value.to_string())
    }

    /// Sets a secret that the body contains. It is removed from everything that the server responds.
    #[must_use]
    pub(crate) fn with_secret(mut self, secret: SecretString) -> Self {
        self.secret = Some(secret);
        self
    }

    /// Limits the retries after timeouts, for a request whose repetition would probably time out again.
    #[must_use]
    pub(crate) fn with_timeout_retries(mut self, max_retries: u32) -> Self {
        self.timeout_retries = max_retries;
        self
    }

    /// Sets a body that is streamed. It is opened again for each attempt.
    #[must_use]
    pub(crate) fn with_upload_body(mut self, body: Arc<dyn UploadBody>) -> Self {
        self.headers.insert(CONTENT_TYPE, body.content_type());
        self.body = Body::Upload(body);
        self
    }

    /// Sets a body with these fields, encoded as an HTML form.
    #[must_use]
    pub(super) fn with_form(self, fields: &[(&str, &str)]) -> Self {
        let form = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        self.with_body("application/x-www-form-urlencoded", form)
    }

    /// Hides the query in errors, because this program did not build the URL and the query may contain a secret.
    #[must_use]
    pub(super) fn without_query_in_errors(mut self) -> Self {
        self.show_query = false;
        self
    }

    /// Sets the body and its content type.
    fn with_body(mut self, content_type: &'static str, text: String) -> Self {
        self.headers
            .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        self.body = Body::Complete(text.into());
        self
    }

    /// Returns whether the request may be sent again after this error.
    pub(super) fn allows_retry(&self, error: &HttpError) -> bool {
        self.repeat.allows(error.retry_rule()) && !self.is_canceled()
    }

    /// Returns whether the request must not be sent again, although its failure allows it: only an upload can be
    /// canceled.
    pub(super) fn is_canceled(&self) -> bool {
        matches!(&self.body, Body::Upload(body) if body.is_canceled())
    }

    /// Adds the request's subject to its error. The error of a read-only request says that nothing changed and that no
    /// name is taken.
    pub(super) fn complete_error(&self, error: HttpError) -> HttpError {
        let mut error = error.with_subject(&self.subject());
        if self.is_read_only {
            error = error.without_effect().without_conflict();
        }
        // A request without a body has no fields, only the values in its URL.
        let is_about_url = matches!(self.body, Body::Empty) && error.kind() == ErrorKind::BadRequest;
        if is_about_url && error.violations().is_empty() && !error.has_specific_hint() {
            return error.with_hint("check the base URL and the values in the request URL");
        }
        error
    }

    /// Returns the method and the URL of the request, for errors and messages.
    pub(super) fn subject(&self) -> String {
        format_subject(&self.method, &self.url, self.show_query)
    }
}
