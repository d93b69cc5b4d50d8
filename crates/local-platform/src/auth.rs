//! Authenticates callers and makes them available to handlers.

use super::app::App;
use super::options::Role;
use super::problem::Problem;
use super::tokens::Caller;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Path of the API description, the only path that is served without a token, so that tools can read it.
const DESCRIPTION_PATH: &str = "/openapi.json";

/// Rejects a request without a known token before anything else about the request is checked. Only the API description
/// can be read without a token. Attaches the caller to the request, for the handlers.
pub(super) async fn authenticate(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_read && request.uri().path() == DESCRIPTION_PATH {
        return next.run(request).await;
    }
    let Some(caller) = app.tokens().find_caller(request.headers()) else {
        return Problem::unauthorized().into_response();
    };
    request.extensions_mut().insert(caller);
    next.run(request).await
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    /// Returns the caller that [`authenticate`] attached to the request, or a 401 if there is no caller.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get().cloned().ok_or_else(Problem::unauthorized)
    }
}

/// A caller who may use the shared pipeline endpoints; all others get a 403.
#[derive(Debug, Clone)]
pub(super) struct Admin(pub Caller);

impl<S: Sync> FromRequestParts<S> for Admin {
    type Rejection = Problem;

    /// Accepts the request only if its token has a role that may manage shared pipelines.
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, state).await?;
        if caller.role.is_admin() {
            return Ok(Self(caller));
        }
        Err(Problem::forbidden(
            "access to shared pipelines requires the account role Admin or Super Admin",
        ))
    }
}

/// A caller who may read the audit log; all others get a 403.
#[derive(Debug, Clone)]
pub(super) struct SuperAdmin;

impl<S: Sync> FromRequestParts<S> for SuperAdmin {
    type Rejection = Problem;

    /// Accepts the request only if its token has the role that may read the audit log.
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Caller::from_request_parts(parts, state).await?.role {
            Role::SuperAdmin => Ok(Self),
            Role::Admin | Role::Member => Err(Problem::forbidden(
                "access to the audit log requires the account role Super Admin",
            )),
        }
    }
}
