//! A bearer token that can be sent, or the reason why there is no token.

use super::{ErrorKind, HttpError};
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use sluicegate_base::unexpanded_value::UnexpandedValue;
use tokio::time::Instant;

/// The reason why there is no token.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum TokenError {
    /// The configured file, command, URL or value cannot be used.
    #[error("no usable token: {reason}")]
    Configuration {
        reason: String,
        /// The next step for this cause.
        hint: &'static str,
    },
    /// The token URL rejected the client (4xx).
    #[error("no usable token: {0}")]
    Refused(HttpError),
    /// The token URL could not be reached, or gave no usable response.
    #[error("no usable token: {0}")]
    Unreachable(HttpError),
}

impl TokenError {
    /// Creates the error for a setting of the token that cannot be used.
    pub(super) fn configuration(reason: impl Into<String>, hint: &'static str) -> Self {
        Self::Configuration {
            reason: reason.into(),
            hint,
        }
    }
}

impl From<TokenError> for HttpError {
    /// Converts the error to the error of the request that needs the token.
    fn from(error: TokenError) -> Self {
        let message = error.to_string();
        match error {
            TokenError::Configuration { hint, .. } => {
                Self::new(ErrorKind::Configuration, message).with_hint(hint)
            }
            TokenError::Refused(cause) => {
                Self::new(ErrorKind::Unauthorized, message).with_hint(match cause.status() {
                    Some(404 | 405 | 410) => {
                        "check the token URL (SLUICEGATE_TOKEN_URL): nothing issues tokens there"
                    }
                    Some(407) => {
                        "set the proxy credentials in HTTP_PROXY or ALL_PROXY: http://user:password@host"
                    }
                    _ => "check the client id, the client secret and the audience",
                })
            }
            // The general hint for a bad response is about the platform's API, not about the token URL.
            TokenError::Unreachable(cause) if cause.kind() == ErrorKind::BadResponse => {
                Self::new(cause.kind(), message).with_hint(
                    "check that the token URL (SLUICEGATE_TOKEN_URL) issues tokens for client credentials",
                )
            }
            TokenError::Unreachable(cause) => {
                // The general hints name the platform, but the request to the token URL failed.
                let hint = cause
                    .hint()
                    .replace("base URL", "token URL")
                    .replace("the platform", "the token server");
                Self::new(cause.kind(), message).with_hint(hint)
            }
        }
    }
}

/// A token that can be sent.
#[derive(Clone)]
pub(super) struct Token {
    pub(super) secret: SecretString,
    pub(super) header: HeaderValue,
    /// Time at which the token must be replaced.
    pub(super) expires_at: Option<Instant>,
}

impl Token {
    /// Creates a token from a text. Removes a byte order mark, surrounding blanks and the prefix `Bearer`. Rejects an
    /// unexpanded variable and any character that a token cannot contain. `origin` names the source of the token in
    /// errors, which never show the token.
    pub(super) fn new(text: &str, expires_at: Option<Instant>, origin: &str) -> Result<Self, TokenError> {
        let trimmed_text = text.trim_start_matches('\u{feff}').trim();
        let text = trimmed_text
            .strip_prefix("Bearer ")
            .unwrap_or(trimmed_text)
            .trim_start();
        if text.is_empty() {
            return Err(TokenError::configuration(
                format!("the token from {origin} is empty"),
                "check that the secret has a value and that this job may read it",
            ));
        }
        if let Some(value) = UnexpandedValue::find(text) {
            let (description, hint) = describe_unexpanded(value);
            let reason = format!("the token from {origin} is {description}");
            return Err(TokenError::configuration(reason, hint));
        }
        if let Some(position) = text.bytes().position(|byte| !byte.is_ascii_graphic()) {
            let reason = format!(
                "the token from {origin} contains a blank or a character that no header allows, at byte {position} of {}",
                text.len()
            );
            return Err(TokenError::configuration(reason, ONLY_TOKEN_HINT));
        }
        if let Some(character) = text
            .chars()
            .find(|character| FORBIDDEN_CHARACTERS.contains(character))
        {
            let reason = format!(
                "the token from {origin} contains `{character}`, which is not allowed in a bearer token: a variable may not have been expanded"
            );
            return Err(TokenError::configuration(reason, ONLY_TOKEN_HINT));
        }
        let mut header = HeaderValue::from_str(&format!("Bearer {text}")).map_err(|_| {
            TokenError::configuration("the token cannot be sent in a header", ONLY_TOKEN_HINT)
        })?;
        header.set_sensitive(true);
        Ok(Self {
            secret: SecretString::from(text),
            header,
            expires_at,
        })
    }

