//! The bearer token: its source, how long it is kept, and when it is fetched again.
//!
//! The token is fetched at its first use and shared by all calls; calls that need it at the same time wait for one
//! fetch and share its outcome, even if it is a failure.

mod command;
mod oauth;

use super::HttpError;
use super::token_value::{Token, TokenError};
use super::transport::Transport;
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use sluicegate_base::input;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tokio::sync::{Mutex, oneshot};

/// Maximum size of a token, in bytes: servers reject longer headers anyway.
const MAX_TOKEN_SIZE: u64 = 64 * 1024;

/// Time limit of a token command, which may prompt a person or query a vault over a slow network, and of a token file
/// that is a pipe.
const SOURCE_TIMEOUT: Duration = Duration::from_secs(60);

/// The hint for a token file that cannot be used.
const TOKEN_FILE_HINT: &str =
    "pass the path of a text file that contains only the token with --token-file (SLUICEGATE_TOKEN_FILE)";

/// The secrets of the platform and of the code hosts, which child processes do not get. Other variables are passed on:
/// a token command may need them to query a vault, a host's agent needs its own token.
pub const WITHHELD_VARIABLES: [&str; 10] = [
    "SLUICEGATE_TOKEN",
    "SLUICEGATE_CLIENT_SECRET",
    "SLUICEGATE_CLIENT_KEY",
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
    /// A file that contains the token; blanks around it are ignored. Read again once after a 401.
    File(PathBuf),
    /// A shell command that prints the token. Run again once after a 401.
    Command(String),
    /// OAuth 2 client credentials (RFC 6749, section 4.4), exchanged for a token at `token_url`.
    ClientCredentials {
        token_url: Url,
        client_id: String,
        client_secret: SecretString,
        /// The `audience` parameter that some authorization servers require.
        audience: Option<String>,
    },
}

impl TokenSource {
    /// Returns the URL to which the client credentials are sent; `None` for another source.
    pub fn token_url(&self) -> Option<&Url> {
        match self {
            Self::ClientCredentials { token_url, .. } => Some(token_url),
            Self::Value(_) | Self::File(_) | Self::Command(_) => None,
        }
    }
}

impl fmt::Debug for TokenSource {
    /// Writes the kind of source and nothing else, because a command or a URL may contain a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value(_) => "TokenSource::Value(***)",
            Self::File(_) => "TokenSource::File(***)",
            Self::Command(_) => "TokenSource::Command(***)",
            Self::ClientCredentials { .. } => "TokenSource::ClientCredentials(***)",
        })
    }
}

/// The source and its last result.
pub(super) struct TokenCache {
    source: TokenSource,
    last_result: Mutex<Option<Result<Token, TokenError>>>,
    fetch_count: AtomicU64,
}

impl TokenCache {
    /// Creates a cache without a token.
    pub(super) fn new(source: TokenSource) -> Self {
        Self {
            source,
            last_result: Mutex::new(None),
            fetch_count: AtomicU64::new(0),
        }
    }

    /// Returns the token. Fetches it if there is none, or if the cached token expires soon.
    pub(super) async fn current_token(&self, transport: &Transport) -> Result<Token, TokenError> {
        let refused_token = None;
        self.obtain_token(refused_token, transport).await
    }

    /// Returns the token to try after `refused_token` got a 401, or `None` if the source is a fixed value. A file or a
    /// command may return the same token again.
    pub(super) async fn replace_refused_token(
        &self,
        refused_token: &Token,
        transport: &Transport,
    ) -> Option<Result<Token, TokenError>> {
        match self.source {
            TokenSource::Value(_) => None,
            _ => Some(self.obtain_token(Some(refused_token), transport).await),
        }
    }

    /// Returns the cached token, or fetches one if the cached token is missing, is expired or is the refused one. Calls
    /// that wait for the lock meanwhile get the same result, even if the source returned the refused token again.
    async fn obtain_token(
        &self,
        refused_token: Option<&Token>,
        transport: &Transport,
    ) -> Result<Token, TokenError> {
        let earlier_fetch_count = self.fetch_count.load(Ordering::Acquire);
        let mut last_result = self.last_result.lock().await;
        match &*last_result {
            Some(Ok(token))
                if token.is_fresh()
                    && refused_token.is_none_or(|refused_token| !refused_token.is_same(token)) =>
            {
                return Ok(token.clone());
            }
            // Another call fetched while this one waited for the lock: its result applies here too.
            Some(result) if self.fetch_count.load(Ordering::Acquire) != earlier_fetch_count => {
                return result.clone();
            }
            _ => {}
        }
        let result = self.fetch_token(transport).await;
        *last_result = Some(result.clone());
        self.fetch_count.fetch_add(1, Ordering::Release);
        result
    }

    /// Gets a token from its source: a setting, a file, a command, or a token URL.
    async fn fetch_token(&self, transport: &Transport) -> Result<Token, TokenError> {
        // Only a token URL states when its tokens expire.
        let no_expiry = None;
        match &self.source {
            TokenSource::Value(secret) => Token::new(secret.expose_secret(), no_expiry, "SLUICEGATE_TOKEN"),
            TokenSource::File(path) => {
                let origin = format!(
                    "the file {} (--token-file, SLUICEGATE_TOKEN_FILE)",
                    path.display()
                );
                let secret = transport
                    .observer
                    .await_with_report(read_token_file_within(path, SOURCE_TIMEOUT), || {
                        "waiting for the token file".to_owned()
                    })
                    .await?;
                Token::new(secret.expose_secret(), no_expiry, &origin)
            }
            TokenSource::Command(line) => {
                let secret = transport
                    .observer
                    .await_with_report(command::run_token_command(line), || {
                        "waiting for the token command".to_owned()
                    })
                    .await?;
                let origin = "the token command (--token-command, SLUICEGATE_TOKEN_COMMAND)";
                Token::new(secret.expose_secret(), no_expiry, origin)
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
                let access_token = client.request_token(transport).await?;
                let origin = "the token URL (SLUICEGATE_TOKEN_URL)";
                Token::new(
                    access_token.secret.expose_secret(),
                    access_token.expires_at,
                    origin,
                )
                .map_err(into_response_error)
            }
        }
    }
}

