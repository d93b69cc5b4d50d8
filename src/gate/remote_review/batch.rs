//! Sends the selected files in batches, several at a time, and splits a batch that is too large for the platform or gets
//! no response.

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use sluicegate_platform::api::{Platform, ReviewFields, ReviewRequest, ReviewResponse};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::collections::VecDeque;
use std::sync::mpsc::Sender;
use uuid::Uuid;

/// Number of consecutive failed batches after which the remaining ones are not sent.
const FAILURES_IN_A_ROW: usize = 3;

/// Maximum number of batches of a run that are split because they got no response.
const MAX_SPLITS: usize = 64;

/// The parameters of the review that all batches share.
#[derive(Clone, Copy)]
pub(crate) struct ReviewAsked<'a> {
    pub project: Uuid,
    /// The `Agent-Version` header.
    pub agent_version: &'a str,
    /// The branch name on the platform's remote.
    pub branch: &'a str,
    /// The full commit id.
    pub commit: &'a str,
    pub fields: &'a ReviewFields,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Batching {
    /// Maximum number of files in one request; 0 counts as 1.
    pub size: usize,
    /// Maximum number of concurrent requests; 0 counts as 1.
    pub concurrency: usize,
}

/// Reports the progress: the number of files that are done, and the number of all files.
pub(crate) type BatchProgress<'a> = &'a dyn Fn(usize, usize);

/// The files of one batch, with the response or the error.
pub(crate) struct BatchAnswer {
    pub files: Vec<String>,
    pub outcome: Result<ReviewResponse, BatchError>,
}

/// The reason why a batch has no usable response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BatchError {
    #[error(transparent)]
    Request(#[from] HttpError),
    /// The batch was not sent, because earlier batches failed.
    #[error("not sent: the review stopped because several requests in a row failed")]
    NotSent,
}

impl BatchError {
    /// Returns whether the files have no review because the platform did not respond to them, or not to so many bytes.
    pub(crate) fn is_without_review(&self) -> bool {
        match self {
            Self::Request(error) => error.is_unavailable() || error.kind() == ErrorKind::TooLarge,
            Self::NotSent => true,
        }
    }

    /// Returns the reason; batches that failed for the same reason have the same text.
    pub(crate) fn cause(&self) -> String {
        match self {
            Self::Request(error) => error.cause_text(),
            Self::NotSent => self.to_string(),
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
    asked: &ReviewAsked<'_>,
    files: &[String],
    batching: Batching,
    progress: BatchProgress<'_>,
    answers: Sender<BatchAnswer>,
) {
    let mut course = Course {
        answers,
        queue: files
            .chunks(batching.size.max(1))
            .map(<[String]>::to_vec)
            .collect(),
        unclear: Vec::new(),
        splits: 0,
        failures: 0,
        given_up: false,
        done: 0,
    };
    let mut running = FuturesUnordered::new();
    loop {
        while running.len() < batching.concurrency.max(1) && course.is_sending() {
            let Some(batch) = course.queue.pop_front() else {
                break;
            };
            running.push(run_task(platform, asked, BatchTask::Review(batch)));
        }
        match running.next().await {
            Some(FinishedTask::Review(answer)) => {
                let is_unclear = answer.has_no_response() && !platform.observer().has_responded();
                if is_unclear && !course.given_up {
                    if course.unclear.is_empty() {
                        running.push(run_task(platform, asked, BatchTask::Probe));
                    }
                    course.unclear.push(answer);
                } else {
                    course.take(answer);
                }
            }
            Some(FinishedTask::Probe { responded }) => course.take_probe(responded),
            None => break,
        }
        progress(course.done, files.len());
    }
    course.pass_on_unsent();
}

/// A request of the review: of a batch, or of nothing, to learn whether the platform responds.
enum BatchTask {
    Review(Vec<String>),
    Probe,
}

enum FinishedTask {
    Review(BatchAnswer),
    Probe { responded: bool },
}

async fn run_task(platform: &Platform, asked: &ReviewAsked<'_>, task: BatchTask) -> FinishedTask {
    let BatchTask::Review(files) = task else {
        let responded = platform
            .probe(asked.project, asked.agent_version, asked.fields)
            .await;
        return FinishedTask::Probe { responded };
    };
    let request = ReviewRequest {
        branch_name: asked.branch.to_owned(),
        commit_id: asked.commit.to_owned(),
        pipelines: files,
    };
    let outcome = platform
        .review(asked.project, asked.agent_version, &request, asked.fields)
        .await;
    FinishedTask::Review(BatchAnswer {
        files: request.pipelines,
        outcome: outcome.map_err(BatchError::from),
    })
}

/// The batches to send, the finished ones so far, and whether to continue.
struct Course {
    answers: Sender<BatchAnswer>,
    queue: VecDeque<Vec<String>>,
    /// Failed batches that wait for the result of the probe.
    unclear: Vec<BatchAnswer>,
    /// Number of batches that were split because they got no response.
    splits: usize,
    failures: usize,
    given_up: bool,
    done: usize,
}

impl Course {
    fn is_sending(&self) -> bool {
        !self.given_up && self.unclear.is_empty()
    }

    /// Passes on the batch, or sends its two halves instead.
    fn take(&mut self, answer: BatchAnswer) {
        match &answer.outcome {
            Ok(_) => self.failures = 0,
            Err(BatchError::Request(error)) if answer.files.len() > 1 && self.may_split(error) => {
                let middle = answer.files.len() / 2;
                let mut left = answer.files;
                let right = left.split_off(middle);
                self.queue.push_front(right);
                self.queue.push_front(left);
                return;
            }
            Err(BatchError::Request(error)) => self.count_failure(error.kind()),
            Err(BatchError::NotSent) => {}
        }
        self.done += answer.files.len();
        self.pass_on(answer);
    }

    /// Continues with the batches that waited for the probe, or gives up if the platform does not respond.
    fn take_probe(&mut self, responded: bool) {
        self.given_up |= !responded;
        for answer in std::mem::take(&mut self.unclear) {
            self.take(answer);
        }
    }

    /// Returns whether a smaller batch may get a response. The number of batches that are split because they got none
    /// is limited, as each of their files may be the cause.
    fn may_split(&mut self, error: &HttpError) -> bool {
        if self.given_up {
            return false;
        }
        if error.kind() == ErrorKind::TooLarge {
            return true;
        }
        let may_split = has_no_response(error) && self.splits < MAX_SPLITS;
        self.splits += usize::from(may_split);
        may_split
    }

    fn pass_on(&self, answer: BatchAnswer) {
        // Without a receiver the run has failed already.
        let _ = self.answers.send(answer);
    }

    fn pass_on_unsent(mut self) {
        for files in std::mem::take(&mut self.queue) {
            self.pass_on(BatchAnswer {
                files,
                outcome: Err(BatchError::NotSent),
            });
        }
    }

    fn count_failure(&mut self, kind: ErrorKind) {
        self.failures += 1;
        self.given_up |= is_hopeless(kind) || self.failures >= FAILURES_IN_A_ROW;
    }
}

impl BatchAnswer {
    fn has_no_response(&self) -> bool {
        matches!(&self.outcome, Err(BatchError::Request(error)) if has_no_response(error))
    }
}

/// Returns whether the request got no usable response. A 429 is a response: fewer files would not help.
fn has_no_response(error: &HttpError) -> bool {
    error.is_unavailable() && error.kind() != ErrorKind::OtherStatus(429)
}

/// Returns whether the next batch would fail for the same reason.
const fn is_hopeless(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Unauthorized | ErrorKind::Forbidden | ErrorKind::Certificate | ErrorKind::Configuration
    )
}
