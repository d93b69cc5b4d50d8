//! Waits until an execution ends.

use super::{End, Pace, silent};
use crate::api::{Answer, Execution, ExecutionAnswer, Platform};
use crate::http::{ErrorKind, HttpError};
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExecutionStanding {
    /// It is running, or its status is unknown and it has no end time.
    Open,
    Succeeded,
    Failed,
}

/// Interprets the status of an execution. The API document shows only RUNNING; the other values are those that clients
/// encounter. An unknown status counts as the end only if the response has an end time, and then always as a failure.
pub(crate) fn standing(execution: &Execution) -> ExecutionStanding {
    let status = execution
        .status
        .as_deref()
        .unwrap_or_default()
        .to_ascii_uppercase();
    match status.as_str() {
        "SUCCESS" => ExecutionStanding::Succeeded,
        "RUNNING" | "QUEUED" => ExecutionStanding::Open,
        "FAILED" | "FAILURE" | "ERROR" | "CANCELLED" | "SKIPPED" => ExecutionStanding::Failed,
        _ if execution.finished_at.is_some() => ExecutionStanding::Failed,
        _ => ExecutionStanding::Open,
    }
}

/// Time after its start in which the platform may not show an execution yet.
pub const APPEARANCE_LIMIT: Duration = Duration::from_secs(10);

/// Returns whether the platform responded as if it did not know the execution yet: with 404, or with a body that has no
/// state.
fn is_not_shown_yet(error: &HttpError) -> bool {
    match error.kind() {
        ErrorKind::NotFound => true,
        ErrorKind::BadAnswer => error.was_accepted(),
        _ => false,
    }
}

/// Polls until the execution ends; calls `told` for each new status. During `appearance_limit`, the platform may not show
/// the execution.
pub async fn execution(
    platform: &Platform,
    (project, id): (Uuid, &str),
    mut pace: Pace,
    appearance_limit: Duration,
    mut told: impl FnMut(&Execution),
) -> Result<(Answer<ExecutionAnswer>, End), HttpError> {
    let (mut status, mut last) = (None, None);
    let begin = Instant::now();
    loop {
        let Some(answer) = pace.in_time(platform.execution(project, id)).await else {
            return last.map(|answer| (answer, End::Deadline)).ok_or_else(silent);
        };
        let answer = match answer {
            Err(error) if is_not_shown_yet(&error) && begin.elapsed() < appearance_limit => {
                if pace.pause().await {
                    continue;
                }
                return Err(error);
            }
            answer => answer?,
        };
        if answer.result.status != status {
            status.clone_from(&answer.result.status);
            told(&answer.result);
        }
        match standing(&answer.result) {
            ExecutionStanding::Succeeded => return Ok((answer, End::Good)),
            ExecutionStanding::Failed => return Ok((answer, End::Bad)),
            ExecutionStanding::Open if pace.pause().await => last = Some(answer),
            ExecutionStanding::Open => return Ok((answer, End::Deadline)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_success_is_a_success_and_unknown_words_end_nothing() {
        let found = |status: Option<&str>, finished: Option<&str>| {
            standing(&Execution {
                status: status.map(str::to_owned),
                finished_at: finished.map(str::to_owned),
                ..Execution::default()
            })
        };
        for word in ["RUNNING", "running", "QUEUED", "PAUSED"] {
            assert_eq!(found(Some(word), None), ExecutionStanding::Open, "{word}");
        }
        for word in ["FAILED", "FAILURE", "ERROR", "CANCELLED", "SKIPPED", "Cancelled"] {
            assert_eq!(found(Some(word), None), ExecutionStanding::Failed, "{word}");
        }
        assert_eq!(found(Some("SUCCESS"), None), ExecutionStanding::Succeeded);
        assert_eq!(found(Some("GREAT"), Some("now")), ExecutionStanding::Failed);
        assert_eq!(found(None, None), ExecutionStanding::Open);
        assert_eq!(found(None, Some("now")), ExecutionStanding::Failed);
    }
}
