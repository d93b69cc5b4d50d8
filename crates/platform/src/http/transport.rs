//! Sends requests: tries, timeouts, redirects, and responses that are read within their limits.

use super::client_certificate::ClientCertificate;
use super::client_pair::ClientPair;
use super::error::{HttpError, RetryReason};
use super::exchange_log::ExchangeLog;
use super::failure::{self, TunnelProblem, timeout_error};
use super::hint_request::is_for_hint;
use super::observer::Observer;
use super::proxies::Proxies;
use super::request::{Body, Request};
use super::response::{MAX_ERROR_BODY_SIZE, Response, ResponseHead};
use super::retry::Delays;
use super::tls::CaFile;
use super::token_value::Token;
use super::upload::UploadMonitor;
use super::{ErrorKind, observer, pending_request, redirect, tls};
use bytes::{Bytes, BytesMut};
use reqwest::Url;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, HeaderMap, HeaderValue};
use secrecy::SecretString;
use std::time::Duration;
use tokio::time::timeout;

/// Timeout for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum pause within a response.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum size of a response, in bytes, after decompression.
const MAX_RESPONSE_SIZE: usize = 64 * 1024 * 1024;

/// Maximum timeout. A longer timeout is reduced to this value, so that the clock does not overflow.
const MAX_TIMEOUT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Timeouts, retries, and the observer of waits.
#[derive(Clone)]
pub(super) struct Limits {
    /// Timeout for each request.
    pub(super) timeout: Duration,
    /// Maximum number of retries.
    pub(super) retries: u32,
    pub(super) delays: Delays,
    /// Receives messages about waits and retries.
    pub(super) observer: Observer,
}

/// The connections, and the rules for using them. Contains no token.
pub(super) struct Transport {
    /// For requests through the proxies.
    clients: ClientPair,
    /// For requests to the local machine, which use no proxy of the environment.
    direct_clients: ClientPair,
    proxies: Proxies,
    /// File with the root certificates that are trusted in addition to those of the machine.
    ca_cert: Option<CaFile>,
    pub(super) timeout: Duration,
    retries: u32,
    delays: Delays,
    pub(super) observer: Observer,
}

impl Transport {
    /// Creates the clients. Reads the certificates in `ca_cert` and the client certificate.
    pub(super) fn new(
        limits: Limits,
        ca_cert: Option<&CaFile>,
        client_certificate: Option<&ClientCertificate>,
        proxies: Proxies,
    ) -> Result<Self, HttpError> {
        let tls = tls::build_client_config(ca_cert, client_certificate)?;
        let timeout = limits.timeout.min(MAX_TIMEOUT);
        // A little less than the total timeout, so that an unreachable host can be distinguished from a slow one.
        let connect_timeout = CONNECT_TIMEOUT.min(timeout.mul_f32(0.9));
        Ok(Self {
            clients: ClientPair::new(&tls, connect_timeout, Some(&proxies))?,
            direct_clients: ClientPair::new(&tls, connect_timeout, None)?,
            proxies,
            ca_cert: ca_cert.cloned(),
            timeout,
            retries: limits.retries,
            delays: limits.delays,
            observer: limits.observer,
        })
    }

    /// Sends a request until it gets a 2xx response or must not be retried. Waits before each retry, and fails if the
    /// server requests a longer wait than the limit. A request has a separate limit for retries after a timeout.
    pub(super) async fn send(&self, request: &Request, token: Option<&Token>) -> Result<Response, HttpError> {
        let (mut timeout_count, mut tries) = (0, 0);
        let mut has_maybe_processed_try = false;
        pending_request::record_start(request);
        let _pending_change = (!request.is_read_only).then(|| self.observer.record_change(request.subject()));
        loop {
            tries += 1;
            let error = match self.try_request(request, token).await {
                Ok(response) => return Ok(response),
                Err(error) => error
                    .without_secret(token.map(|token| &token.secret))
                    .without_secret(request.secret.as_ref())
                    .with_tries(tries, has_maybe_processed_try),
            };
            has_maybe_processed_try |= error.is_maybe_processed();
            timeout_count += u32::from(error.kind() == ErrorKind::Timeout);
            let can_retry = request.allows_retry(&error) && timeout_count <= request.timeout_retries;
            // A request that only improves the hint of an error is not retried, so that the error is not late.
            if tries > self.retries || !can_retry || is_for_hint() {
                return Err(error);
            }
            let requested_delay = error.requested_delay();
            if requested_delay.is_some_and(|delay| delay > self.delays.max_requested) {
                return Err(error.with_excessive_delay(self.delays.max_requested));
            }
            let delay = self.delays.delay_before(tries - 1, requested_delay);
            let report = format!(
                "{}; retrying in {:.1} s (attempt {} of {})",
                RetryReason {
                    error: &error,
                    url: &request.url
                },
                delay.as_secs_f64(),
                tries + 1,
                self.retries + 1
            );
            if request.is_probe {
                tracing::info!("{report}");
            } else {
                self.observer.report(&report);
            }
            pending_request::record_failed_try(&error);
            tokio::time::sleep(delay).await;
            if request.is_canceled() {
                return Err(error);
            }
        }
    }

