//! Sends the selected files in batches, several at a time, and splits a batch that is too large for the platform.

use crate::platform::api::{Platform, ReviewAnswer, ReviewFields, ReviewRequest};
use crate::platform::http::{ErrorKind, HttpError};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use std::collections::VecDeque;
use std::sync::mpsc::Sender;
use uuid::Uuid;

/// Number of consecutive failed batches after which the remaining ones are not sent.
const FAILURES_IN_A_ROW: usize = 3;

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
pub(super) type BatchProgress<'a> = &'a dyn Fn(usize, usize);

/// The files of one batch, with the response or the error.
pub(crate) struct BatchAnswer {
    pub files: Vec<String>,
    pub outcome: Result<ReviewAnswer, BatchError>,
}

/// The reason why a batch has no usable response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BatchError {
    #[error(transparent)]
    Request(#[from] HttpError),
    /// The batch was not sent, because earlier batches failed.
    #[error("not sent: the review stopped after the failure above")]
    NotSent,
}

impl BatchError {
    /// Returns the reason; batches that failed for the same reason have the same text.
    pub(crate) fn cause(&self) -> String {
        match self {
            Self::Request(error) => error.cause(),
            Self::NotSent => self.to_string(),
        }
    }
}

/// Requests the review of all files and passes on each batch when it is done. Each file is in exactly one batch.
pub(crate) async fn review_in_batches(
    platform: &Platform,
    asked: &ReviewAsked<'_>,
    files: &[String],
    batching: Batching,
    progress: BatchProgress<'_>,
    answers: Sender<BatchAnswer>,
) {
    let mut queue: VecDeque<Vec<String>> = files
        .chunks(batching.size.max(1))
        .map(<[String]>::to_vec)
        .collect();
    let mut running = FuturesUnordered::new();
    let mut course = Course {
        answers,
        failures: 0,
        given_up: false,
        done: 0,
    };
    loop {
        while running.len() < batching.concurrency.max(1) && !course.given_up {
            let Some(batch) = queue.pop_front() else { break };
            running.push(ask(platform, asked, batch));
        }
        let Some(answer) = running.next().await else { break };
        if let Some((left, right)) = course.take(answer) {
            queue.push_front(right);
            queue.push_front(left);
        }
        progress(course.done, files.len());
    }
    let unsent = queue.into_iter().map(|files| BatchAnswer {
        files,
        outcome: Err(BatchError::NotSent),
    });
    unsent.for_each(|answer| course.pass_on(answer));
}

async fn ask(platform: &Platform, asked: &ReviewAsked<'_>, files: Vec<String>) -> BatchAnswer {
    let request = ReviewRequest {
        branch_name: asked.branch.to_owned(),
        commit_id: asked.commit.to_owned(),
        pipelines: files,
    };
    let outcome = platform
        .review(asked.project, asked.agent_version, &request, asked.fields)
        .await;
    BatchAnswer {
        files: request.pipelines,
        outcome: outcome.map_err(BatchError::from),
    }
}

/// The finished batches so far, and whether to continue.
struct Course {
    answers: Sender<BatchAnswer>,
    failures: usize,
    given_up: bool,
    done: usize,
}

impl Course {
    /// Passes on the batch, or returns its two halves to send instead.
    fn take(&mut self, answer: BatchAnswer) -> Option<(Vec<String>, Vec<String>)> {
        match &answer.outcome {
            Ok(_) => self.failures = 0,
            Err(BatchError::Request(error))
                if answer.files.len() > 1 && splits(error.kind()) && !self.given_up =>
            {
                let middle = answer.files.len() / 2;
                let mut left = answer.files;
                let right = left.split_off(middle);
                return Some((left, right));
            }
            Err(BatchError::Request(error)) => self.count_failure(error.kind()),
            Err(BatchError::NotSent) => {}
        }
        self.done += answer.files.len();
        self.pass_on(answer);
        None
    }

    fn pass_on(&self, answer: BatchAnswer) {
        // Without a receiver the run has failed already.
        let _ = self.answers.send(answer);
    }

    fn count_failure(&mut self, kind: ErrorKind) {
        self.failures += 1;
        self.given_up |= is_hopeless(kind) || self.failures >= FAILURES_IN_A_ROW;
    }
}

/// Returns whether a smaller batch may succeed.
const fn splits(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::TooLarge | ErrorKind::Timeout)
}

/// Returns whether the next batch would fail for the same reason.
const fn is_hopeless(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Unauthorized
            | ErrorKind::Forbidden
            | ErrorKind::Certificate
            | ErrorKind::Configuration
            | ErrorKind::Unreachable
    )
}
