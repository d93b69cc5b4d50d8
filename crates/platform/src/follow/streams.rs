//! Waits until a streaming pipeline is in a given state.

use super::{End, Pace, silent};
use crate::api::{Answer, Platform, StreamingStatus};
use crate::http::HttpError;
use uuid::Uuid;

/// Polls until the status is `wanted`, compared without case; calls `told` for each new status.
pub async fn stream(
    platform: &Platform,
    (project, id): (Uuid, &str),
    wanted: &str,
    mut pace: Pace,
    mut told: impl FnMut(&str),
) -> Result<(Answer<StreamingStatus>, End), HttpError> {
    let (mut before, mut last) = (None, None);
    loop {
        let Some(answer) = pace.in_time(platform.streaming_status(project, id)).await else {
            return last.map(|answer| (answer, End::Deadline)).ok_or_else(silent);
        };
        let answer = answer?;
        let status = answer.status.clone().unwrap_or_default();
        if status.eq_ignore_ascii_case(wanted) {
            return Ok((answer, End::Good));
        }
        if before.as_ref() != Some(&status) {
            told(&status);
            before = Some(status);
        }
        if !pace.pause().await {
            return Ok((answer, End::Deadline));
        }
        last = Some(answer);
    }
}
