//! Who calls: bearer tokens and the roles that they carry.
//!
//! Only digests of tokens are kept, and a presented token is compared with every one of them in the same time, so
//! that neither memory nor timing tells anything about them.

use super::app::App;
use super::error::ServiceError;
use super::openapi;
use super::options::Role;
use super::problem::Problem;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use uuid::Uuid;

type TokenDigest = [u8; 32];

/// The known tokens.
#[derive(Debug)]
pub struct Tokens(Vec<(TokenDigest, Caller)>);

/// Who sent a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The account role of the token.
    pub role: Role,
}

impl Tokens {
    /// The digests of these tokens.
    pub fn new(given: &[(SecretString, Role)]) -> Result<Self, ServiceError> {
        let mut known: Vec<(TokenDigest, Caller)> = Vec::with_capacity(given.len());
        for (token, role) in given {
            let text = token.expose_secret();
            if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(ServiceError::UnusableToken);
            }
            let digest = digest_of(text);
            if known.iter().any(|(other, _)| *other == digest) {
                return Err(ServiceError::TokenTwice);
            }
            known.push((digest, Caller { role: *role }));
        }
        Ok(Self(known))
    }

    /// The caller whose token the `Authorization` header carries.
    fn caller(&self, headers: &HeaderMap) -> Option<Caller> {
        let presented = digest_of(bearer_token(headers)?);
        let mut found = None;
        for (known, caller) in &self.0 {
            if equal(known, &presented) {
                found = Some(*caller);
            }
        }
        found
    }
}

/// A new token with 244 random bits.
pub fn generate_token() -> SecretString {
    format!("sg_{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()).into()
}

fn digest_of(token: &str) -> TokenDigest {
    Sha256::digest(token.as_bytes()).into()
}

fn equal(a: &TokenDigest, b: &TokenDigest) -> bool {
    a.iter().zip(b).fold(0, |difference, (x, y)| difference | (x ^ y)) == 0
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Lets only known callers through; everything else about a request is looked at later. The description of the API
/// is open, so that tools can read it.
pub async fn authenticate(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if reads && request.uri().path() == openapi::PATH {
        return next.run(request).await;
    }
    let Some(caller) = app.tokens().caller(request.headers()) else {
        return Problem::unauthorized().into_response();
    };
    request.extensions_mut().insert(caller);
    next.run(request).await
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get().copied().ok_or_else(Problem::unauthorized)
    }
}

/// A caller who may use the shared pipeline endpoints; 403 for others.
#[derive(Debug, Clone, Copy)]
pub struct Admin;

impl<S: Sync> FromRequestParts<S> for Admin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, state).await?;
        if caller.role.is_admin() {
            return Ok(Self);
        }
        Err(Problem::forbidden(
            "shared pipelines need the account role Admin or Super Admin",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(authorization: &str) -> HeaderMap {
        let value = authorization.parse().unwrap();
        HeaderMap::from_iter([(header::AUTHORIZATION, value)])
    }

    #[test]
    fn a_caller_is_found_by_the_whole_token_only() {
        let tokens = Tokens::new(&[("one".into(), Role::Admin), ("two".into(), Role::Member)]).unwrap();
        let role = |value: &str| tokens.caller(&headers(value)).map(|caller| caller.role);
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
        assert_eq!(tokens.caller(&HeaderMap::new()), None);
    }

    #[test]
    fn tokens_that_cannot_be_told_apart_or_sent_are_refused() {
        let twice = Tokens::new(&[("one".into(), Role::Admin), ("one".into(), Role::Member)]);
        assert!(matches!(twice, Err(ServiceError::TokenTwice)));
        for unusable in ["", "a b", "a\n", "ü"] {
            let tokens = Tokens::new(&[(unusable.into(), Role::Admin)]);
            assert!(matches!(tokens, Err(ServiceError::UnusableToken)), "{unusable:?}");
        }
    }

    #[test]
    fn generated_tokens_differ_and_do_not_show_themselves() {
        let (one, two) = (generate_token(), generate_token());
        assert_ne!(one.expose_secret(), two.expose_secret());
        assert!(!format!("{one:?}").contains(one.expose_secret()));
        assert!(Tokens::new(&[(one, Role::SuperAdmin)]).is_ok());
    }
}
