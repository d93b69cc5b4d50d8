//! Checks of an address before a token is sent there: the proxy on the way, the DNS lookup of its name, whether it
//! responds, and the server's clock.

use super::client_certificate::ClientCertificate;
use super::observer::Observer;
use super::proxies::Proxies;
use super::response::find_server_time;
use super::retry::Delays;
use super::tls::CaFile;
use super::transport::{Limits, Transport};
use super::{BaseUrl, HttpError, Request};
use std::io;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

/// The response to a request without a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnauthenticatedResponse {
    pub status: u16,
    /// Seconds by which the local clock is ahead of the server's; `None` if the response has no usable date.
    pub clock_ahead: Option<i64>,
}

/// Returns the proxy that the client uses for requests to this address, without its credentials; `None` for the local
/// machine.
pub fn find_proxy(base_url: &BaseUrl) -> Option<String> {
    Proxies::Environment.find_address(&base_url.api_root())
}

/// Returns the addresses of a host name as the local resolver reports them. Fails after `timeout`.
pub async fn resolve_host(host: &str, timeout: Duration) -> io::Result<Vec<IpAddr>> {
    // The lookup requires a port, but does not use it.
    let unused_port: u16 = 0;
    let addresses = tokio::time::timeout(timeout, tokio::net::lookup_host((host, unused_port)))
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    Ok(addresses.map(|address| address.ip()).collect())
}

/// Sends one request without a token and without retries, to learn whether the server responds and how its clock
/// differs from the local one. Any response is a success, even a rejection.
pub async fn send_without_token(
    base_url: &BaseUrl,
    ca_cert: Option<&CaFile>,
    client_certificate: Option<&ClientCertificate>,
    timeout: Duration,
    observer: Observer,
) -> Result<UnauthenticatedResponse, HttpError> {
    let limits = Limits {
        timeout,
        retries: 0,
        delays: Delays::default(),
        observer,
    };
    let transport = Transport::new(limits, ca_cert, client_certificate, Proxies::Environment)?;
    let request = Request::get(base_url.resource_url(&["projects"])?);
    let request_time = SystemTime::now();
    let (status, headers) = transport.send_once(&request).await?;
    // The server's date is about that of the middle of the exchange.
    let local_time = request_time + request_time.elapsed().unwrap_or_default() / 2;
    Ok(UnauthenticatedResponse {
        status,
        clock_ahead: find_server_time(&headers).map(|server_time| seconds_ahead(local_time, server_time)),
    })
}

/// Returns by how many seconds the local clock is ahead of the server's; negative if it is behind.
fn seconds_ahead(local_time: SystemTime, server_time: SystemTime) -> i64 {
    let whole_seconds = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    match local_time.duration_since(server_time) {
        Ok(lead) => whole_seconds(lead),
        Err(error) => -whole_seconds(error.duration()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{AGE, DATE, HeaderMap, HeaderValue};

    #[test]
    fn cached_answer_has_no_server_time() {
        let mut headers = HeaderMap::new();
        assert_eq!(find_server_time(&headers), None);
        headers.insert(DATE, HeaderValue::from_static("Fri, 20 Nov 2026 09:30:00 GMT"));
        let there = find_server_time(&headers).unwrap();
        assert_eq!(seconds_ahead(there + Duration::from_secs(90), there), 90);
        assert_eq!(seconds_ahead(there, there + Duration::from_secs(90)), -90);
        headers.insert(AGE, HeaderValue::from_static("4"));
        assert_eq!(find_server_time(&headers), None);
    }
}
