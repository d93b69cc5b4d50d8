//! Sends requests: tries, timeouts, redirects, and responses that are read within their limits.

use super::bearer::Token;
use super::error::{Brief, HttpError, RetryRule};
use super::failure::{self, TunnelProblem};
use super::hint::is_for_hint;
use super::observer::Observer;
use super::proxies::Proxies;
use super::request::{Body, Request};
use super::response::{ERROR_LIMIT, Response, ResponseHead};
use super::retry::Delays;
use super::upload::Monitor;
use super::{ErrorKind, observer, redirect, tls};
use bytes::{Bytes, BytesMut};
use reqwest::Url;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use sluicegate_base::address::user_agent;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::timeout;

/// Timeout for establishing a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Maximum pause within a response.
const STALL: Duration = Duration::from_secs(30);

/// Maximum size of a response, in bytes, after decompression.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;

/// Maximum timeout; a longer one is reduced to it, so that the clock does not overflow.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

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
    calls: reqwest::Client,
    uploads: reqwest::Client,
    proxies: Proxies,
    /// File with the root certificates that are trusted in addition to those of the machine.
    ca_cert: Option<PathBuf>,
    pub(super) timeout: Duration,
    retries: u32,
    delays: Delays,
    pub(super) observer: Observer,
}

impl Transport {
    pub(super) fn new(limits: Limits, ca_cert: Option<&Path>, proxies: Proxies) -> Result<Self, HttpError> {
        let tls = tls::client_config(ca_cert)?;
        let limit = limits.timeout.min(LONGEST);
        // A little less than the total timeout, so that an unreachable host can be distinguished from a slow one.
        let connect = CONNECT.min(limit.mul_f32(0.9));
        let builder = || {
            let builder = reqwest::Client::builder();
            let builder = match &proxies {
                Proxies::OfEnvironment => builder,
                Proxies::None => builder.no_proxy(),
                Proxies::Only { proxy, .. } => builder.proxy(reqwest::Proxy::clone(proxy)),
            };
            builder
                .user_agent(user_agent())
                .redirect(Policy::none())
                .referer(false)
                .retry(reqwest::retry::never())
                .connect_timeout(connect)
                .tls_backend_preconfigured(tls.clone())
        };
        let built = |builder: reqwest::ClientBuilder| {
            builder
                .build()
                .map_err(|why| HttpError::configuration(format!("could not build the HTTP client: {why}")))
        };
        Ok(Self {
            calls: built(builder())?,
            // A connection is used for one upload only: a connection that the server has just closed would break it.
            uploads: built(builder().pool_max_idle_per_host(0))?,
            proxies,
            ca_cert: ca_cert.map(Path::to_owned),
            timeout: limit,
            retries: limits.retries,
            delays: limits.delays,
            observer: limits.observer,
        })
    }

    /// Sends a request until it gets a 2xx response or must not be repeated.
    pub(super) async fn send(&self, request: &Request, token: Option<&Token>) -> Result<Response, HttpError> {
        let mut timeouts = 0;
        let mut tries = 0;
        loop {
            tries += 1;
            let error = match self.attempt(request, token).await {
                Ok(response) => return Ok(response),
                Err(error) => error
                    .without_secret(token.map(|it| &it.secret))
                    .without_secret(request.secret.as_ref())
                    .tried(tries),
            };
            timeouts += u32::from(error.kind() == ErrorKind::Timeout);
            let worth_it = request.repeat.allows(error.retry_rule()) && timeouts <= request.timeout_retries;
            if tries > self.retries || !worth_it || is_for_hint() {
                return Err(error);
            }
            if error
                .requested_delay()
                .is_some_and(|asked| asked > self.delays.max_asked)
            {
                return Err(error.too_long(self.delays.max_asked));
            }
            let wait = self.delays.before(tries - 1, error.requested_delay());
            self.observer.say(&format!(
                "{}; starting try {} of {} in {:.1} s",
                Brief(&error),
                tries + 1,
                self.retries + 1,
                wait.as_secs_f64()
            ));
            tokio::time::sleep(wait).await;
        }
    }

    /// Returns status and headers of the first response to a request without a token, whatever the status is.
    pub(super) async fn first_answer(&self, request: &Request) -> Result<(u16, HeaderMap), HttpError> {
        let exchange = timeout(self.timeout, self.exchange(request, &request.url, None, None));
        let answer = self
            .observer
            .waiting(exchange, || self.waiting_for(request))
            .await
            .unwrap_or_else(|_| Err(self.no_answer()))
            .map_err(|error| error.about(&request.subject()))?;
        Ok((answer.status().as_u16(), answer.headers().clone()))
    }

    async fn attempt(&self, request: &Request, token: Option<&Token>) -> Result<Response, HttpError> {
        let waiting = || self.waiting_for(request);
        let outcome = if let Body::Upload(body) = &request.body {
            let monitor = Monitor::new(std::sync::Arc::clone(body));
            let exchange = monitor.watch(self.timeout, self.follow(request, token, Some(&monitor)));
            let still = monitor.stalled(observer::SILENCE);
            self.observer.during(exchange, still, waiting).await
        } else {
            let exchange = timeout(self.timeout, self.follow(request, token, None));
            let answered = self.observer.waiting(exchange, waiting).await;
            answered.unwrap_or_else(|_| Err(self.no_answer()))
        };
        let outcome = outcome.map_err(|error| error.about(&request.subject()));
        outcome.map_err(|error| {
            if request.reads {
                error.without_effect()
            } else {
                error
            }
        })
    }

