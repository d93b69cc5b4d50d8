//! The proxies that requests go through.

use super::HttpError;
use super::base_url::is_loopback;
use hyper::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use reqwest::{StatusCode, Url};
use sluicegate_base::unexpanded_value::UnexpandedValue;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// Time limit for the request that finds out why a proxy does not open a tunnel.
const TUNNEL_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of bytes that are read from the start of a proxy's response, which contains the status.
const MAX_STATUS_LINE_SIZE: u64 = 64;

const VARIABLE_HINT: &str = "write the proxy as http://HOST:PORT or http://USER:PASSWORD@HOST:PORT; write reserved \
     characters in the user name and the password as escapes (`\\` as %5C, `@` as %40, `#` as %23, `/` as %2F, `?` as \
     %3F)";

/// The proxy in place of a variable that is not valid. No host has this name, so that a request fails instead of being
/// sent without a proxy.
const UNREACHABLE_PROXY: &str = "http://proxy.invalid";

pub(super) enum Proxies {
    /// The proxies of the environment, but none for the local machine, whose loopback addresses a proxy cannot reach.
    Environment,
    /// One proxy for all requests.
    Fixed { proxy: Box<reqwest::Proxy>, url: Url },
}

impl Proxies {
    /// Sets these proxies for a client. The HTTP library reads the proxies of the environment by itself, unless it
    /// would not see all variables.
    pub(super) fn configure(&self, builder: reqwest::ClientBuilder) -> reqwest::ClientBuilder {
        match (self, HiddenVariables::find()) {
            (Self::Fixed { proxy, .. }, _) => builder.proxy(reqwest::Proxy::clone(proxy)),
            (Self::Environment, None) => builder,
            (Self::Environment, Some(variables)) => {
                builder.proxy(reqwest::Proxy::custom(move |url| variables.find_proxy_url(url)))
            }
        }
    }

    /// Returns whether a request to this URL must not use a proxy, whatever the variables contain.
    pub(super) fn is_direct(&self, url: &Url) -> bool {
        matches!(self, Self::Environment) && is_loopback(url)
    }

    /// Returns the address of the proxy that the HTTP client uses for requests to `url`, without its credentials.
    pub(super) fn find_address(&self, url: &Url) -> Option<String> {
        match self {
            Self::Environment if is_loopback(url) => None,
            Self::Environment => {
                let proxy = find_proxy(&build_environment_matcher(), url)?;
                format_proxy_address(&Url::parse(&proxy.uri().to_string()).ok()?)
            }
            Self::Fixed { url, .. } => format_proxy_address(url),
        }
    }

    /// Requests a tunnel once more, because the HTTP client does not report the status of the proxy's response. Returns
    /// `None` if no status arrives in time, or if the proxy is not from the environment; the error then does not show
    /// the status.
    pub(super) async fn request_tunnel_status(&self, url: &Url) -> Option<StatusCode> {
        let Self::Environment = self else { return None };
        let proxy = find_proxy(&build_environment_matcher(), url)?;
        let status = fetch_connect_status(&proxy, url.host_str()?, url.port_or_known_default()?);
        tokio::time::timeout(TUNNEL_TIMEOUT, status).await.ok()?
    }
}

/// The proxy variables, if an empty one in uppercase hides one in lowercase. The HTTP library reads the first variable
/// that is set, even if it is empty. A variable that is not set is empty here.
struct HiddenVariables {
    http: String,
    https: String,
    all: String,
    no: String,
}

impl HiddenVariables {
    /// Returns the variables of the environment; `None` if none is hidden, so that the HTTP library reads all of them.
    fn find() -> Option<Self> {
        let names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];
        if !names.into_iter().any(is_lowercase_hidden) {
            return None;
        }
        let [mut http, https, all, no] = names.map(read_variable);
        // In a CGI program, a client of the web server determines this variable.
        if read_environment("REQUEST_METHOD").is_some() {
            http.clear();
        }
        Some(Self { http, https, all, no })
    }

    fn build_matcher(&self) -> Matcher {
        Matcher::builder()
            .http(self.http.as_str())
            .https(self.https.as_str())
            .all(self.all.as_str())
            .no(self.no.as_str())
            .build()
    }

    /// Returns the proxy for requests to this URL, with its credentials; `None` for a direct connection.
    fn find_proxy_url(&self, url: &Url) -> Option<Url> {
        find_proxy(&self.build_matcher(), url)?;
        let value = match url.scheme() {
            "https" if !self.https.is_empty() => &self.https,
            "http" if !self.http.is_empty() => &self.http,
            _ => &self.all,
        };
        parse_proxy_url(value).or_else(|| Url::parse(UNREACHABLE_PROXY).ok())
    }
}

