//! The time limit of a request that `doctor` sends, and the reason for a missing response.

use crate::error::Failure;
use crate::exit::ExitStatus;
use sluicegate_platform::http::HttpError;
use std::time::Duration;

/// The reason for a missing response.
pub(super) enum NoResponse {
    Failed(HttpError),
    TimedOut(Duration),
}

impl From<NoResponse> for Failure {
    /// Returns the failure that a check reports for a request without a usable response.
    fn from(no_response: NoResponse) -> Self {
        match no_response {
            NoResponse::Failed(error) => error.into(),
            NoResponse::TimedOut(limit) => {
                undecided_failure(format!("no response within {} s", limit.as_secs()))
            }
        }
    }
}

/// Waits for the request, but at most for `limit`.
pub(super) async fn with_timeout(
    limit: Duration,
    request: impl Future<Output = Result<(), HttpError>>,
) -> Result<(), NoResponse> {
    match tokio::time::timeout(limit, request).await {
        Ok(result) => result.map_err(NoResponse::Failed),
        Err(_) => Err(NoResponse::TimedOut(limit)),
    }
}

/// Returns the failure of a check whose result is unknown.
pub(super) fn undecided_failure(message: String) -> Failure {
    Failure::from_message(ExitStatus::Undecided, message)
}
