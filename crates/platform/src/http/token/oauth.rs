//! OAuth 2 client credentials: <https://www.rfc-editor.org/rfc/rfc6749#section-4.4>.

use crate::http::bearer::TokenError;
use crate::http::request::Request;
use crate::http::retry::Repeat;
use crate::http::transport::Transport;
use crate::http::{ErrorKind, HttpError, Response};
use reqwest::{Method, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// Time before its expiry at which a token is replaced, so that it does not expire on its way to the server.
const EARLY: Duration = Duration::from_secs(30);

/// Maximum lifetime that is accepted, in seconds; after it, a new token is requested in any case.
const LONGEST: u64 = 24 * 60 * 60;

/// The client credentials and the token URL.
pub(super) struct OauthClient<'a> {
    pub(super) token_url: &'a Url,
    pub(super) id: &'a str,
    pub(super) secret: &'a SecretString,
    pub(super) audience: Option<&'a str>,
}

pub(super) struct Granted {
    pub(super) access_token: SecretString,
    pub(super) until: Option<Instant>,
}

impl OauthClient<'_> {
    /// Requests a token. A second request does no harm, so it is retried like a read.
    pub(super) async fn ask(&self, transport: &Transport) -> Result<Granted, TokenError> {
        if !matches!(self.token_url.scheme(), "http" | "https") {
            return Err(TokenError::Configuration(
                "the token URL is neither https nor http".to_owned(),
            ));
        }
        let mut form = vec![
            ("grant_type", "client_credentials"),
            ("client_id", self.id),
            ("client_secret", self.secret.expose_secret()),
        ];
        form.extend(self.audience.map(|audience| ("audience", audience)));
        let request = Request::new(Method::POST, self.token_url.clone(), Repeat::Safe)
            .reading()
            .form(&form)
            .hiding(self.secret.clone())
            .hide_query();
        let asked = Instant::now();
        let answer = transport.send(&request, None).await.map_err(refusal)?;
        answer.fits_beside(0).map_err(refusal)?;
        granted(&answer.body, asked).ok_or_else(|| match refusal_in(&answer) {
            Some(message) => TokenError::Refused(answer.unusable(&message)),
            None => refusal(answer.unusable("it contains no access_token")),
        })
    }
}

/// Returns the message of an error that has a status of success, as some token URLs respond.
fn refusal_in(response: &Response) -> Option<String> {
    let body: Value = serde_json::from_slice(&response.body).ok()?;
    let is_error = body.get("error").is_some_and(|error| !error.is_null());
    (is_error && body.get("access_token").is_none()).then(|| response.said())
}

fn refusal(error: HttpError) -> TokenError {
    match (error.kind(), error.status()) {
        (ErrorKind::Configuration, _) => TokenError::Configuration(error.to_string()),
        (_, Some(408 | 425 | 429)) => TokenError::Unreachable(error),
        (_, Some(400..=499)) => TokenError::Refused(error),
        _ => TokenError::Unreachable(error),
    }
}

/// Parses the response. Errors do not describe it, as it may contain the token.
fn granted(answer: &[u8], asked: Instant) -> Option<Granted> {
    let answer: Value = serde_json::from_slice(answer).ok()?;
    let token = answer.get("access_token")?.as_str()?;
    let seconds = match answer.get("expires_in") {
        Some(Value::String(text)) => text.parse().ok(),
        Some(number) => number.as_f64(),
        None => None,
    };
    Some(Granted {
        access_token: SecretString::from(token),
        until: seconds.and_then(lifetime).map(|life| asked + life),
    })
}

/// Returns the time after which to replace a token: `seconds` less 30, or half of it if it is under 60.
fn lifetime(seconds: f64) -> Option<Duration> {
    let life = Duration::try_from_secs_f64(seconds)
        .ok()?
        .min(Duration::from_secs(LONGEST));
    Some(life.saturating_sub(EARLY).max(life / 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tokens_are_replaced_before_their_end() {
        assert_eq!(lifetime(1800.0), Some(Duration::from_secs(1770)));
        assert_eq!(lifetime(40.0), Some(Duration::from_secs(20)));
        assert_eq!(lifetime(0.0), Some(Duration::ZERO));
        assert_eq!(lifetime(-1.0), None);
        assert_eq!(lifetime(1e300), None);
    }

    #[test]
    fn expires_in_is_read_in_any_form() {
        let now = Instant::now();
        let until = |answer: Value| {
            granted(answer.to_string().as_bytes(), now)
                .unwrap()
                .until
                .map(|until| until - now)
        };
        let life = Some(Duration::from_secs(1770));
        assert_eq!(until(json!({ "access_token": "t", "expires_in": 1800 })), life);
        assert_eq!(until(json!({ "access_token": "t", "expires_in": "1800" })), life);
        assert_eq!(until(json!({ "access_token": "t" })), None);
        assert!(granted(br#"{ "access_token": 7 }"#, now).is_none());
        assert!(granted(b"token", now).is_none());
    }
}
