//! Requests whose only use is the hint of an error: sent once and for a few seconds, so that the error itself is not late.

use super::HttpError;
use std::time::Duration;
use tokio::time::timeout;

/// How long a list that is read for a hint may take, with all of its pages.
const LIMIT: Duration = Duration::from_secs(5);

tokio::task_local! {
    static FOR_HINT: ();
}

/// Reads what a hint names, without retries and for at most 5 seconds; `None` if that did not succeed.
pub async fn for_hint<T>(read: impl Future<Output = Result<T, HttpError>>) -> Option<T> {
    let once = FOR_HINT.scope((), read);
    timeout(LIMIT, once).await.ok()?.ok()
}

/// Whether the current request is sent for a hint.
pub(super) fn is_for_hint() -> bool {
    FOR_HINT.try_with(|()| ()).is_ok()
}