    /// Sends a request without a token, and returns the status and the headers of the response, whatever the status is.
    /// Redirects are not followed.
    pub(super) async fn send_once(&self, request: &Request) -> Result<(u16, HeaderMap), HttpError> {
        let (token, monitor) = (None, None);
        let exchange = timeout(self.timeout, self.send_to(request, &request.url, token, monitor));
        let response = self
            .observer
            .await_with_report(exchange, || self.describe_wait(request))
            .await
            .unwrap_or_else(|_| Err(self.request_timeout_error()))
            .map_err(|error| request.complete_error(error))?;
        Ok((response.status().as_u16(), response.headers().clone()))
    }

    /// Sends the request once. An upload fails if its progress stops, any other request if it exceeds the timeout.
    async fn try_request(&self, request: &Request, token: Option<&Token>) -> Result<Response, HttpError> {
        let describe = || self.describe_wait(request);
        let result = if let Body::Upload(body) = &request.body {
            let monitor = UploadMonitor::new(std::sync::Arc::clone(body));
            let exchange = monitor.await_with_stall_limit(
                self.timeout,
                self.follow_redirects(request, token, Some(&monitor)),
            );
            let silence = monitor.wait_for_stall(observer::SILENCE_LIMIT);
            self.observer
                .await_with_report_after(exchange, silence, describe)
                .await
        } else {
            let monitor = None;
            let exchange = timeout(self.timeout, self.follow_redirects(request, token, monitor));
            self.observer
                .await_with_report(exchange, describe)
                .await
                .unwrap_or_else(|_| Err(self.request_timeout_error()))
        };
        result.map_err(|error| request.complete_error(error))
    }

    /// Sends the request and follows redirects within the same origin. Fails if there are more than
    /// [`redirect::MAX_REDIRECTS`].
    async fn follow_redirects(
        &self,
        request: &Request,
        token: Option<&Token>,
        monitor: Option<&UploadMonitor>,
    ) -> Result<Response, HttpError> {
        let mut url = request.url.clone();
        for redirect_count in 0..=redirect::MAX_REDIRECTS {
            match self.exchange_once(request, &mut url, token, monitor).await {
                Ok(Some(response)) => return Ok(response),
                Ok(None) => {}
                Err(error) if redirect_count == 0 => return Err(error),
                // The request to the first address may have had its effect there.
                Err(error) => return Err(error.mark_maybe_processed()),
            }
        }
        Err(HttpError::new(
            ErrorKind::BadResponse,
            format!("the server sent more than {} redirects", redirect::MAX_REDIRECTS),
        )
        .mark_maybe_processed())
    }

    /// Sends the request to `url` and reads the response. After a redirect, sets `url` to the target and returns
    /// `None`. Fails if the server reports success before the upload is complete.
    async fn exchange_once(
        &self,
        request: &Request,
        url: &mut Url,
        token: Option<&Token>,
        monitor: Option<&UploadMonitor>,
    ) -> Result<Option<Response>, HttpError> {
        let response = self.send_to(request, url, token, monitor).await?;
        // Only such a response shows that the platform is available (`Observer::has_responded`).
        if token.is_some() && !response.status().is_server_error() {
            self.observer.record_response(response.headers());
        }
        let head = ResponseHead {
            subject: request.subject(),
            is_read_only: request.is_read_only,
            status: response.status(),
            headers: response.headers().clone(),
        };
        if let Some(target) = redirect::find_redirect_target(&head, &request.method, url)? {
            *url = target;
            return Ok(None);
        }
        if let Some(reason) = monitor.and_then(UploadMonitor::describe_incomplete_upload)
            && head.status.is_success()
        {
            return Err(head.build_error(ErrorKind::BadResponse, reason));
        }
        let mut sent_secrets: Vec<SecretString> =
            token.map(|token| token.secret.clone()).into_iter().collect();
        sent_secrets.extend(request.secret.clone());
        self.read_response(head, response, sent_secrets).await.map(Some)
    }

