//! A client for the API of a CI host: another origin than the platform's, with its own token or no token.

use super::observer::Observer;
use super::path_segments::{append_segments, reject_invalid_segments};
use super::proxies::Proxies;
use super::retry::Delays;
use super::tls::CaFile;
use super::token_value::Token;
use super::transport::{Limits, Transport};
use super::{HttpError, Request, Response};
use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};
use std::time::Duration;

/// Settings for the connection to a host's API.
#[derive(Debug, Clone)]
pub struct HostSettings {
    /// Address of the API, with its path.
    pub root: Url,
    /// Bearer token; `None` if the host does not require a token.
    pub token: Option<SecretString>,
    /// Proxy for this host, instead of those of the environment.
    pub proxy: Option<Url>,
    /// Timeout for a request and its response.
    pub timeout: Duration,
    /// Maximum number of retries.
    pub retries: u32,
    /// Root certificates that are trusted in addition to those of the machine.
    pub ca_cert: Option<CaFile>,
    /// Receives messages about waits and retries.
    pub observer: Observer,
}

/// Returns the setting that sends all requests through this proxy.
fn build_fixed_proxy(url: &Url) -> Result<Proxies, HttpError> {
    let proxy = reqwest::Proxy::all(url.clone())
        .map_err(|error| HttpError::configuration(format!("the proxy cannot be used: {error}")))?;
    Ok(Proxies::Fixed {
        proxy: Box::new(proxy),
        url: url.clone(),
    })
}

pub struct HostClient {
    root: Url,
    token: Option<Token>,
    transport: Transport,
}

impl HostClient {
    /// Creates a client for the API of a code host. It does not send a request yet.
    pub fn new(settings: &HostSettings) -> Result<Self, HttpError> {
        let token = settings
            .token
            .as_ref()
            .map(|secret| {
                let expires_at = None;
                Token::new(secret.expose_secret(), expires_at, "the variables of the CI host")
            })
            .transpose()?;
        let limits = Limits {
            timeout: settings.timeout,
            retries: settings.retries,
            delays: Delays::default(),
            observer: settings.observer.clone(),
        };
        let proxies = match &settings.proxy {
            Some(proxy) => build_fixed_proxy(proxy)?,
            None => Proxies::Environment,
        };
        let client_certificate = None;
        let transport = Transport::new(limits, settings.ca_cert.as_ref(), client_certificate, proxies)?;
        Ok(Self {
            root: settings.root.clone(),
            token,
            transport,
        })
    }

    /// Returns the URL of a resource from its path segments below the root. Fails if a name cannot be a path segment.
    pub fn url(&self, path: &[&str]) -> Result<Url, HttpError> {
        reject_invalid_segments(path)?;
        Ok(append_segments(&self.root, path))
    }

    /// Sends a request, with the token if there is one.
    pub async fn send(&self, request: &Request) -> Result<Response, HttpError> {
        self.transport.send(request, self.token.as_ref()).await
    }
}
