//! OAuth 2 client credentials: <https://www.rfc-editor.org/rfc/rfc6749#section-4.4>.

use crate::http::request::Request;
use crate::http::retry::Repeat;
use crate::http::token_value::TokenError;
use crate::http::transport::Transport;
use crate::http::{ErrorKind, HttpError, Response};
use reqwest::{Method, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use sluicegate_base::duplicate_key::find_duplicate_key;
use sluicegate_base::input::strip_byte_order_mark;
use std::time::Duration;
use tokio::time::Instant;

/// Time before its expiry at which a token is replaced, so that it does not expire on its way to the server.
const RENEWAL_MARGIN: Duration = Duration::from_secs(30);

/// Maximum lifetime that is accepted, in seconds; after it, a new token is requested in any case.
const MAX_LIFETIME_SECONDS: u64 = 24 * 60 * 60;

/// The client credentials and the token URL.
pub(super) struct OauthClient<'a> {
    pub(super) token_url: &'a Url,
    pub(super) id: &'a str,
    pub(super) secret: &'a SecretString,
    pub(super) audience: Option<&'a str>,
}

pub(super) struct AccessToken {
    pub(super) secret: SecretString,
    pub(super) expires_at: Option<Instant>,
}

impl OauthClient<'_> {
    /// Requests a token from the token URL. A second request does no harm, so the request is retried like a read.
    pub(super) async fn request_token(&self, transport: &Transport) -> Result<AccessToken, TokenError> {
        if !matches!(self.token_url.scheme(), "http" | "https") {
            return Err(TokenError::configuration(
                "the token URL is neither https nor http",
                "set SLUICEGATE_TOKEN_URL to a URL that begins with https://",
            ));
        }
        let mut form = vec![
            ("grant_type", "client_credentials"),
            ("client_id", self.id),
            ("client_secret", self.secret.expose_secret()),
        ];
        form.extend(self.audience.map(|audience| ("audience", audience)));
        let request = Request::new(Method::POST, self.token_url.clone(), Repeat::Safe)
            .read_only()
            .with_form(&form)
            .with_secret(self.secret.clone())
            .without_query_in_errors();
        let request_time = Instant::now();
        let no_token = None;
        let response = transport
            .send(&request, no_token)
            .await
            .map_err(into_token_error)?;
        // The response has no earlier pages.
        let earlier_memory = 0;
        response.check_memory(earlier_memory).map_err(into_token_error)?;
        if let Some(reason) = find_duplicate_key(strip_byte_order_mark(&response.body)) {
            return Err(into_token_error(response.unusable_error(&reason)));
        }
        parse_access_token(&response.body, request_time).ok_or_else(|| {
            match find_refusal_message(&response) {
                Some(message) => TokenError::Refused(response.unusable_error(&message)),
                None => into_token_error(response.unusable_error("the response contains no `access_token`")),
            }
        })
    }
}

/// Returns the message of an error that some token URLs send with a status of success; `None` if the response is not
/// such an error.
fn find_refusal_message(response: &Response) -> Option<String> {
    let body: Value = serde_json::from_slice(&response.body).ok()?;
    let is_error = body.get("error").is_some_and(|error| !error.is_null());
    (is_error && body.get("access_token").is_none()).then(|| response.message_text())
}

/// Converts an error of the token URL to the kind that determines the hint: unusable settings, refused credentials
/// (4xx), or an unreachable server. The statuses 408, 425 and 429 do not reject the credentials.
fn into_token_error(error: HttpError) -> TokenError {
    match (error.kind(), error.status()) {
        (ErrorKind::Configuration, _) => TokenError::configuration(
            error.to_string(),
            "correct SLUICEGATE_TOKEN_URL and the certificate settings",
        ),
        (_, Some(408 | 425 | 429)) => TokenError::Unreachable(error),
        (_, Some(400..=499)) => TokenError::Refused(error),
        _ => TokenError::Unreachable(error),
    }
}

/// Returns the token in the response and, if `expires_in` is a valid number or string, the time to replace the token;
/// `None` if there is no token. The reason why a response is invalid is not returned, because it may contain the token.
fn parse_access_token(body: &[u8], request_time: Instant) -> Option<AccessToken> {
    let response: Value = serde_json::from_slice(strip_byte_order_mark(body)).ok()?;
    let token = response.get("access_token")?.as_str()?;
    if token.trim().is_empty() {
        return None;
    }
    let seconds = match response.get("expires_in") {
        Some(Value::String(text)) => text.parse().ok(),
        Some(number) => number.as_f64(),
        None => None,
    };
    Some(AccessToken {
        secret: SecretString::from(token),
        expires_at: seconds.and_then(renewal_delay).map(|delay| request_time + delay),
    })
}

/// Returns the time after which to replace a token that is valid for `seconds`: 30 seconds before it expires, but not
/// before half of its lifetime. A lifetime above [`MAX_LIFETIME_SECONDS`] is reduced. Returns `None` for an invalid
/// lifetime.
fn renewal_delay(seconds: f64) -> Option<Duration> {
    let lifetime = Duration::try_from_secs_f64(seconds)
        .ok()?
        .min(Duration::from_secs(MAX_LIFETIME_SECONDS));
    Some(lifetime.saturating_sub(RENEWAL_MARGIN).max(lifetime / 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tokens_are_replaced_before_their_end() {
        assert_eq!(renewal_delay(1800.0), Some(Duration::from_secs(1770)));
        assert_eq!(renewal_delay(40.0), Some(Duration::from_secs(20)));
        assert_eq!(renewal_delay(0.0), Some(Duration::ZERO));
        assert_eq!(renewal_delay(-1.0), None);
        assert_eq!(renewal_delay(1e300), None);
    }

    #[test]
    fn expires_in_is_read_in_any_form() {
        let now = Instant::now();
        let until = |answer: Value| {
            parse_access_token(answer.to_string().as_bytes(), now)
                .unwrap()
                .expires_at
                .map(|until| until - now)
        };
        let life = Some(Duration::from_secs(1770));
        assert_eq!(until(json!({ "access_token": "t", "expires_in": 1800 })), life);
        assert_eq!(until(json!({ "access_token": "t", "expires_in": "1800" })), life);
        assert_eq!(until(json!({ "access_token": "t" })), None);
        assert!(parse_access_token(br#"{ "access_token": 7 }"#, now).is_none());
        assert!(parse_access_token(br#"{ "access_token": " " }"#, now).is_none());
        assert!(parse_access_token(b"token", now).is_none());
    }
}
