//! Requests that only serve the hint of an error: without retries and for a few seconds, so that the error is not late.

use super::HttpError;
use std::time::Duration;
use tokio::time::timeout;

/// Time limit for reading a list for a hint, all pages included.
const HINT_TIMEOUT: Duration = Duration::from_secs(5);

tokio::task_local! {
    static FOR_HINT: ();
}

/// Awaits a request whose response only improves a hint. The request is not retried and may take 5 seconds; `None` if
/// it failed.
pub async fn request_for_hint<T>(request: impl Future<Output = Result<T, HttpError>>) -> Option<T> {
    timeout(HINT_TIMEOUT, FOR_HINT.scope((), request))
        .await
        .ok()?
        .ok()
}

/// Returns whether the current request is sent within [`request_for_hint`].
pub(super) fn is_for_hint() -> bool {
    FOR_HINT.try_with(|()| ()).is_ok()
}
