//! The client: the base URL, the token and the transport together.

use super::observer::Observer;
use super::proxies::Proxies;
use super::retry::Delays;
use super::token::Tokens;
use super::transport::{Limits, Transport};
use super::{BaseUrl, ErrorKind, HttpError, Request, Response, TokenSource};
use reqwest::Url;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Settings {
    pub base_url: BaseUrl,
    pub token: TokenSource,
    /// The limit of one request and its answer; of an upload, the longest time without progress.
    pub timeout: Duration,
    /// Tries after the first.
    pub retries: u32,
    /// A PEM file with root certificates that are trusted besides those of the machine.
    pub ca_cert: Option<PathBuf>,
    /// Who is told of waits and retries.
    pub observer: Observer,
}

/// Sends requests to the platform. A clone shares connections and token.
#[derive(Clone)]
pub struct Client(Arc<ClientParts>);

struct ClientParts {
    base_url: BaseUrl,
    tokens: Tokens,
    transport: Transport,
}

impl Client {
    /// A client with the usual waits between tries. Nothing is sent, and no token is fetched, before the first call.
    pub fn new(settings: Settings) -> Result<Self, HttpError> {
        Self::with_delays(settings, Delays::default())
    }

    pub fn observer(&self) -> &Observer {
        &self.0.transport.observer
    }

    /// A client with other waits between tries.
    pub fn with_delays(settings: Settings, delays: Delays) -> Result<Self, HttpError> {
        let Settings {
            base_url,
            token,
            timeout,
            retries,
            ca_cert,
            observer,
        } = settings;
        let limits = Limits {
            timeout,
            retries,
            delays,
            observer,
        };
        let proxies = Proxies::on_the_way_to(base_url.url());
        let transport = Transport::new(limits, ca_cert.as_deref(), &proxies)?;
        Ok(Self(Arc::new(ClientParts {
            base_url,
            tokens: Tokens::new(token),
            transport,
        })))
    }

    /// The URL of a resource, by its path segments below `/v1`; a name that no path can hold is refused.
    pub fn url(&self, path: &[&str]) -> Result<Url, HttpError> {
        self.0.base_url.join(path)
    }

    /// Sends a request with the token. After a 401 the token is fetched once more, where its source can give
    /// another, and the request is sent again: a 401 was surely not processed.
    pub async fn send(&self, request: &Request) -> Result<Response, HttpError> {
        // In a box, as everything that waits for an answer would hold it.
        Box::pin(self.send_with_token(request)).await
    }

    async fn send_with_token(&self, request: &Request) -> Result<Response, HttpError> {
        let ClientParts {
            tokens, transport, ..
        } = &*self.0;
        let token = tokens.current(transport).await?;
        let error = match transport.send(request, Some(&token)).await {
            Err(error) if error.kind() == ErrorKind::Unauthorized => error,
            other => return other?.shown_as(request.success),
        };
        match tokens.after_refusal(&token, transport).await {
            None => Err(error),
            Some(token) => transport
                .send(request, Some(&token?))
                .await?
                .shown_as(request.success),
        }
    }
}
