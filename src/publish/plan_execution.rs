//! Carries out a plan: looks the version up, uploads it once, and after a lost response looks up the result.
//!
//! A repeated upload is safe only because of three facts together: the platform accepts a version name once, the
//! details did not show the version when the run started, and after a lost response a conflict ("exists") is looked
//! up and not assumed to come from another run.

use super::Plan;
use super::content_hashes::FileHashes;
use super::outcome::{Outcome, PublishOptions};
use super::plan_upload::{UploadProgress, build_upload};
use super::upload_outcome::{
    OutcomeDecision, outcome_before_upload, outcome_of_rejected_upload, outcome_without_response,
};
use super::version_lookup::{LookupResult, VersionOrigin, find_version_origin};
use jiff::Timestamp;
use sluicegate_platform::api::{Platform, PublishAnswer};
use sluicegate_platform::http::{ErrorKind, HttpError};

/// Maximum number of uploads of a run.
const MAX_UPLOADS: usize = 3;

/// Publishes the planned files. The plan is not checked again, as [`super::plan`](fn@super::plan) did that.
pub async fn execute_plan(
    platform: &Platform,
    plan: &Plan,
    options: PublishOptions,
    progress: Option<UploadProgress>,
) -> Outcome {
    let judge = OutcomeDecision {
        platform,
        plan,
        options,
    };
    let execution = PlanExecution {
        judge,
        hashes: options.needs_hashes.then(|| FileHashes::new(plan.files.len())),
        progress,
        started_at: Timestamp::now(),
    };
    let outcome = execution.run().await;
    Outcome {
        hashes: execution.hashes.and_then(|hashes| hashes.complete_for(plan).ok()),
        ..outcome
    }
}

struct PlanExecution<'a> {
    judge: OutcomeDecision<'a>,
    hashes: Option<FileHashes>,
    progress: Option<UploadProgress>,
    started_at: Timestamp,
}

/// The result of looking up an upload whose response was lost.
enum LostUpload {
    /// The platform does not show the version.
    NotFound(HttpError),
    Settled(Outcome),
}

impl PlanExecution<'_> {
    async fn run(&self) -> Outcome {
        match self.judge.lookup().look_up().await {
            LookupResult::NotFound => self.upload_until_settled().await,
            LookupResult::Found(details) => self.judge.outcome_of_existing_version(&details),
            LookupResult::Unclear(reason, error) => outcome_before_upload(&reason, error),
        }
    }

    async fn upload_until_settled(&self) -> Outcome {
        let mut lost_error: Option<HttpError> = None;
        let mut remaining_uploads = MAX_UPLOADS;
        loop {
            remaining_uploads -= 1;
            let upload = build_upload(self.judge.plan, self.hashes.clone(), self.progress.clone());
            let error = match self.judge.platform.publish(upload).await {
                Ok(response) => return self.judge.outcome_of_accepted_upload(response, None).await,
                Err(error) => error,
            };
            let is_conflict = error.kind() == ErrorKind::Conflict;
            if is_success_status(&error) {
                return self
                    .judge
                    .outcome_of_accepted_upload(PublishAnswer::default(), Some(error))
                    .await;
            } else if is_conflict && lost_error.is_none() && !may_be_own_conflict(&error) {
                return self.judge.outcome_of_conflict(error).await;
            } else if !is_conflict && !is_response_lost(&error) {
                return outcome_of_rejected_upload(error, lost_error.as_ref());
            }
            tracing::info!("the upload got no usable response; looking up the version: {error}");
            match self.find_lost_upload(error).await {
                LostUpload::Settled(outcome) => return outcome,
                LostUpload::NotFound(error)
                    if is_conflict || remaining_uploads == 0 || !may_retry_upload(&error) =>
                {
                    return outcome_without_response("the platform does not show the version", error);
                }
                LostUpload::NotFound(error) => lost_error = Some(error),
            }
        }
    }

    async fn find_lost_upload(&self, lost_error: HttpError) -> LostUpload {
        let details = match self.judge.lookup().poll_until_found().await {
            LookupResult::NotFound => return LostUpload::NotFound(lost_error),
            LookupResult::Unclear(reason, _) => {
                return LostUpload::Settled(outcome_without_response(
                    &format!("the version could not be looked up: {reason}"),
                    lost_error,
                ));
            }
            LookupResult::Found(details) => details,
        };
        LostUpload::Settled(
            match find_version_origin(&details, self.judge.plan, self.started_at) {
                VersionOrigin::ThisRun => self.judge.outcome_of_lost_upload(&details, lost_error).await,
                VersionOrigin::OtherRun(reason) => self.judge.outcome_of_other_version(&details, reason),
                VersionOrigin::Unclear(reason) => outcome_without_response(&reason, lost_error),
            },
        )
    }
}

/// Returns whether the status is one that the API document shows for a finished publish; other 2xx are not.
fn is_success_status(error: &HttpError) -> bool {
    matches!(error.status(), Some(200 | 201))
}

/// Returns whether the conflict may be with an earlier try of the same upload: a try that got a "retry later" response
/// or a redirect that was followed.
fn may_be_own_conflict(conflict: &HttpError) -> bool {
    conflict.tries() > 1 || conflict.may_have_been_processed()
}

/// Returns whether the upload may have been processed despite this response, which may come from a proxy.
fn is_response_lost(error: &HttpError) -> bool {
    error.may_have_been_processed() || matches!(error.status(), Some(300..400 | 425 | 429 | 503))
}

/// Returns whether another try may have another result: requests to wait were already retried often enough, and a
/// redirect that is not followed stays one.
fn may_retry_upload(error: &HttpError) -> bool {
    error.may_have_been_processed() && !matches!(error.status(), Some(300..400))
}
