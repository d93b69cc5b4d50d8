//! Sends the selected files in batches, several at a time, and splits a batch that is too large for the platform or
//! gets no response.

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use sluicegate_platform::api::{Platform, ReviewFields, ReviewRequest, ReviewResponse};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::collections::VecDeque;
use std::sync::mpsc::Sender;
use uuid::Uuid;

/// Number of consecutive failed batches after which the remaining ones are not sent.
const MAX_CONSECUTIVE_FAILURES: usize = 3;

/// Maximum number of batches of a run that are split because they got no response.
const MAX_SPLITS: usize = 64;

/// The parameters of the review that all batches share.
#[derive(Clone, Copy)]
pub(crate) struct ReviewParameters<'a> {
    pub project: Uuid,
    /// The `Agent-Version` header.
    pub agent_version: &'a str,
    /// The branch name on the platform's remote.
    pub branch: &'a str,
    /// The full commit id.
    pub commit: &'a str,
    pub fields: &'a ReviewFields,
}

/// The size of the batches, and the number of requests at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batching {
    /// Maximum number of files in one request; 0 is treated as 1.
    pub size: usize,
    /// Maximum number of concurrent requests; 0 is treated as 1.
    pub concurrency: usize,
}

/// Reports the progress: the number of files that are done, and the number of all files.
pub(crate) type BatchProgress<'a> = &'a dyn Fn(usize, usize);

/// The files of one batch, with the response or the error.
pub(crate) struct BatchResponse {
    pub files: Vec<String>,
    pub outcome: Result<ReviewResponse, BatchError>,
}

/// The reason why a batch has no usable response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BatchError {
    #[error(transparent)]
    Request(#[from] HttpError),
    /// The batch was not sent, because an earlier request failed. The cause of that request is also the cause of this
    /// batch, so that it is reported once.
    #[error("{cause}")]
    NotSent { cause: String },
}

impl BatchError {
    /// Returns whether the platform gave no usable response, or the request was too large or was not sent. The files of
    /// such a batch are evaluated locally. After any other error, such as a rejected token, they are not.
    pub(crate) fn allows_local_evaluation(&self) -> bool {
        match self {
            Self::Request(error) => error.is_unavailable() || error.kind() == ErrorKind::TooLarge,
            Self::NotSent { .. } => true,
        }
    }

    /// Returns the reason as text. Batches that failed for the same reason have the same text.
    pub(crate) fn cause(&self) -> String {
        match self {
            Self::Request(error) => error.message_without_details(),
            Self::NotSent { cause } => cause.clone(),
        }
    }
}

/// Requests the review of all files and passes on each batch when it is done. Each file is in exactly one batch.
///
/// A batch without a response is split, so that a file that the platform cannot review does not hide the others. If
/// nothing has responded so far, a probe decides first whether the platform responds at all; if it does not, the
/// remaining batches are not sent.
pub(crate) async fn review_in_batches(
    platform: &Platform,
    parameters: &ReviewParameters<'_>,
    files: &[String],
    batching: Batching,
    progress: BatchProgress<'_>,
    responses: Sender<BatchResponse>,
) {
    let mut queue = BatchQueue {
        responses,
        waiting_batches: files
            .chunks(batching.size.max(1))
            .map(<[String]>::to_vec)
            .collect(),
        unclear_responses: Vec::new(),
        split_count: 0,
        failure_count: 0,
        stop_cause: None,
        done_count: 0,
    };
    let mut running_tasks = FuturesUnordered::new();
    loop {
        while running_tasks.len() < batching.concurrency.max(1) && queue.can_send() {
            let Some(batch) = queue.waiting_batches.pop_front() else {
                break;
            };
            running_tasks.push(run_task(platform, parameters, BatchTask::Review(batch)));
        }
        match running_tasks.next().await {
            Some(BatchTaskOutcome::Review(response)) => {
                // The files of the batch may be the cause, or the platform responds to nothing.
                let is_unclear = response.has_no_response() && !platform.observer().has_responded();
                if is_unclear && queue.stop_cause.is_none() {
                    // One probe decides about all unclear batches, so only the first of them sends it.
                    if queue.unclear_responses.is_empty() {
                        running_tasks.push(run_task(platform, parameters, BatchTask::Probe));
                    }
                    queue.unclear_responses.push(response);
                } else {
                    queue.split_or_finish_batch(response);
                }
            }
            Some(BatchTaskOutcome::Probe { has_responded }) => queue.finish_probe(has_responded),
            None => break,
        }
        progress(queue.done_count, files.len());
    }
    queue.report_unsent_batches();
}

/// A request to the platform: a review of these files, or a probe that shows whether the platform responds.
enum BatchTask {
    Review(Vec<String>),
    Probe,
}

enum BatchTaskOutcome {
    Review(BatchResponse),
    Probe { has_responded: bool },
}

