//! Checks of an address before a token is sent there: the proxy on the way, the DNS lookup of its name, whether it
//! responds, and the server's clock.

use super::observer::Observer;
use super::proxies::Proxies;
use super::retry::Delays;
use super::transport::{Limits, Transport};
use super::{BaseUrl, HttpError, Request};
use reqwest::header::{AGE, DATE, HeaderMap};
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The response to a request without a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    pub status: u16,
    /// Seconds by which the local clock is ahead of the server's; `None` if the response has no usable date.
    pub clock_ahead: Option<i64>,
}

/// Returns the proxy for requests to this address, without its credentials, found in the same way as by the client.
pub fn proxy_for(base_url: &BaseUrl) -> Option<String> {
    if base_url.is_on_this_machine() {
        return None;
    }
    Proxies::OfEnvironment.address_for(&base_url.root())
}

/// Returns the addresses of a host name as the local resolver reports them.
pub async fn look_up(host: &str, limit: Duration) -> io::Result<Vec<IpAddr>> {
    let asked = tokio::time::timeout(limit, tokio::net::lookup_host((host, 0)));
    let found = asked
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    Ok(found.map(|address| address.ip()).collect())
}

/// Sends one request without a token. Every response is a success here, also a rejection.
pub async fn greet(
    base_url: &BaseUrl,
    ca_cert: Option<&Path>,
    limit: Duration,
    observer: Observer,
) -> Result<Greeting, HttpError> {
    let limits = Limits {
        timeout: limit,
        retries: 0,
        delays: Delays::default(),
        observer,
    };
    let transport = Transport::new(limits, ca_cert, Proxies::on_the_way_to(base_url.url()))?;
    let request = Request::get(base_url.join(&["projects"])?);
    let asked = SystemTime::now();
    let (status, headers) = transport.first_answer(&request).await?;
    let midway = asked + asked.elapsed().unwrap_or_default() / 2;
    Ok(Greeting {
        status,
        clock_ahead: date(&headers).map(|there| seconds_ahead(midway, there)),
    })
}

/// Returns the server's time, or `None` for a cached response, whose date is old.
fn date(headers: &HeaderMap) -> Option<SystemTime> {
    if headers.contains_key(AGE) {
        return None;
    }
    httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()
}

fn seconds_ahead(here: SystemTime, there: SystemTime) -> i64 {
    let seconds = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    match here.duration_since(there) {
        Ok(ahead) => seconds(ahead),
        Err(behind) => -seconds(behind.duration()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    #[test]
    fn cached_answer_tells_no_time() {
        let mut headers = HeaderMap::new();
        assert_eq!(date(&headers), None);
        headers.insert(DATE, HeaderValue::from_static("Fri, 20 Nov 2026 09:30:00 GMT"));
        let there = date(&headers).unwrap();
        assert_eq!(seconds_ahead(there + Duration::from_secs(90), there), 90);
        assert_eq!(seconds_ahead(there, there + Duration::from_secs(90)), -90);
        headers.insert(AGE, HeaderValue::from_static("4"));
        assert_eq!(date(&headers), None);
    }
}
