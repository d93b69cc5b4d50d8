//! The platform's base URL: parsed leniently, and joined so that no identifier can change the path it is put into.

use super::HttpError;
use super::path_segments::{append_segments, reject_invalid_segments};
use reqwest::Url;
use std::fmt;

/// The platform's address, without the `/v1` that every call adds.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// The reason why a text is not a base URL. No message repeats a part of the text that may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    #[error("the base URL is empty")]
    Empty,
    /// A text without `https://`, of this many characters: a host, or a token in the wrong setting.
    #[error(
        "the base URL has no scheme: write https:// before the host (http:// for a platform on this machine); the value \
         has {0} characters and is not shown, because it may be a token"
    )]
    NoScheme(usize),
    /// A scheme other than `http` and `https`.
    #[error("the base URL has an unsupported scheme: only https and http are supported")]
    Scheme,
    /// A user or a password before the host.
    #[error("the base URL contains a user name or a password: put the credentials into the token settings")]
    Credentials,
    /// `?query` or `#fragment`.
    #[error("the base URL must not contain a query string or a fragment")]
    Query,
    /// Any other text that the URL standard rejects.
    #[error("the base URL is not a valid URL: {0}")]
    Invalid(String),
}

impl BaseUrl {
    /// Parses a base URL, with or without a path, and with or without `/v1` and a slash at the end.
    pub fn parse(text: &str) -> Result<Self, BaseUrlError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(BaseUrlError::Empty);
        }
        // The text may be a token, so the error contains only its length.
        if !text.contains("://") {
            return Err(BaseUrlError::NoScheme(text.chars().count()));
        }
        let url = Url::parse(text).map_err(|error| BaseUrlError::Invalid(error.to_string()))?;
        reject_unsupported_parts(&url)?;
        Ok(Self(trim_version(url)))
    }

    /// Returns the URL of a resource below `/v1`. Each segment is encoded separately and once: a `/`, `?` or `%` in a
    /// name stays a part of that name. Rejects a name that cannot be a path segment ([`ErrorKind::InvalidName`]).
    ///
    /// [`ErrorKind::InvalidName`]: super::ErrorKind::InvalidName
    pub(crate) fn resource_url(&self, path_below_v1: &[&str]) -> Result<Url, HttpError> {
        reject_invalid_segments(path_below_v1)?;
        Ok(append_segments(&self.api_root(), path_below_v1))
    }

    /// Returns the base URL with `/v1`, which the URLs of all resources begin with.
    pub(super) fn api_root(&self) -> Url {
        append_segments(&self.0, &["v1"])
    }

    pub const fn url(&self) -> &Url {
        &self.0
    }

    /// Returns the host if it is a domain name that needs a lookup, and `None` if it is an IP address.
    pub fn dns_name(&self) -> Option<&str> {
        self.0.domain()
    }

    /// Returns whether the connection is encrypted (`https`).
    pub fn is_encrypted(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Returns whether the token would be sent unencrypted over a network: `http://` to a remote host.
    pub fn is_plain_http_to_remote(&self) -> bool {
        self.0.scheme() == "http" && !is_loopback(&self.0)
    }
}

/// A base URL contains no secret.
impl fmt::Display for BaseUrl {
    /// Writes the URL as the text by which stored addresses of platforms are compared: without a slash at its end, and
    /// without the default port and `/v1`, which parsing has removed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BaseUrl({self})")
    }
}

/// Rejects a URL with another scheme than HTTP, with credentials, or with a query or fragment.
fn reject_unsupported_parts(url: &Url) -> Result<(), BaseUrlError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(BaseUrlError::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BaseUrlError::Credentials);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(BaseUrlError::Query);
    }
    Ok(())
}

/// Removes the version `/v1` and slashes from the end, because requests add them.
fn trim_version(mut url: Url) -> Url {
    let full_path = url.path().trim_end_matches('/');
    let path = full_path
        .strip_suffix("/v1")
        .unwrap_or(full_path)
        .trim_end_matches('/')
        .to_owned();
    url.set_path(&path);
    url
}

