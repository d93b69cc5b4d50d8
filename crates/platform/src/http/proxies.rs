//! The proxies that requests go through.

use super::HttpError;
use super::base_url::is_loopback;
use hyper::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use reqwest::{StatusCode, Url};
use sluicegate_base::unexpanded_value::UnexpandedValue;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Time limit for the request that finds out why a proxy opens no tunnel.
const TUNNEL_LIMIT: Duration = Duration::from_secs(5);

/// Maximum size of the beginning of a proxy's response, in bytes; it contains the status.
const STATUS_LINE_LIMIT: u64 = 64;

const VARIABLE_HINT: &str = "write the proxy as http://HOST:PORT or http://USER:PASSWORD@HOST:PORT; write reserved \
     characters of user and password as escapes (`\\` as %5C, `@` as %40, `#` as %23)";

pub(super) enum Proxies {
    OfEnvironment,
    /// No proxy, as a proxy cannot reach the loopback addresses of the local machine.
    None,
    Only {
        proxy: Box<reqwest::Proxy>,
        url: Url,
    },
}

impl Proxies {
    pub(super) fn on_the_way_to(url: &Url) -> Self {
        if is_loopback(url) {
            Self::None
        } else {
            Self::OfEnvironment
        }
    }

    /// Returns the proxy for requests to `url`, without its credentials, found in the same way as by the client.
    pub(super) fn address_for(&self, url: &Url) -> Option<String> {
        match self {
            Self::OfEnvironment => {
                let proxy = intercept(&Matcher::from_system(), url)?;
                address_of(&Url::parse(&proxy.uri().to_string()).ok()?)
            }
            Self::None => None,
            Self::Only { url, .. } => address_of(url),
        }
    }

    /// Requests a tunnel once more, because the HTTP client does not report the status of the proxy's response.
    pub(super) async fn tunnel_status(&self, url: &Url) -> Option<StatusCode> {
        let Self::OfEnvironment = self else { return None };
        let proxy = intercept(&Matcher::from_system(), url)?;
        let status = request_tunnel(&proxy, url.host_str()?, url.port_or_known_default()?);
        tokio::time::timeout(TUNNEL_LIMIT, status).await.ok()?
    }
}

fn intercept(matcher: &Matcher, url: &Url) -> Option<Intercept> {
    matcher.intercept(&url.as_str().parse::<Uri>().ok()?)
}

/// Returns the scheme, host and port of a proxy.
fn address_of(proxy: &Url) -> Option<String> {
    let port = proxy.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}://{}{port}", proxy.scheme(), proxy.host_str()?))
}

/// Returns the status with which an unencrypted proxy responds to `CONNECT`.
async fn request_tunnel(proxy: &Intercept, host: &str, port: u16) -> Option<StatusCode> {
    if proxy.uri().scheme_str() != Some("http") {
        return None;
    }
    let address = (proxy.uri().host()?, proxy.uri().port_u16().unwrap_or(80));
    let mut stream = TcpStream::connect(address).await.ok()?;
    let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n").into_bytes();
    if let Some(credentials) = proxy.basic_auth() {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(credentials.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    stream.write_all(&request).await.ok()?;
    let mut start = Vec::new();
    stream
        .take(STATUS_LINE_LIMIT)
        .read_to_end(&mut start)
        .await
        .ok()?;
    let line = String::from_utf8_lossy(&start);
    StatusCode::from_bytes(line.split_ascii_whitespace().nth(1)?.as_bytes()).ok()
}

/// Rejects a proxy variable that the client would ignore because it cannot parse its value. The message names the
/// variable and not the value, which may contain a password.
pub fn check_proxy_variables<'v>(
    url: &Url,
    variable: impl Fn(&str) -> Option<&'v str>,
) -> Result<(), HttpError> {
    let first = |names: [&'static str; 2]| {
        names
            .into_iter()
            .find_map(|name| Some((name, variable(name).filter(|value| !value.trim().is_empty())?)))
    };
    let own = match url.scheme() {
        "https" => ["HTTPS_PROXY", "https_proxy"],
        _ => ["HTTP_PROXY", "http_proxy"],
    };
    let Some((name, value)) = first(own).or_else(|| first(["ALL_PROXY", "all_proxy"])) else {
        return Ok(());
    };
    let exceptions = first(["NO_PROXY", "no_proxy"]).map_or("", |(_, value)| value);
    let is_used = |proxy: &str| {
        let matcher = Matcher::builder().all(proxy).no(exceptions).build();
        intercept(&matcher, url).is_some()
    };
    if is_loopback(url) || !is_used("http://proxy.invalid") {
        return Ok(());
    }
    if UnexpandedValue::find(value).is_none() && is_used(value) {
        return Ok(());
    }
    let message = format!("the variable {name} is not the URL of a proxy; its value is not shown");
    Err(HttpError::configuration(message).with_hint(VARIABLE_HINT))
}
