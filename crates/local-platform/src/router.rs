//! The router of the service with its middleware.

use super::app::App;
use super::auth;
use super::drained_body::drain_unread_body;
use super::openapi;
use super::problem::{self, Problem};
use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// Builds the router of the service.
///
/// The layers, from the outside in, drain an unread body, write rejections as responses, turn a panic into a rejection
/// and authenticate the caller. They are added after the fallbacks, to apply to these, too: without a token, even a
/// request for an unknown path gets a 401.
pub(super) fn build_service_router(state: Arc<App>) -> Router {
    openapi::build_router(state.vocabulary())
        .method_not_allowed_fallback(async || Problem::method_not_allowed())
        .fallback(async || Problem::not_found("there is no endpoint at this path"))
        .layer(from_fn_with_state(Arc::clone(&state), auth::authenticate))
        .layer(from_fn(catch_panics))
        .layer(from_fn(problem::finish_response))
        .layer(from_fn(drain_unread_body))
        .with_state(state)
}

/// Turns a panic in a handler into a rejection, so that the connection and its other requests continue.
async fn catch_panics(request: Request, next: Next) -> Response {
    let result = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    result.unwrap_or_else(|_| Problem::panic_response())
}
