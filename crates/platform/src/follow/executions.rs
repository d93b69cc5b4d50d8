//! Waits until an execution ends.

use super::{Pace, PollEnd};
use crate::api::{ApiValue, Execution, ExecutionResponse, Platform};
use crate::http::{ErrorKind, HttpError, SILENCE_LIMIT};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

/// Returns how the execution ended, or `None` if it has not ended. With an unknown status, an execution has failed if it
/// has an end time; otherwise it is still open.
pub fn find_execution_end(execution: &Execution) -> Option<PollEnd> {
    if execution.has_succeeded() {
        return Some(PollEnd::Succeeded);
    }
    let has_failed = !execution.is_running() && (execution.has_failed() || execution.finished_at.is_some());
    has_failed.then_some(PollEnd::Failed)
}

/// Time after the start of an execution during which the platform may not show the execution yet.
pub const APPEARANCE_LIMIT: Duration = Duration::from_secs(10);

/// Returns whether a new execution may appear later: the platform responded with 404, or with 2xx and an unusable body.
fn may_appear_later(error: &HttpError) -> bool {
    match error.kind() {
        ErrorKind::NotFound => true,
        ErrorKind::BadResponse => error.is_accepted(),
        _ => false,
    }
}

/// Describes the wait for an execution that the platform does not show yet.
fn describe_absence(id: &str, appearance_limit: Duration) -> String {
    format!(
        "waiting for the platform to show execution {id}, at most {} s",
        appearance_limit.as_secs()
    )
}

/// Polls until the execution ends or the deadline of `pace` passes, and returns the last response. `report_status` gets
/// each new status. An unknown execution is an error only after `appearance_limit`, because the platform may not show a
/// new execution at once.
pub async fn poll_execution(
    platform: &Platform,
    project: Uuid,
    id: &str,
    mut pace: Pace,
    appearance_limit: Duration,
    mut report_status: impl FnMut(&Execution),
) -> Result<(ApiValue<ExecutionResponse>, PollEnd), HttpError> {
    let (mut last_status, mut last_response) = (None, None);
    let start = Instant::now();
    let mut is_absence_reported = false;
    loop {
        let result = match pace
            .await_before_deadline(platform.fetch_execution(project, id))
            .await
        {
            Ok(result) => result,
            Err(error) => {
                return last_response
                    .map(|response| (response, PollEnd::Deadline))
                    .ok_or(error);
            }
        };
        let response = match result {
            Err(error) if may_appear_later(&error) && start.elapsed() < appearance_limit => {
                let pause = pace.pause();
                // `pause` returns false if the deadline has passed.
                let has_time = if is_absence_reported {
                    pause.await
                } else {
                    let silence = sleep_until(start + SILENCE_LIMIT);
                    let has_time = platform
                        .observer()
                        .await_with_report_after(pause, silence, || describe_absence(id, appearance_limit))
                        .await;
                    is_absence_reported = start.elapsed() >= SILENCE_LIMIT;
                    has_time
                };
                if has_time {
                    continue;
                }
                return Err(error);
            }
            result => result?,
        };
        if response.result.status != last_status {
            last_status.clone_from(&response.result.status);
            report_status(&response.result);
        }
        match find_execution_end(&response.result) {
            Some(end) => return Ok((response, end)),
            None if pace.pause().await => last_response = Some(response),
            None => return Ok((response, PollEnd::Deadline)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_success_is_a_success_and_unknown_words_end_nothing() {
        let found = |status: Option<&str>, finished: Option<&str>| {
            find_execution_end(&Execution {
                status: status.map(str::to_owned),
                finished_at: finished.map(str::to_owned),
                ..Execution::default()
            })
        };
        for word in ["RUNNING", "running", "QUEUED", "PAUSED"] {
            assert_eq!(found(Some(word), None), None, "{word}");
        }
        for word in ["FAILED", "FAILURE", "ERROR", "CANCELLED", "SKIPPED", "Cancelled"] {
            assert_eq!(found(Some(word), None), Some(PollEnd::Failed), "{word}");
        }
        assert_eq!(found(Some("SUCCESS"), None), Some(PollEnd::Succeeded));
        assert_eq!(found(Some("GREAT"), Some("now")), Some(PollEnd::Failed));
        assert_eq!(found(None, None), None);
        assert_eq!(found(None, Some("now")), Some(PollEnd::Failed));
    }
}