    /// Returns whether the token need not be replaced yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.expires_at.is_none_or(|expiry| Instant::now() < expiry)
    }

    /// Returns whether both tokens have the same text and the same expiry.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.secret.expose_secret() == other.secret.expose_secret() && self.expires_at == other.expires_at
    }
}

/// Characters of scripts that are not allowed in a bearer token: <https://www.rfc-editor.org/rfc/rfc6750#section-2.1>.
const FORBIDDEN_CHARACTERS: [char; 6] = ['$', '(', ')', '{', '}', '"'];

/// The hint for a token with other characters than a token can have.
const ONLY_TOKEN_HINT: &str = "set the token itself, without any other text";

/// Describes an unexpanded text, for a message that begins with "the token is", and returns the hint for it. The text
/// may be a secret, so no part of it is shown.
const fn describe_unexpanded(unexpanded_value: UnexpandedValue<'_>) -> (&'static str, &'static str) {
    match unexpanded_value {
        UnexpandedValue::Expression(_) => (
            "an expression in `{{ }}` that was not replaced with its value",
            "write the expression where the CI host replaces expressions, for example in the job's `env`",
        ),
        UnexpandedValue::Variable(_) => (
            "the name of a variable that was not replaced with its value",
            "define the variable for this job; single quotes in a shell prevent the replacement",
        ),
        UnexpandedValue::Quotes => (
            "in quotes, which are not part of a token",
            "remove the quotes around the token",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARIABLE: &str = "the name of a variable that was not replaced with its value";

    #[test]
    fn token_that_no_header_can_carry_is_not_shown() {
        for text in ["abc def", "abc\ndef", "abcdéf", "abc\u{0}def"] {
            let error = Token::new(text, None, "X").err().unwrap();
            assert!(!error.to_string().contains("abc"), "{error}");
            assert!(!format!("{error:?}").contains("abc"), "{error:?}");
        }
        let token = Token::new("\u{feff} Bearer abc\r\n", None, "X").ok().unwrap();
        assert_eq!(token.secret.expose_secret(), "abc");
        assert!(token.header.is_sensitive());
        for (text, what) in [
            ("$(SLUICEGATE_TOKEN)", VARIABLE),
            ("$TOKEN", VARIABLE),
            ("Bearer ${TOKEN}", VARIABLE),
            ("%TOKEN%", VARIABLE),
            (
                "${{ secrets.TOKEN }}",
                "an expression in `{{ }}` that was not replaced with its value",
            ),
            ("\"abc\"", "in quotes, which are not part of a token"),
            ("'abc'", "in quotes, which are not part of a token"),
        ] {
            let error = Token::new(text, None, "SLUICEGATE_TOKEN")
                .err()
                .unwrap()
                .to_string();
            assert_eq!(
                error,
                format!("no usable token: the token from SLUICEGATE_TOKEN is {what}")
            );
        }
        for text in ["a$b", "f(x", "a}", "a\"b"] {
            let error = Token::new(text, None, "X").err().unwrap().to_string();
            assert!(
                error.contains("which is not allowed in a bearer token") && !error.contains(text),
                "{error}"
            );
        }
        for text in ["eyJhbGciOi.eyJ-_.a+/==", "dev", "a:b'c"] {
            assert!(Token::new(text, None, "X").is_ok(), "{text}");
        }
        insta::assert_snapshot!(Token::new(" \n", None, "X").err().unwrap(), @"no usable token: the token from X is empty");
    }
}
