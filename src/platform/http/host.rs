//! A client of a CI host's own API: another origin than the platform's, with a token of its own or none.

use super::bearer::Token;
use super::observer::Observer;
use super::proxies::Proxies;
use super::retry::Delays;
use super::segment::{below, check};
use super::transport::{Limits, Transport};
use super::{HttpError, Request, Response};
use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};
use std::path::PathBuf;
use std::time::Duration;

/// How a host's API is reached.
#[derive(Debug, Clone)]
pub struct HostSettings {
    /// Where it is, with its path.
    pub root: Url,
    /// The bearer token; none where the host needs none.
    pub token: Option<SecretString>,
    /// A proxy of the host, instead of those of the environment.
    pub proxy: Option<Url>,
    /// The limit of one request and its answer.
    pub timeout: Duration,
    /// Tries after the first.
    pub retries: u32,
    /// A PEM file with root certificates that are trusted besides those of the machine.
    pub ca_cert: Option<PathBuf>,
    /// Who is told of waits and retries.
    pub observer: Observer,
}

fn only(proxy: &Url) -> Result<Proxies, HttpError> {
    let proxy = reqwest::Proxy::all(proxy.clone());
    let wrong = |why| HttpError::configuration(format!("the proxy cannot be used: {why}"));
    Ok(Proxies::Only(Box::new(proxy.map_err(wrong)?)))
}

pub struct HostClient {
    root: Url,
    token: Option<Token>,
    transport: Transport,
}

impl HostClient {
    /// A client; nothing is sent before the first call.
    pub fn new(settings: &HostSettings) -> Result<Self, HttpError> {
        let token = settings.token.as_ref();
        let token = token
            .map(|token| Token::new(token.expose_secret(), None, "the variables of the CI host"))
            .transpose()?;
        let limits = Limits {
            timeout: settings.timeout,
            retries: settings.retries,
            delays: Delays::default(),
            observer: settings.observer.clone(),
        };
        let proxies = match &settings.proxy {
            Some(proxy) => only(proxy)?,
            None => Proxies::on_the_way_to(&settings.root),
        };
        let transport = Transport::new(limits, settings.ca_cert.as_deref(), &proxies)?;
        Ok(Self {
            root: settings.root.clone(),
            token,
            transport,
        })
    }

    /// The URL of a resource, by its path segments below the root; a name that no path can hold is refused.
    pub fn url(&self, path: &[&str]) -> Result<Url, HttpError> {
        check(path)?;
        Ok(below(&self.root, path))
    }

    /// Sends a request, with the token if there is one.
    pub async fn send(&self, request: &Request) -> Result<Response, HttpError> {
        self.transport.send(request, self.token.as_ref()).await
    }
}