/// Parses the value of a proxy variable, which may omit the scheme. Returns `None` if it is not a URL with a host and a
/// valid port. An unescaped `#`, `/` or `?` in a password ends the host too early, so the `@` follows in the rest.
fn parse_proxy_url(value: &str) -> Option<Url> {
    let url = if value.contains("://") {
        Url::parse(value)
    } else {
        Url::parse(&format!("http://{value}"))
    };
    let url = url.ok().filter(Url::has_host)?;
    let has_cut_password = [Some(url.path()), url.query(), url.fragment()]
        .into_iter()
        .flatten()
        .any(|part| part.contains('@'));
    (!has_cut_password).then_some(url)
}

/// Returns whether the variable with this name is set but empty, and its twin in lowercase is not empty.
fn is_lowercase_hidden(name: &str) -> bool {
    let is_blank = |value: String| value.trim().is_empty();
    read_environment(name).is_some_and(is_blank)
        && read_environment(&name.to_ascii_lowercase()).is_some_and(|value| !is_blank(value))
}

/// Returns the value of the variable with this name or, if that is empty, of its twin in lowercase.
fn read_variable(name: &str) -> String {
    [name, &name.to_ascii_lowercase()]
        .into_iter()
        .filter_map(read_environment)
        .find(|value| !value.trim().is_empty())
        .unwrap_or_default()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the HTTP library reads the same variables from the environment of the process"
)]
fn read_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Creates the matcher that selects the same proxies as the HTTP client.
fn build_environment_matcher() -> Matcher {
    HiddenVariables::find().map_or_else(Matcher::from_system, |variables| variables.build_matcher())
}

/// Returns the proxy that the matcher selects for this URL; `None` for a direct connection.
fn find_proxy(matcher: &Matcher, url: &Url) -> Option<Intercept> {
    matcher.intercept(&url.as_str().parse::<Uri>().ok()?)
}

/// Returns the scheme, host and port of a proxy, without its credentials.
fn format_proxy_address(proxy: &Url) -> Option<String> {
    let port = proxy.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}://{}{port}", proxy.scheme(), proxy.host_str()?))
}

/// Returns the status with which a proxy responds to `CONNECT`; `None` for a proxy with TLS and after any failure.
async fn fetch_connect_status(proxy: &Intercept, host: &str, port: u16) -> Option<StatusCode> {
    if proxy.uri().scheme_str() != Some("http") {
        return None;
    }
    // The host of a URL has brackets around an IPv6 address, which a lookup of the name does not allow.
    let proxy_host = proxy.uri().host()?.trim_matches(['[', ']']);
    let mut stream = TcpStream::connect((proxy_host, proxy.uri().port_u16().unwrap_or(80)))
        .await
        .ok()?;
    let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n").into_bytes();
    if let Some(credentials) = proxy.basic_auth() {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(credentials.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    stream.write_all(&request).await.ok()?;
    let mut line = Vec::new();
    // Not to the end of the response: the proxy may keep the connection open.
    BufReader::new(stream.take(MAX_STATUS_LINE_SIZE))
        .read_until(b'\n', &mut line)
        .await
        .ok()?;
    let line = String::from_utf8_lossy(&line);
    // The status is the second word of the response, for example in `HTTP/1.1 200 OK`.
    StatusCode::from_bytes(line.split_ascii_whitespace().nth(1)?.as_bytes()).ok()
}

/// Returns whether requests to `url` would use this proxy if the variable NO_PROXY had the value `exceptions`.
fn is_proxy_used(proxy: &str, exceptions: &str, url: &Url) -> bool {
    let matcher = Matcher::builder().all(proxy).no(exceptions).build();
    find_proxy(&matcher, url).is_some()
}

/// Rejects a proxy variable that the HTTP client would ignore or misread because the value is not valid. The message
/// shows the variable's name, but not its value, which may contain a password.
pub fn check_proxy_variables<'v>(
    url: &Url,
    variable: impl Fn(&str) -> Option<&'v str>,
) -> Result<(), HttpError> {
    let names = match url.scheme() {
        "https" => ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
        _ => ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
    };
    let Some((name, value)) = find_variable(&names, &variable) else {
        return Ok(());
    };
    let exceptions = find_variable(&["NO_PROXY", "no_proxy"], &variable).map_or("", |(_, value)| value);
    // If even a valid proxy would not be used, the variable does not matter for this URL.
    if is_loopback(url) || !is_proxy_used(UNREACHABLE_PROXY, exceptions, url) {
        return Ok(());
    }
    let is_valid_proxy = UnexpandedValue::find(value).is_none()
        && parse_proxy_url(value).is_some()
        && is_proxy_used(value, exceptions, url);
    if is_valid_proxy {
        return Ok(());
    }
    let message = format!("the variable {name} is not the URL of a proxy; its value is not shown");
    Err(HttpError::configuration(message).with_hint(VARIABLE_HINT))
}

/// Returns the name and the value of the first of these variables that is not empty.
fn find_variable<'v>(
    names: &[&'static str],
    variable: &impl Fn(&str) -> Option<&'v str>,
) -> Option<(&'static str, &'v str)> {
    names.iter().find_map(|name| {
        let value = variable(name).filter(|value| !value.trim().is_empty())?;
        Some((*name, value))
    })
}