/// Converts the error of an unusable token to that of the response that contained it: no setting causes it.
fn into_response_error(error: TokenError) -> TokenError {
    match error {
        TokenError::Configuration { reason, .. } => TokenError::Unreachable(HttpError::bad_response(reason)),
        error => error,
    }
}

/// Reads the token from a file. Fails if the file is a pipe to which nothing writes a token within the timeout.
async fn read_token_file_within(path: &Path, timeout: Duration) -> Result<SecretString, TokenError> {
    if path.is_file() {
        return read_token_file(path);
    }
    let (sender, receiver) = oneshot::channel();
    let pipe_path = path.to_owned();
    // Unlike a task of the runtime, this thread does not delay the end of the program.
    thread::Builder::new()
        .spawn(move || sender.send(read_token_file(&pipe_path)))
        .map_err(|error| token_file_error(path, &format!("cannot be read: {error}")))?;
    match tokio::time::timeout(timeout, receiver).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err(token_file_error(path, "cannot be read")),
        Err(_) => Err(token_file_error(
            path,
            &format!("did not provide a token within {} s", timeout.as_secs()),
        )),
    }
}

/// Reads the token from a file, which must be text and not empty.
fn read_token_file(path: &Path) -> Result<SecretString, TokenError> {
    let bytes =
        input::read_file(path, MAX_TOKEN_SIZE).map_err(|error| unreadable_file_error(path, &error))?;
    if input::is_utf_16(&bytes) {
        return Err(token_file_error(path, "is UTF-16; save the file as UTF-8"));
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => Err(token_file_error(path, "is empty")),
        Ok(text) => Ok(SecretString::from(text)),
        Err(_) => Err(token_file_error(path, "is not text")),
    }
}

/// Returns the error for a token file that could not be read because of `read_error`. Shows only the name of an
/// existing file: any other name may be a token in the wrong setting.
fn unreadable_file_error(path: &Path, read_error: &dyn fmt::Display) -> TokenError {
    let reason = match path.symlink_metadata() {
        Ok(_) => return token_file_error(path, &format!("cannot be read: {read_error}")),
        Err(error) if error.kind() == ErrorKind::NotFound => "does not exist".to_owned(),
        Err(error) => format!("cannot be found ({})", error.kind()),
    };
    let length = path
        .file_name()
        .map_or(0, |name| name.to_string_lossy().chars().count());
    let reason = format!(
        "the file set by --token-file or SLUICEGATE_TOKEN_FILE {reason}: check the path (its name, {length} \
         characters, is hidden because it may be a token)"
    );
    TokenError::configuration(reason, TOKEN_FILE_HINT)
}

fn token_file_error(path: &Path, reason: &str) -> TokenError {
    TokenError::configuration(
        format!("the token file {} {reason}", path.display()),
        TOKEN_FILE_HINT,
    )
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

    /// Creates a named pipe in this directory.
    #[cfg(unix)]
    fn create_pipe(folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        let status = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(status.unwrap().success());
        path
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn pipe_without_writer_is_refused_after_the_timeout() {
        let folder = tempfile::tempdir().unwrap();
        let silent_pipe = create_pipe(folder.path(), "silent");
        let error = read_token_file_within(&silent_pipe, Duration::from_millis(50)).await;
        let message = error.err().unwrap().to_string();
        assert!(message.contains("did not provide a token within"), "{message}");
        // Counterpart: a pipe with a writer.
        let pipe = create_pipe(folder.path(), "written");
        let written_path = pipe.clone();
        let writer = thread::spawn(move || std::fs::write(written_path, "t0ken"));
        let token = read_token_file_within(&pipe, Duration::from_secs(60)).await;
        assert_eq!(token.ok().unwrap().expose_secret(), "t0ken");
        writer.join().unwrap().unwrap();
    }

    #[test]
    fn broken_token_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let refused = || {
            read_token_file(&path)
                .err()
                .unwrap()
                .to_string()
                .replace(&path.display().to_string(), "FILE")
        };
        let missing = refused();
        assert!(
            missing.starts_with(
                "no usable token: the file set by --token-file or SLUICEGATE_TOKEN_FILE does not exist: "
            ),
            "{missing}"
        );
        let pasted_token = format!("s3cret{}", "a".repeat(400));
        std::fs::write(&path, "").unwrap();
        for name in [path.with_file_name(&pasted_token), path.join("s3cret")] {
            let message = read_token_file(&name).err().unwrap().to_string();
            assert!(!message.contains("s3cret"), "{message}");
        }
        std::fs::write(&path, "\n").unwrap();
        insta::assert_snapshot!(refused(), @"no usable token: the token file FILE is empty");
        std::fs::write(&path, [0xff, 0xfe, b't', 0]).unwrap();
        insta::assert_snapshot!(refused(), @"no usable token: the token file FILE is UTF-16; save the file as UTF-8");
        std::fs::write(&path, [b't', 0xff]).unwrap();
        insta::assert_snapshot!(refused(), @"no usable token: the token file FILE is not text");
        std::fs::write(&path, vec![b'a'; 70_000]).unwrap();
        insta::assert_snapshot!(refused(), @"no usable token: the token file FILE cannot be read: the content has more than 65536 bytes");
    }
}
