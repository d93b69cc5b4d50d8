//! The request that a wait with a deadline is about, so that the error at the deadline says what happened so far.

use super::HttpError;
use super::request::Request;
use sluicegate_base::mutex_lock::lock_mutex;
use std::sync::{Arc, Mutex};
use tokio::time::{Instant, timeout_at};

tokio::task_local! {
    static PENDING: PendingRequest;
}

/// The error that ends a wait now: the last failed try of the pending request or, before that, the missing response.
#[derive(Clone, Default)]
struct PendingRequest(Arc<Mutex<Option<HttpError>>>);

impl PendingRequest {
    fn record(&self, error: HttpError) {
        *lock_mutex(&self.0) = Some(error);
    }

    fn take_error(&self) -> Option<HttpError> {
        lock_mutex(&self.0).take()
    }
}

/// Awaits requests until `end`. If they take longer, fails with the last failed try of the request that is pending
/// then, because its response is the reason for the wait; without such a try, the error says that no response arrived.
pub(crate) async fn await_until<T>(end: Instant, requests: impl Future<Output = T>) -> Result<T, HttpError> {
    let pending = PendingRequest::default();
    timeout_at(end, PENDING.scope(pending.clone(), requests))
        .await
        .map_err(|_| {
            pending
                .take_error()
                .unwrap_or_else(no_response_error)
                .with_hint("pass a longer --timeout to keep waiting")
        })
}

/// Records that this request is sent and has no response yet.
pub(super) fn record_start(request: &Request) {
    let _ = PENDING.try_with(|pending| pending.record(no_response_error().with_subject(&request.subject())));
}

/// Records that a try of the pending request failed with this error and will be repeated.
pub(super) fn record_failed_try(error: &HttpError) {
    let _ = PENDING.try_with(|pending| pending.record(error.clone()));
}

fn no_response_error() -> HttpError {
    HttpError::timeout("no response arrived within the timeout")
}
