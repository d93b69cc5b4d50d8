//! The clients that send the requests.

use super::HttpError;
use super::proxies::Proxies;
use reqwest::redirect::Policy;
use rustls::ClientConfig;
use sluicegate_base::address::user_agent;
use std::time::Duration;

/// A client for uploads and one for all other requests.
pub(super) struct ClientPair {
    pub(super) calls: reqwest::Client,
    pub(super) uploads: reqwest::Client,
}

impl ClientPair {
    /// Creates both clients. Without `proxies`, they send all requests directly.
    pub(super) fn new(
        tls: &ClientConfig,
        connect_timeout: Duration,
        proxies: Option<&Proxies>,
    ) -> Result<Self, HttpError> {
        Ok(Self {
            calls: build_client(configure_client(tls, connect_timeout, proxies))?,
            // A connection is used for one upload only: a connection that the server has just closed would break it.
            uploads: build_client(configure_client(tls, connect_timeout, proxies).pool_max_idle_per_host(0))?,
        })
    }
}

/// Configures a client that neither follows redirects nor retries requests by itself, because this program does both.
/// Without `proxies`, it sends all requests directly.
fn configure_client(
    tls: &ClientConfig,
    connect_timeout: Duration,
    proxies: Option<&Proxies>,
) -> reqwest::ClientBuilder {
    let builder = reqwest::Client::builder()
        .user_agent(user_agent())
        .redirect(Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        .connect_timeout(connect_timeout)
        .tls_backend_preconfigured(tls.clone());
    match proxies {
        Some(proxies) => proxies.configure(builder),
        None => builder.no_proxy(),
    }
}

fn build_client(builder: reqwest::ClientBuilder) -> Result<reqwest::Client, HttpError> {
    builder
        .build()
        .map_err(|error| HttpError::configuration(format!("could not build the HTTP client: {error}")))
}
