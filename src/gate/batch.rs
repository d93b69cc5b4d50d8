//! Sends the selected files in batches, several at a time, and splits a batch that is too much for the platform.

use crate::platform::api::{Platform, ReviewAnswer, ReviewFields, ReviewRequest};
use crate::platform::http::{ErrorKind, HttpError};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use std::collections::VecDeque;
use uuid::Uuid;

/// Batches that may fail one after the other before the rest is given up.
const FAILURES_IN_A_ROW: usize = 3;

/// What is asked of the platform.
#[derive(Clone, Copy)]
pub(crate) struct ReviewAsked<'a> {
    pub project: Uuid,
    /// The `Agent-Version` header.
    pub agent_version: &'a str,
    /// The branch, as the platform's remote names it.
    pub branch: &'a str,
    /// The commit, in full.
    pub commit: &'a str,
    pub fields: &'a ReviewFields,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Batching {
    /// Files in one request, at least 1.
    pub size: usize,
    /// Requests at the same time, at least 1.
    pub concurrency: usize,
}

/// How far the review is: files answered of files asked.
pub(super) type BatchProgress<'a> = &'a dyn Fn(usize, usize);

pub(crate) struct BatchAnswer {
    pub files: Vec<String>,
    /// The answer, or why there is none.
    pub outcome: Result<ReviewAnswer, BatchError>,
}

/// Why a batch has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BatchError {
    #[error(transparent)]
    Request(#[from] HttpError),
    /// It was not sent, because earlier ones failed.
    #[error("not sent, because the review was given up after the failure above")]
    NotSent,
}

impl BatchError {
    /// Why, in the same words for every batch that has no answer of the same cause.
    pub(crate) fn cause(&self) -> String {
        match self {
            Self::Request(error) => error.cause(),
            Self::NotSent => self.to_string(),
        }
    }
}

/// Asks for all files. Every file is in exactly one of the answers.
pub(crate) async fn review_in_batches(
    platform: &Platform,
    asked: &ReviewAsked<'_>,
    files: &[String],
    batching: Batching,
    progress: BatchProgress<'_>,
) -> Vec<BatchAnswer> {
    let mut queue: VecDeque<Vec<String>> = files
        .chunks(batching.size.max(1))
        .map(<[String]>::to_vec)
        .collect();
    let mut running = FuturesUnordered::new();
    let mut course = Course {
        answers: Vec::new(),
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
    course.answers.extend(unsent);
    course.answers
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

/// What has been answered so far, and whether it makes sense to go on.
struct Course {
    answers: Vec<BatchAnswer>,
    failures: usize,
    given_up: bool,
    done: usize,
}

impl Course {
    /// Keeps the answer, or gives two halves to ask for instead.
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
        self.answers.push(answer);
        None
    }

    fn count_failure(&mut self, kind: ErrorKind) {
        self.failures += 1;
        self.given_up |= is_hopeless(kind) || self.failures >= FAILURES_IN_A_ROW;
    }
}

/// A smaller batch may get through.
const fn splits(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::TooLarge | ErrorKind::Timeout)
}

/// The next batch would meet the same.
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
