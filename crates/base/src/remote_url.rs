//! The URL of a repository, reduced to the parts that identify the repository.

use std::fmt;

/// The host, port and path of a repository, or a path on this machine.
///
/// The comparison ignores scheme, user, query, fragment, `.git`, the case of the host and a trailing slash. It also
/// ignores whether the address has the ssh syntax `user@host:path` (<https://git-scm.com/docs/git-clone#_git_urls>).
/// Display omits the user, and so the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteUrl {
    /// Host in lower case; `None` for a path on this machine.
    host: Option<String>,
    /// Port, unless it is the default one of the URL's scheme.
    port: Option<String>,
    path: String,
}

/// The schemes of git's URLs, each with its default port.
const DEFAULT_PORTS: [(&str, &str); 6] = [
    ("https", "443"),
    ("http", "80"),
    ("ssh", "22"),
    ("git+ssh", "22"),
    ("ssh+git", "22"),
    ("git", "9418"),
];

impl RemoteUrl {
    /// Parses a URL, an address in the ssh syntax, or a path. Returns `None` if the text does not name a repository.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let url = match text.split_once("://") {
            Some((scheme, location)) if scheme.eq_ignore_ascii_case("file") => {
                // The host of a `file` URL is ignored: its path begins with the first slash.
                let path = location.find('/').map_or("", |start| &location[start..]);
                Self::from_local_path(path)
            }
            Some((scheme, location)) => {
                let (authority, path) = location.split_once('/').unwrap_or((location, ""));
                // The query can contain a token.
                let path = path.split(['?', '#']).next().unwrap_or_default();
                Self::from_authority(authority, path, find_default_port(scheme))
            }
            None => match text.split_once(':') {
                // An address in the ssh syntax. A path such as `./a:b` or a drive such as `C:\` is not an address.
                Some((authority, path)) if !authority.contains('/') && authority.len() != 1 => {
                    Self::from_authority(authority, path, None)
                }
                _ => Self::from_local_path(text),
            },
        };
        // A URL such as `https:///path` has an empty host.
        let has_empty_part = url.path.is_empty() || url.host.as_deref() == Some("");
        (!has_empty_part).then_some(url)
    }

    /// Returns whether the repository is a directory on this machine.
    pub const fn is_on_this_machine(&self) -> bool {
        self.host.is_none()
    }

    /// Returns the host in lower case. Returns `None` for a directory on this machine.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// Returns the path on the host, without the ending `.git`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns whether the path contains an `@`. Such a URL is often mistyped, and the text before the `@` a password:
    /// in `https://user:pass/word@host/path`, the host ends at the slash of the password.
    pub fn may_contain_password(&self) -> bool {
        self.host.is_some() && self.path.contains('@')
    }

    /// Creates the address of a repository on this machine.
    fn from_local_path(path: &str) -> Self {
        Self {
            host: None,
            port: None,
            path: trim_git_suffix(path).to_owned(),
        }
    }

    /// Creates the address from the parts of a URL. User names, default ports and the ending `.git` are omitted,
    /// because addresses of one repository may differ in them.
    fn from_authority(authority: &str, path: &str, default_port: Option<&str>) -> Self {
        let address = authority
            .rsplit_once('@')
            .map_or(authority, |(_, address)| address);
        // The colon of a port is behind the brackets of an IPv6 address.
        let (host, port) = match address.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
            _ => (address, ""),
        };
        let is_default_port = port.is_empty() || Some(port) == default_port;
        Self {
            host: Some(host.trim_end_matches('.').to_ascii_lowercase()),
            port: (!is_default_port).then(|| port.to_owned()),
            path: trim_git_suffix(path.trim_start_matches('/')).to_owned(),
        }
    }
}

impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(host) = &self.host else {
            return f.write_str(&self.path);
        };
        if let Some((_, public_path)) = self.path.rsplit_once('@') {
            return write!(f, "…@{public_path}");
        }
        f.write_str(host)?;
        if let Some(port) = &self.port {
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", self.path)
    }
}

/// Returns the port of URLs with this scheme that do not name a port.
fn find_default_port(scheme: &str) -> Option<&'static str> {
    DEFAULT_PORTS
        .iter()
        .find(|(name, _)| scheme.eq_ignore_ascii_case(name))
        .map(|(_, port)| *port)
}

/// Returns the path without trailing slashes and `.git`.
fn trim_git_suffix(path: &str) -> &str {
    let trimmed_path = path.trim_end_matches('/');
    trimmed_path
        .strip_suffix(".git")
        .unwrap_or(trimmed_path)
        .trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_same(one: &str, other: &str) -> bool {
        RemoteUrl::parse(one).unwrap() == RemoteUrl::parse(other).unwrap()
    }

    #[test]
    fn spellings_of_one_repository_are_equal() {
        for other in [
            "https://github.com/o/p",
            "https://github.com/o/p.git/",
            "https://GitHub.com:443/o/p",
            "https://user:secret@github.com/o/p",
            "http://github.com:80/o/p.git",
            "git@github.com:o/p.git",
            "git@github.com:/o/p",
            "github.com:o/p",
            "ssh://git@github.com/o/p",
            "ssh://git@github.com:22/o/p.git",
            "git://github.com./o/p",
            " https://github.com/o/p\n",
        ] {
            assert!(is_same("https://github.com/o/p.git", other), "{other}");
        }
        assert!(is_same("file:///srv/p.git", "/srv/p"));
        assert!(is_same(
            "https://[::1]:8443/o/p",
            "https://user@[::1]:8443/o/p.git"
        ));
    }

    #[test]
    fn other_host_port_or_path_is_another_repository() {
        for other in [
            "https://github.com/fork/p",
            "https://github.com/o/p2",
            "https://github.com/O/p",
            "https://github.com:8443/o/p",
            "https://github.com.evil.example/o/p",
            "https://evil.example/github.com/o/p",
            "https://github.com@evil.example/o/p",
            "evil.example:github.com/o/p",
            "https://github.com/o/p/x",
            "/github.com/o/p",
            "file:///o/p",
            "./github.com:o/p",
        ] {
            assert!(!is_same("https://github.com/o/p", other), "{other}");
        }
    }

    #[test]
    fn text_without_repository_is_no_url() {
        for text in ["", " ", "https://", "https://github.com", "https:///o/p", "/"] {
            assert_eq!(RemoteUrl::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn display_shows_no_password() {
        for (url, shown_url) in [
            (
                "https://user:secret@Host.example:8443/o/p.git",
                "host.example:8443/o/p",
            ),
            ("https://host/o/p.git?private_token=secret", "host/o/p"),
            ("https://host/o/p.git#secret", "host/o/p"),
            ("https://user:sec/ret@host/o/p.git", "…@host/o/p"),
            ("https:/user:secret@host/o/p.git", "…@host/o/p"),
        ] {
            assert_eq!(RemoteUrl::parse(url).unwrap().to_string(), shown_url);
        }
    }
}