    /// Runs one exchange, and those for redirects within the origin.
    async fn follow(
        &self,
        request: &Request,
        token: Option<&Token>,
        monitor: Option<&Monitor>,
    ) -> Result<Response, HttpError> {
        let mut url = request.url.clone();
        for hop in 0..=redirect::MOST {
            // The request to the first address may have had its effect there.
            let known = |error: HttpError| match hop {
                0 => error,
                _ => error.maybe_processed(),
            };
            let answer = self
                .exchange(request, &url, token, monitor)
                .await
                .map_err(known)?;
            if token.is_some() && !answer.status().is_server_error() {
                self.observer.record_response();
            }
            let head = ResponseHead {
                subject: request.subject(),
                reads: request.reads,
                status: answer.status(),
                headers: answer.headers().clone(),
            };
            match redirect::next(&head, &request.method, &url).map_err(known)? {
                Some(target) => url = target,
                None => {
                    return self
                        .read(head, answer, (request, token), monitor)
                        .await
                        .map_err(known);
                }
            }
        }
        Err(HttpError::new(
            ErrorKind::BadAnswer,
            format!("more than {} redirects", redirect::MOST),
        ))
    }

    async fn exchange(
        &self,
        request: &Request,
        url: &Url,
        token: Option<&Token>,
        monitor: Option<&Monitor>,
    ) -> Result<reqwest::Response, HttpError> {
        let client = if monitor.is_some() {
            &self.uploads
        } else {
            &self.calls
        };
        let mut builder = client
            .request(request.method.clone(), url.clone())
            .headers(request.headers.clone())
            .header(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(token) = token {
            builder = builder.header(AUTHORIZATION, token.header.clone());
        }
        builder = match (&request.body, monitor) {
            (Body::Whole(bytes), _) => builder.body(bytes.clone()),
            (Body::Upload(body), Some(monitor)) => builder
                .header(CONTENT_LENGTH, body.length())
                .body(monitor.start()),
            _ => builder,
        };
        match builder.send().await {
            Ok(response) => Ok(response),
            Err(error) => Err(self.explain(error, url).await),
        }
    }

    /// Returns the failure of a request without a response, with the proxy or the file of certificates behind it.
    async fn explain(&self, error: reqwest::Error, url: &Url) -> HttpError {
        if error.is_connect()
            && let Some(address) = self.proxies.address_for(url)
            && let Some(problem) = TunnelProblem::find(&error, url)
        {
            let status = match problem {
                TunnelProblem::Refused => self.proxies.tunnel_status(url).await,
                _ => None,
            };
            return failure::at_proxy(problem, &address, url, status);
        }
        failure::before_answer(error, self.ca_cert.as_deref())
    }

    async fn read(
        &self,
        head: ResponseHead,
        answer: reqwest::Response,
        (request, token): (&Request, Option<&Token>),
        monitor: Option<&Monitor>,
    ) -> Result<Response, HttpError> {
        if !head.status.is_success() {
            // The status is enough, even if the rest of the response is lost.
            let (body, _) = self.body(answer, ERROR_LIMIT).await;
            return Err(head.refusal(&body));
        }
        if let Some(why) = monitor.and_then(Monitor::incomplete) {
            return Err(head.failure(ErrorKind::BadAnswer, why));
        }
        match self.body(answer, ANSWER_LIMIT).await {
            (body, None) => Ok(Response {
                head,
                body,
                sent_secrets: token
                    .map(|token| token.secret.clone())
                    .into_iter()
                    .chain(request.secret.clone())
                    .collect(),
            }),
            (_, Some(error)) => Err(head.known(error)),
        }
    }

    /// Reads the body up to a limit, and returns it with the error that ended it early.
    async fn body(&self, mut answer: reqwest::Response, limit: usize) -> (Bytes, Option<HttpError>) {
        let mut body = BytesMut::new();
        loop {
            match timeout(STALL.min(self.timeout), answer.chunk()).await {
                Ok(Ok(Some(chunk))) if body.len() + chunk.len() <= limit => body.extend_from_slice(&chunk),
                Ok(Ok(Some(_))) => {
                    let why = format!("the response cannot be used: it has more than {limit} bytes");
                    return (body.freeze(), Some(HttpError::new(ErrorKind::BadAnswer, why)));
                }
                Ok(Ok(None)) => return (body.freeze(), None),
                Ok(Err(error)) => return (body.freeze(), Some(failure::within_answer(error))),
                Err(_) => return (body.freeze(), Some(self.no_answer())),
            }
        }
    }

    fn waiting_for(&self, request: &Request) -> String {
        let limit = self.timeout.as_secs_f64();
        format!(
            "waiting for the response to {} (timeout {limit} s)",
            request.subject()
        )
    }

    fn no_answer(&self) -> HttpError {
        HttpError::new(
            ErrorKind::Timeout,
            format!("no complete response within {} s", self.timeout.as_secs_f64()),
        )
        .again(RetryRule::IfSafe)
        .maybe_processed()
    }
}