/// Returns whether the URL's host is this machine. No proxy is used for it.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{BaseUrl, BaseUrlError};

    #[test]
    fn base_url_in_each_spelling_has_same_resources() {
        for text in [
            "https://h/dpc",
            "https://h/dpc/",
            "https://h/dpc/v1",
            " https://h/dpc/v1/\n",
        ] {
            let base = BaseUrl::parse(text).unwrap();
            assert_eq!(base.to_string(), "https://h/dpc");
            assert_eq!(
                base.resource_url(&["events"]).unwrap().as_str(),
                "https://h/dpc/v1/events",
                "{text:?}"
            );
        }
        assert_eq!(
            BaseUrl::parse("http://h:8080").unwrap().api_root().as_str(),
            "http://h:8080/v1"
        );
    }

    #[test]
    fn base_url_error_names_foreign_part() {
        let refused = |text: &str| BaseUrl::parse(text).unwrap_err().to_string();
        insta::assert_snapshot!(refused("api.example.com/dpc"), @"the base URL has no scheme: write https:// before the host (http:// for a platform on this machine); the value has 19 characters and is not shown, because it may be a token");
        for token in [
            "localhost:8080",
            "me:secret@h/x?y=z",
            "//h/dpc",
            "https:secret",
            "eyJhbG.eyJz.sig",
        ] {
            assert_eq!(BaseUrl::parse(token), Err(BaseUrlError::NoScheme(token.len())));
        }
        insta::assert_snapshot!(refused("secret://h"), @"the base URL has an unsupported scheme: only https and http are supported");
        insta::assert_snapshot!(refused("https://"), @"the base URL is not a valid URL: empty host");
        assert_eq!(
            BaseUrl::parse("https://me:secret@h"),
            Err(BaseUrlError::Credentials)
        );
        assert_eq!(BaseUrl::parse("https://h/?a=b"), Err(BaseUrlError::Query));
        assert_eq!(BaseUrl::parse("https://h/#a"), Err(BaseUrlError::Query));
        assert_eq!(BaseUrl::parse(" "), Err(BaseUrlError::Empty));
    }

    #[test]
    fn host_in_any_script_is_asked_by_its_name_in_ascii() {
        for (text, asked) in [
            ("https://bücher.example/dpc", "https://xn--bcher-kva.example/dpc"),
            (
                "https://BU\u{308}CHER.example/dpc",
                "https://xn--bcher-kva.example/dpc",
            ),
            (
                "https://xn--bcher-kva.example/dpc",
                "https://xn--bcher-kva.example/dpc",
            ),
            ("https://straße.example", "https://xn--strae-oqa.example"),
            ("https://ＥＸＡＭＰＬＥ。com", "https://example.com"),
            ("https://例え.テスト", "https://xn--r8jz45g.xn--zckzah"),
            (
                "https://مثال.إختبار:8443",
                "https://xn--mgbh0fb.xn--kgbechtv:8443",
            ),
        ] {
            assert_eq!(BaseUrl::parse(text).unwrap().to_string(), asked, "{text}");
        }
        // A zero-width joiner without a joining context, a number before a right-to-left letter, and invalid Punycode.
        for text in [
            "https://a\u{200d}b.example",
            "https://1א.example",
            "https://xn--a",
        ] {
            assert!(
                matches!(BaseUrl::parse(text), Err(BaseUrlError::Invalid(_))),
                "{text:?}"
            );
        }
    }

    #[test]
    fn plain_http_is_only_harmless_at_home() {
        let warned = |text| BaseUrl::parse(text).unwrap().is_plain_http_to_remote();
        assert!(warned("http://example.com"));
        assert!(warned("http://10.0.0.1"));
        for home in [
            "http://localhost:1",
            "http://a.localhost",
            "http://127.0.0.9",
            "http://[::1]",
            "https://h",
        ] {
            assert!(!warned(home), "{home}");
        }
    }
}
