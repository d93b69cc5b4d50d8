//! The client: combines the base URL, the token and the transport.

use super::client_certificate::ClientCertificate;
use super::observer::Observer;
use super::proxies::Proxies;
use super::retry::Delays;
use super::tls::CaFile;
use super::token::TokenCache;
use super::transport::{Limits, Transport};
use super::{BaseUrl, ErrorKind, HttpError, Request, Response, TokenSource};
use reqwest::Url;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Settings {
    pub base_url: BaseUrl,
    pub token: TokenSource,
    /// Timeout for a request and its response; for an upload, the maximum time without progress.
    pub timeout: Duration,
    /// Maximum number of retries.
    pub retries: u32,
    /// Root certificates that are trusted in addition to those of the machine.
    pub ca_cert: Option<CaFile>,
    /// The certificate that the client presents if a server requests one.
    pub client_certificate: Option<ClientCertificate>,
    /// Receives messages about waits and retries.
    pub observer: Observer,
}

/// Sends requests to the platform. Clones share connections and the token.
#[derive(Clone)]
pub struct Client(Arc<ClientParts>);

struct ClientParts {
    base_url: BaseUrl,
    tokens: TokenCache,
    transport: Transport,
}

impl Client {
    /// Creates a client with the default delays between retries. It does not send anything before the first call.
    pub fn new(settings: Settings) -> Result<Self, HttpError> {
        Self::with_delays(settings, Delays::default())
    }

    pub(crate) fn observer(&self) -> &Observer {
        &self.0.transport.observer
    }

    /// Creates a client with other delays between retries.
    pub fn with_delays(settings: Settings, delays: Delays) -> Result<Self, HttpError> {
        let Settings {
            base_url,
            token,
            timeout,
            retries,
            ca_cert,
            client_certificate,
            observer,
        } = settings;
        let limits = Limits {
            timeout,
            retries,
            delays,
            observer,
        };
        let transport = Transport::new(
            limits,
            ca_cert.as_ref(),
            client_certificate.as_ref(),
            Proxies::Environment,
        )?;
        Ok(Self(Arc::new(ClientParts {
            base_url,
            tokens: TokenCache::new(token),
            transport,
        })))
    }

    /// Returns the URL of a resource from its path segments below `/v1`. Fails if a name cannot be a path segment.
    pub(crate) fn url(&self, path: &[&str]) -> Result<Url, HttpError> {
        self.0.base_url.resource_url(path)
    }

    /// Sends a request with the token. After a 401, requests a new token if its source can return another one, and
    /// repeats the request, because a request that got a 401 was not processed.
    pub(crate) async fn send(&self, request: &Request) -> Result<Response, HttpError> {
        // Boxed because every caller that awaits a response would otherwise contain this large future.
        Box::pin(self.send_with_token(request)).await
    }

    /// Sends the request with the current token. If the platform rejects the token, sends the request once more with a
    /// new token, if there is one. Fails if the response has another status than the request expects.
    async fn send_with_token(&self, request: &Request) -> Result<Response, HttpError> {
        let ClientParts {
            tokens, transport, ..
        } = &*self.0;
        let token = tokens.current_token(transport).await?;
        let error = match transport.send(request, Some(&token)).await {
            Err(error) if error.kind() == ErrorKind::Unauthorized && !request.is_canceled() => error,
            result => return result?.require_success(request.success),
        };
        match tokens.replace_refused_token(&token, transport).await {
            None => Err(error),
            Some(token) => transport
                .send(request, Some(&token?))
                .await?
                .require_success(request.success),
        }
    }
}
