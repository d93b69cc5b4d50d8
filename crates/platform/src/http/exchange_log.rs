//! Logs each request at the level that `-vv` shows: method, URL, proxy, status, time and request id.

use super::error::status_line;
use super::request::Request;
use super::request_subject::format_subject;
use super::response::find_request_id;
use super::server_text::truncate_request_id;
use super::token_value::Token;
use reqwest::Url;
use secrecy::SecretString;
use sluicegate_base::redaction::redact;
use std::time::Instant;

/// A request whose response has not arrived yet. If this value is dropped before, for example because of a timeout, the
/// log says that no response arrived.
pub(super) struct ExchangeLog<'r> {
    subject: String,
    /// The secrets of the request, which a server may repeat in a redirect or in the request id.
    secrets: [Option<&'r SecretString>; 2],
    start: Instant,
    is_answered: bool,
}

impl<'r> ExchangeLog<'r> {
    /// Starts to measure a request to this URL, which may be the target of a redirect. Returns `None` if the log does
    /// not show requests.
    pub(super) fn for_exchange(
        request: &'r Request,
        url: &Url,
        token: Option<&'r Token>,
        find_proxy: impl FnOnce() -> Option<String>,
    ) -> Option<Self> {
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return None;
        }
        let subject = if *url == request.url {
            request.subject()
        } else {
            // The server chose the target of a redirect, so its query may contain anything.
            let shows_query = false;
            format_subject(&request.method, url, shows_query)
        };
        let proxy = find_proxy().map(|address| format!(" (proxy {address})"));
        Some(Self {
            subject: subject + &proxy.unwrap_or_default(),
            secrets: [token.map(|token| &token.secret), request.secret.as_ref()],
            start: Instant::now(),
            is_answered: false,
        })
    }

    /// Logs the response, whose body may still have to be read.
    pub(super) fn log_response(mut self, response: &reqwest::Response) {
        self.is_answered = true;
        let request_id = find_request_id(response.headers())
            .map(|id| format!(" (request id {})", truncate_request_id(id)))
            .unwrap_or_default();
        self.log(&status_line(response.status()), &request_id);
    }

    fn log(&self, outcome: &str, details: &str) {
        let milliseconds = self.start.elapsed().as_millis();
        let line = format!("{}: {outcome} after {milliseconds} ms{details}", self.subject);
        let secrets = self.secrets.into_iter().flatten();
        let line = secrets.fold(line, |line, secret| redact(&line, secret));
        tracing::debug!("{line}");
    }
}

impl Drop for ExchangeLog<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.log("no response", "");
        }
    }
}
