//! Carries out a plan: looks the version up, uploads it once, and after a lost response looks up the result.
//!
//! A repeated upload is safe only because of three facts together: the platform accepts a version name once, the
//! details did not show the version when the run started, and after a lost response a conflict ("exists") is looked
//! up and not assumed to come from another run.

use super::Plan;
use super::hash::Hashes;
use super::judge::{Judge, not_begun, refused, unknown};
use super::lookup::{LookedUp, Whose, whose};
use super::outcome::{Options, Outcome};
use super::upload::{Progress, upload};
use jiff::Timestamp;
use sluicegate_platform::api::{Platform, PublishResponse};
use sluicegate_platform::http::{ErrorKind, HttpError};

/// Maximum number of uploads of a run.
const UPLOADS: usize = 3;

/// Publishes the planned files. The plan is not checked again, as [`super::plan`](fn@super::plan) did that.
pub async fn publish(
    platform: &Platform,
    plan: &Plan,
    options: Options,
    progress: Option<Progress>,
) -> Outcome {
    let judge = Judge {
        platform,
        plan,
        options,
    };
    let job = PublishJob {
        judge,
        hashes: options.hash.then(|| Hashes::new(plan.files.len())),
        progress,
        began: Timestamp::now(),
    };
    let outcome = job.run().await;
    Outcome {
        hashes: job.hashes.and_then(|hashes| hashes.complete(plan).ok()),
        ..outcome
    }
}

struct PublishJob<'a> {
    judge: Judge<'a>,
    hashes: Option<Hashes>,
    progress: Option<Progress>,
    began: Timestamp,
}

/// The result of looking up an upload whose response was lost.
enum Fate {
    /// The platform does not show the version.
    NotThere(HttpError),
    Settled(Outcome),
}

impl PublishJob<'_> {
    async fn run(&self) -> Outcome {
        match self.judge.lookup().once().await {
            LookedUp::NotThere => self.send().await,
            LookedUp::There(details) => self.judge.existing(&details),
            LookedUp::Unclear(why, error) => not_begun(&why, error),
        }
    }

    async fn send(&self) -> Outcome {
        let mut lost: Option<HttpError> = None;
        let mut left = UPLOADS;
        loop {
            left -= 1;
            let upload = upload(self.judge.plan, self.hashes.clone(), self.progress.clone());
            let error = match self.judge.platform.publish(upload).await {
                Ok(answer) => return self.judge.accepted(answer, None).await,
                Err(error) => error,
            };
            let is_conflict = error.kind() == ErrorKind::Conflict;
            if is_success(&error) {
                return self.judge.accepted(PublishResponse::default(), Some(error)).await;
            } else if is_conflict && lost.is_none() && !was_sent_before(&error) {
                return self.judge.conflict(error).await;
            } else if !is_conflict && !is_lost(&error) {
                return refused(error, lost.as_ref());
            }
            tracing::info!("the upload got no usable response; looking up the version: {error}");
            match self.fate(error).await {
                Fate::Settled(outcome) => return outcome,
                Fate::NotThere(error) if is_conflict || left == 0 || !may_send_again(&error) => {
                    return unknown("the platform does not show the version", error);
                }
                Fate::NotThere(error) => lost = Some(error),
            }
        }
    }

    async fn fate(&self, lost: HttpError) -> Fate {
        let details = match self.judge.lookup().until_there().await {
            LookedUp::NotThere => return Fate::NotThere(lost),
            LookedUp::Unclear(why, _) => {
                return Fate::Settled(unknown(
                    &format!("the version could not be looked up: {why}"),
                    lost,
                ));
            }
            LookedUp::There(details) => details,
        };
        Fate::Settled(match whose(&details, self.judge.plan, self.began) {
            Whose::Ours => self.judge.ours(&details, lost).await,
            Whose::Anothers(why) => self.judge.anothers(&details, why),
            Whose::Unclear(why) => unknown(&why, lost),
        })
    }
}

/// Returns whether the status is one that the API document shows for a finished publish; other 2xx are not.
fn is_success(error: &HttpError) -> bool {
    matches!(error.status(), Some(200 | 201))
}

/// Returns whether the conflict may be with an earlier try of the same upload: a try that got a "retry later" response
/// or a redirect that was followed.
fn was_sent_before(conflict: &HttpError) -> bool {
    conflict.tries() > 1 || conflict.is_maybe_processed()
}

/// Returns whether the upload may have been processed despite this response, which may come from a proxy.
fn is_lost(error: &HttpError) -> bool {
    error.is_maybe_processed() || matches!(error.status(), Some(300..400 | 425 | 429 | 503))
}

/// Returns whether another try may have another result: requests to wait were already retried often enough, and a
/// redirect that is not followed stays one.
fn may_send_again(error: &HttpError) -> bool {
    error.is_maybe_processed() && !matches!(error.status(), Some(300..400))
}
