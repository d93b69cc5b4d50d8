//! The bearer token: where it comes from, how long it is kept, and when it is fetched again.
//!
//! It is fetched at its first use and shared by all calls; calls that need it at the same time wait for one fetch
//! and share its outcome, be it a failure.

mod command;
mod oauth;

use super::bearer::{Token, TokenError};
use super::observer::SILENCE;
use super::transport::Transport;
use crate::base::input;
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

/// The longest token that is accepted, in bytes: servers refuse longer headers anyway.
const LIMIT: u64 = 64 * 1024;

/// The secrets of the platform and of the code hosts, which are none of a program's that this one starts. What else it needs
/// stays: a token command to ask a vault, a host's agent its own token.
pub const SECRETS: [&str; 9] = [
    "SLUICEGATE_TOKEN",
    "SLUICEGATE_CLIENT_SECRET",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITLAB_TOKEN",
    "GITEA_TOKEN",
    "BITBUCKET_TOKEN",
    "CI_JOB_TOKEN",
    "SYSTEM_ACCESSTOKEN",
];

#[derive(Clone)]
pub enum TokenSource {
    Value(SecretString),
    /// A file that holds it, blanks around it aside. Read again once after a 401.
    File(PathBuf),
    /// A shell command whose output is it. Run again once after a 401.
    Command(String),
    /// OAuth 2 client credentials (RFC 6749, section 4.4), turned into a token at `token_url`.
    ClientCredentials {
        /// Where the token is asked for.
        token_url: Url,
        client_id: String,
        /// The client's secret.
        client_secret: SecretString,
        /// The `audience` parameter that some authorities want.
        audience: Option<String>,
    },
}

/// Shows which kind of source it is and nothing else: a command or a URL may hold a secret.
impl fmt::Debug for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value(_) => "TokenSource::Value(***)",
            Self::File(_) => "TokenSource::File(***)",
            Self::Command(_) => "TokenSource::Command(***)",
            Self::ClientCredentials { .. } => "TokenSource::ClientCredentials(***)",
        })
    }
}

/// The source and what it last gave.
pub(super) struct Tokens {
    source: TokenSource,
    last: Mutex<Option<Result<Token, TokenError>>>,
    fetches: AtomicU64,
}

impl Tokens {
    pub(super) fn new(source: TokenSource) -> Self {
        Self {
            source,
            last: Mutex::new(None),
            fetches: AtomicU64::new(0),
        }
    }

    /// The token, fetched if there is none or its time is over.
    pub(super) async fn current(&self, transport: &Transport) -> Result<Token, TokenError> {
        self.other_than(None, transport).await
    }

    /// Another token after this one got a 401; none if the source cannot give another.
    pub(super) async fn after_refusal(
        &self,
        refused: &Token,
        transport: &Transport,
    ) -> Option<Result<Token, TokenError>> {
        match self.source {
            TokenSource::Value(_) => None,
            _ => Some(self.other_than(Some(refused), transport).await),
        }
    }

    async fn other_than(&self, refused: Option<&Token>, transport: &Transport) -> Result<Token, TokenError> {
        let seen = self.fetches.load(Ordering::Acquire);
        let mut last = self.last.lock().await;
        match &*last {
            Some(Ok(token)) if token.is_fresh() && refused.is_none_or(|it| !it.is_same(token)) => {
                return Ok(token.clone());
            }
            // Somebody fetched while this call waited for the lock: their failure is ours.
            Some(Err(why)) if self.fetches.load(Ordering::Acquire) != seen => return Err(why.clone()),
            _ => {}
        }
        let outcome = self.fetch(transport).await;
        *last = Some(outcome.clone());
        self.fetches.fetch_add(1, Ordering::Release);
        outcome
    }

    async fn fetch(&self, transport: &Transport) -> Result<Token, TokenError> {
        match &self.source {
            TokenSource::Value(secret) => Token::new(secret.expose_secret(), None, "SLUICEGATE_TOKEN"),
            TokenSource::File(path) => {
                let from = format!(
                    "the file {} (--token-file, SLUICEGATE_TOKEN_FILE)",
                    path.display()
                );
                Token::new(read_file(path)?.expose_secret(), None, &from)
            }
            TokenSource::Command(line) => {
                let silence = tokio::time::sleep(SILENCE);
                let waiting = || "waiting for the command that prints the token".to_owned();
                let printed = transport
                    .observer
                    .during(command::run(line), silence, waiting)
                    .await?;
                let from = "the token command (--token-command, SLUICEGATE_TOKEN_COMMAND)";
                Token::new(printed.expose_secret(), None, from)
            }
            TokenSource::ClientCredentials {
                token_url,
                client_id,
                client_secret,
                audience,
            } => {
                let client = oauth::OauthClient {
                    token_url,
                    id: client_id,
                    secret: client_secret,
                    audience: audience.as_deref(),
                };
                let granted = client.ask(transport).await?;
                let from = "the token URL (SLUICEGATE_TOKEN_URL)";
                Token::new(granted.access_token.expose_secret(), granted.until, from)
            }
        }
    }
}

fn read_file(path: &Path) -> Result<SecretString, TokenError> {
    let broken = |why: &dyn fmt::Display| {
        TokenError::Configuration(format!("the token file {} {why}", path.display()))
    };
    let bytes = input::file(path, LIMIT).map_err(|why| broken(&format!("cannot be read: {why}")))?;
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => Err(broken(&"is empty")),
        Ok(text) => Ok(SecretString::from(text)),
        Err(error) if is_utf_16(error.as_bytes()) => Err(broken(&"is UTF-16; write it as UTF-8")),
        Err(_) => Err(broken(&"is not text")),
    }
}

/// By its byte order mark, which Windows' PowerShell writes.
fn is_utf_16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_do_not_print_themselves() {
        let sources = [
            TokenSource::Value(SecretString::from("s3cret")),
            TokenSource::Command("echo s3cret".to_owned()),
            TokenSource::ClientCredentials {
                token_url: Url::parse("https://me:s3cret@h/t?k=s3cret").unwrap(),
                client_id: "id".to_owned(),
                client_secret: SecretString::from("s3cret"),
                audience: None,
            },
        ];
        for source in sources {
            assert!(!format!("{source:?}").contains("s3cret"), "{source:?}");
        }
    }

    #[test]
    fn a_broken_token_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let refused = || {
            read_file(&path)
                .err()
                .unwrap()
                .to_string()
                .replace(&path.display().to_string(), "FILE")
        };
        let missing = refused();
        assert!(
            missing.starts_with("no token: the token file FILE cannot be read: "),
            "{missing}"
        );
        std::fs::write(&path, "\n").unwrap();
        insta::assert_snapshot!(refused(), @"no token: the token file FILE is empty");
        std::fs::write(&path, [0xff, 0xfe, b't', 0]).unwrap();
        insta::assert_snapshot!(refused(), @"no token: the token file FILE is UTF-16; write it as UTF-8");
        std::fs::write(&path, [b't', 0xff]).unwrap();
        insta::assert_snapshot!(refused(), @"no token: the token file FILE is not text");
        std::fs::write(&path, vec![b'a'; 70_000]).unwrap();
        insta::assert_snapshot!(refused(), @"no token: the token file FILE cannot be read: it has more than 65536 bytes");
    }
}
