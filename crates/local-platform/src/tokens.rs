//! The callers: bearer tokens and their roles.
//!
//! Only digests of tokens are stored, and a token in a request is compared with all of them in constant time, so that
//! neither memory nor timing reveals a token.

use super::body_check::find_single_header;
use super::error::ServiceError;
use super::options::Role;
use axum::http::{HeaderMap, header};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use uuid::Uuid;

type TokenDigest = [u8; 32];

#[derive(Debug)]
pub(super) struct KnownTokens(Vec<(TokenDigest, Caller)>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Caller {
    /// The account role of the token.
    pub role: Role,
    /// The user that the token belongs to.
    pub user: Arc<User>,
}

/// The user of a token. There are no accounts here, so the name of a user consists of the role and the number of the
/// token.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct User {
    /// An ID that is the same at every start with the same tokens.
    pub id: Uuid,
    /// An address in a domain that is reserved for examples (RFC 2606).
    pub email: String,
}

impl User {
    /// Creates the user of the `number`-th token with this role, counted from 1. The user's ID is derived from the
    /// email address, so that it stays the same after a restart.
    fn new(role: Role, number: usize) -> Self {
        let email = match number {
            1 => format!("{role}@platform.example"),
            number => format!("{role}-{number}@platform.example"),
        };
        let mut id = [0; 16];
        id.copy_from_slice(&hash_text(&email)[..16]);
        Self {
            id: uuid::Builder::from_random_bytes(id).into_uuid(),
            email,
        }
    }
}

impl KnownTokens {
    /// Creates the list of known tokens, and stores only their digests. Returns an error if a token occurs twice
    /// or cannot be sent in a header.
    pub(super) fn new(tokens: &[(SecretString, Role)]) -> Result<Self, ServiceError> {
        let mut callers: Vec<(TokenDigest, Caller)> = Vec::with_capacity(tokens.len());
        for (token, role) in tokens {
            let text = token.expose_secret();
            if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(ServiceError::UnusableToken);
            }
            let digest = hash_text(text);
            if callers.iter().any(|(known_digest, _)| *known_digest == digest) {
                return Err(ServiceError::DuplicateToken);
            }
            let number = 1 + callers
                .iter()
                .filter(|(_, known_caller)| known_caller.role == *role)
                .count();
            let user = Arc::new(User::new(*role, number));
            callers.push((digest, Caller { role: *role, user }));
        }
        Ok(Self(callers))
    }

    /// Returns the caller with the token in the `Authorization` header, or `None` if the token is missing or unknown.
    /// Compares the token with all known tokens, even after a match, so that the time reveals nothing about any token.
    pub(super) fn find_caller(&self, headers: &HeaderMap) -> Option<Caller> {
        let presented_digest = hash_text(find_bearer_token(headers)?);
        let mut matching_caller = None;
        for (known_digest, caller) in &self.0 {
            if is_same_digest(known_digest, &presented_digest) {
                matching_caller = Some(caller);
            }
        }
        matching_caller.cloned()
    }
}

/// Generates a token with 244 random bits: two random UUIDs with 122 each.
pub(super) fn generate_token() -> SecretString {
    format!("sg_{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()).into()
}

/// Returns the SHA-256 digest of a token or of another text.
fn hash_text(text: &str) -> TokenDigest {
    Sha256::digest(text.as_bytes()).into()
}

/// Compares two digests in constant time, so that the time reveals nothing about a token.
fn is_same_digest(a: &TokenDigest, b: &TokenDigest) -> bool {
    a.iter().zip(b).fold(0, |difference, (x, y)| difference | (x ^ y)) == 0
}

/// Returns the token in the `Authorization` header; `None` if the header is missing or repeated, or its scheme is not
/// `Bearer`.
fn find_bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = find_single_header(headers, header::AUTHORIZATION.as_str()).ok()??;
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(authorization: &str) -> HeaderMap {
        let value = authorization.parse().unwrap();
        HeaderMap::from_iter([(header::AUTHORIZATION, value)])
    }

    #[test]
    fn caller_is_found_by_the_whole_token_only() {
        let tokens = KnownTokens::new(&[("one".into(), Role::Admin), ("two".into(), Role::Member)]).unwrap();
        let role = |value: &str| tokens.find_caller(&headers(value)).map(|caller| caller.role);
        assert_eq!(role("Bearer one"), Some(Role::Admin));
        assert_eq!(role("bearer  two"), Some(Role::Member));
        for wrong in [
            "Bearer on",
            "Bearer onee",
            "Bearer ",
            "one",
            "Basic one",
            "Bearer one two",
        ] {
            assert_eq!(role(wrong), None, "{wrong}");
        }
        assert_eq!(tokens.find_caller(&HeaderMap::new()), None);
    }

    #[test]
    fn token_has_same_user_after_restart() {
        let given = [
            ("a".into(), Role::Admin),
            ("b".into(), Role::Admin),
            ("c".into(), Role::Member),
        ];
        let users = || {
            let known = KnownTokens::new(&given).unwrap().0;
            known
                .into_iter()
                .map(|(_, caller)| caller.user)
                .collect::<Vec<_>>()
        };
        let emails: Vec<String> = users().iter().map(|user| user.email.clone()).collect();
        let expected = [
            "admin@platform.example",
            "admin-2@platform.example",
            "member@platform.example",
        ];
        assert_eq!(emails, expected);
        assert_eq!(users(), users());
        assert_ne!(users()[0].id, users()[1].id);
    }

    #[test]
    fn equal_or_unsendable_tokens_are_refused() {
        let twice = KnownTokens::new(&[("one".into(), Role::Admin), ("one".into(), Role::Member)]);
        assert!(matches!(twice, Err(ServiceError::DuplicateToken)));
        for unusable in ["", "a b", "a\n", "ü"] {
            let tokens = KnownTokens::new(&[(unusable.into(), Role::Admin)]);
            assert!(matches!(tokens, Err(ServiceError::UnusableToken)), "{unusable:?}");
        }
    }

    #[test]
    fn generated_tokens_differ_and_do_not_show_themselves() {
        let (one, two) = (generate_token(), generate_token());
        assert_ne!(one.expose_secret(), two.expose_secret());
        assert!(!format!("{one:?}").contains(one.expose_secret()));
        assert!(KnownTokens::new(&[(one, Role::SuperAdmin)]).is_ok());
    }
}