    /// Sends the request to this URL, which may be the target of a redirect. The client follows from the URL (with or
    /// without a proxy) and from `monitor`, which every upload has and which opens the body to send.
    async fn send_to(
        &self,
        request: &Request,
        url: &Url,
        token: Option<&Token>,
        monitor: Option<&UploadMonitor>,
    ) -> Result<reqwest::Response, HttpError> {
        let client = match (self.proxies.is_direct(url), monitor) {
            (true, None) => &self.direct_clients.calls,
            (true, Some(_)) => &self.direct_clients.uploads,
            (false, None) => &self.clients.calls,
            (false, Some(_)) => &self.clients.uploads,
        };
        let mut builder = client
            .request(request.method.clone(), url.clone())
            .headers(request.headers.clone())
            .header(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(token) = token {
            builder = builder.header(AUTHORIZATION, token.header.clone());
        }
        builder = match (&request.body, monitor) {
            (Body::Complete(bytes), _) => builder.body(bytes.clone()),
            (Body::Upload(body), Some(monitor)) => builder
                .header(CONTENT_LENGTH, body.length())
                .body(monitor.open_body_stream()),
            _ => builder,
        };
        let log = ExchangeLog::for_exchange(request, url, token, || self.proxies.find_address(url));
        let response = match builder.send().await {
            Ok(response) => response,
            Err(error) => return Err(self.explain_failure(error, url).await),
        };
        if let Some(log) = log {
            log.log_response(&response);
        }
        Ok(response)
    }

    /// Creates the error for a request without a response. The error names the proxy that refused or lost the
    /// connection, or the CA certificate file that does not contain the server's authority. A refusal is requested
    /// once more, because the HTTP library does not report its status.
    async fn explain_failure(&self, error: reqwest::Error, url: &Url) -> HttpError {
        if error.is_connect()
            && let Some(address) = self.proxies.find_address(url)
            && let Some(problem) = TunnelProblem::from_error(&error, url)
        {
            let status = match problem {
                TunnelProblem::Refused => self.proxies.request_tunnel_status(url).await,
                _ => None,
            };
            return failure::proxy_failure(problem, &address, url, status);
        }
        failure::failure_before_response(error, self.ca_cert.as_ref())
    }

    /// Reads the body of a response. For a status that is not a success, returns an error with the message in the body.
    async fn read_response(
        &self,
        head: ResponseHead,
        response: reqwest::Response,
        sent_secrets: Vec<SecretString>,
    ) -> Result<Response, HttpError> {
        if !head.status.is_success() {
            // The status is enough, even if the rest of the response is lost.
            let (body, _) = self.read_body(response, MAX_ERROR_BODY_SIZE).await;
            return Err(head.status_error(&body));
        }
        match self.read_body(response, MAX_RESPONSE_SIZE).await {
            (body, None) => Ok(Response {
                head,
                body,
                sent_secrets,
            }),
            (_, Some(error)) => Err(head.add_context(error)),
        }
    }

    /// Reads the body up to `limit` bytes. Returns what was read, and the error if the body is longer, if the reading
    /// failed, or if no data arrived for [`STALL_TIMEOUT`] or the request's timeout, whichever is shorter.
    async fn read_body(&self, mut response: reqwest::Response, limit: usize) -> (Bytes, Option<HttpError>) {
        let mut body = BytesMut::new();
        let stall_timeout = STALL_TIMEOUT.min(self.timeout);
        loop {
            match timeout(stall_timeout, response.chunk()).await {
                Ok(Ok(Some(chunk))) if body.len() + chunk.len() <= limit => body.extend_from_slice(&chunk),
                Ok(Ok(Some(_))) => {
                    let message = format!("the response cannot be used: it has more than {limit} bytes");
                    return (
                        body.freeze(),
                        Some(HttpError::new(ErrorKind::BadResponse, message)),
                    );
                }
                // The body is complete.
                Ok(Ok(None)) => return (body.freeze(), None),
                Ok(Err(error)) => return (body.freeze(), Some(failure::failure_within_response(error))),
                Err(_) => {
                    let message = format!(
                        "the response is incomplete: no more data arrived within {} s",
                        stall_timeout.as_secs_f64()
                    );
                    return (body.freeze(), Some(timeout_error(message)));
                }
            }
        }
    }

    /// Describes the wait for a response, for the observer.
    fn describe_wait(&self, request: &Request) -> String {
        let limit = self.timeout.as_secs_f64();
        format!(
            "waiting for the response to {} (timeout {limit} s)",
            request.subject()
        )
    }

    /// Creates the error for a response that did not arrive within the request's timeout.
    fn request_timeout_error(&self) -> HttpError {
        let limit = self.timeout.as_secs_f64();
        timeout_error(format!("no complete response arrived within {limit} s"))
    }
}