/// Sends a batch, or the probe that shows whether the platform responds at all.
async fn run_task(
    platform: &Platform,
    parameters: &ReviewParameters<'_>,
    task: BatchTask,
) -> BatchTaskOutcome {
    let BatchTask::Review(files) = task else {
        let has_responded = platform
            .send_probe(parameters.project, parameters.agent_version, parameters.fields)
            .await;
        return BatchTaskOutcome::Probe { has_responded };
    };
    let request = ReviewRequest {
        branch_name: parameters.branch.to_owned(),
        commit_id: parameters.commit.to_owned(),
        pipelines: files,
    };
    let outcome = platform
        .review(
            parameters.project,
            parameters.agent_version,
            &request,
            parameters.fields,
        )
        .await;
    BatchTaskOutcome::Review(BatchResponse {
        files: request.pipelines,
        outcome: outcome.map_err(BatchError::from),
    })
}

/// The batches that wait to be sent, and the counts that decide whether to split or send further batches.
struct BatchQueue {
    responses: Sender<BatchResponse>,
    waiting_batches: VecDeque<Vec<String>>,
    /// Failed batches that wait for the result of the probe.
    unclear_responses: Vec<BatchResponse>,
    /// Number of batches that were split because they got no response.
    split_count: usize,
    /// Number of consecutive batches that failed.
    failure_count: usize,
    /// The cause of the failure after which no batch is sent.
    stop_cause: Option<String>,
    /// Number of files whose batch is finished.
    done_count: usize,
}

impl BatchQueue {
    /// Returns whether the next batch may be sent now. While batches wait for the probe, or after the queue has
    /// stopped, no batch is sent.
    fn can_send(&self) -> bool {
        self.stop_cause.is_none() && self.unclear_responses.is_empty()
    }

    /// Passes on the response to a batch. If a smaller batch may get a response, splits the batch and queues its halves
    /// instead.
    fn split_or_finish_batch(&mut self, response: BatchResponse) {
        match &response.outcome {
            Ok(_) => self.failure_count = 0,
            Err(BatchError::Request(error)) if response.files.len() > 1 && self.spend_split(error) => {
                let middle = response.files.len() / 2;
                let mut first_half = response.files;
                let second_half = first_half.split_off(middle);
                self.waiting_batches.push_front(second_half);
                self.waiting_batches.push_front(first_half);
                return;
            }
            Err(BatchError::Request(error)) => self.count_failure(error),
            Err(BatchError::NotSent { .. }) => {}
        }
        self.done_count += response.files.len();
        self.deliver_response(response);
    }

    /// Finishes the batches that waited for the probe. If the platform does not respond, stops sending.
    fn finish_probe(&mut self, has_responded: bool) {
        let first_error = self
            .unclear_responses
            .iter()
            .find_map(|response| response.outcome.as_ref().err());
        if !has_responded && self.stop_cause.is_none() {
            self.stop_cause = first_error.map(BatchError::cause);
        }
        for response in std::mem::take(&mut self.unclear_responses) {
            self.split_or_finish_batch(response);
        }
    }

    /// Returns whether a smaller batch may get a response. A request that is too large is always split. If a batch got
    /// no response, each of its files may be the cause: only a limited number of these splits is allowed, and counted
    /// here.
    fn spend_split(&mut self, error: &HttpError) -> bool {
        if self.stop_cause.is_some() {
            return false;
        }
        if error.kind() == ErrorKind::TooLarge {
            return true;
        }
        let is_allowed = has_no_response(error) && self.split_count < MAX_SPLITS;
        self.split_count += usize::from(is_allowed);
        is_allowed
    }

    /// Passes a response on to the receiver.
    fn deliver_response(&self, response: BatchResponse) {
        // If the receiver was dropped, the run has already failed, and nobody needs the response.
        let _ = self.responses.send(response);
    }

    /// Passes on each batch that was not sent as failed, so that each file has an outcome.
    fn report_unsent_batches(mut self) {
        let cause = self.stop_cause.take().unwrap_or_default();
        for files in std::mem::take(&mut self.waiting_batches) {
            let cause = cause.clone();
            self.deliver_response(BatchResponse {
                files,
                outcome: Err(BatchError::NotSent { cause }),
            });
        }
    }

    /// Counts a failed batch. Stops sending if the next batch would fail for the same reason, or after too many
    /// consecutive failures.
    fn count_failure(&mut self, error: &HttpError) {
        self.failure_count += 1;
        let must_stop = error.kind().is_permanent() || self.failure_count >= MAX_CONSECUTIVE_FAILURES;
        if must_stop && self.stop_cause.is_none() {
            self.stop_cause = Some(error.message_without_details());
        }
    }
}

impl BatchResponse {
    /// Returns whether the batch got no usable response.
    fn has_no_response(&self) -> bool {
        matches!(&self.outcome, Err(BatchError::Request(error)) if has_no_response(error))
    }
}

/// Returns whether the request got no usable response. Status 429 is treated as a response, because a smaller batch
/// would not help.
fn has_no_response(error: &HttpError) -> bool {
    error.is_unavailable() && error.kind() != ErrorKind::OtherStatus(429)
}
