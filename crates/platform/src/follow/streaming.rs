//! Waits until a streaming pipeline is in a given state.

use super::{Pace, PollEnd};
use crate::api::{ApiValue, Platform, StreamingStatus};
use crate::http::HttpError;
use uuid::Uuid;

/// Polls the status of a streaming pipeline until it is `target_status`, in any letter case, or the deadline passes.
/// Calls `report_status` for each new status before that.
pub async fn poll_streaming_status(
    platform: &Platform,
    project: Uuid,
    id: &str,
    target_status: &str,
    mut pace: Pace,
    mut report_status: impl FnMut(&str),
) -> Result<(ApiValue<StreamingStatus>, PollEnd), HttpError> {
    let (mut earlier_status, mut last_response) = (None, None);
    loop {
        let response = match pace
            .await_before_deadline(platform.fetch_streaming_status(project, id))
            .await
        {
            Ok(result) => result?,
            Err(error) => {
                return last_response
                    .map(|response| (response, PollEnd::Deadline))
                    .ok_or(error);
            }
        };
        let status = response.status.clone().unwrap_or_default();
        if status.eq_ignore_ascii_case(target_status) {
            return Ok((response, PollEnd::Succeeded));
        }
        if earlier_status.as_ref() != Some(&status) {
            report_status(&status);
            earlier_status = Some(status);
        }
        if !pace.pause().await {
            return Ok((response, PollEnd::Deadline));
        }
        last_response = Some(response);
    }
}
