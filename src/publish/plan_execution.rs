//! Carries out a plan: looks the version up, uploads it once, and after a lost response looks up the result.
//!
//! A repeated upload is safe only because of three facts together: the platform accepts a version name once, the
//! details did not show the version when the run started, and after a lost response a conflict ("exists") is looked
//! up and not assumed to come from another run.

use super::Plan;
use super::content_hashes::FileHashes;
use super::outcome::{IfExists, OnIgnored, Outcome, OutcomeKind, PublishOptions, PublishProblem, Withdrawal};
use super::plan_upload::{UploadControl, build_upload};
use super::upload_outcome::{
    AcceptedUpload, assess_accepted_upload, assess_existing_version, assess_failed_lookup,
    assess_lost_upload, assess_other_version, assess_rejected_upload, build_conflict_outcome,
    build_unclear_outcome, build_unknown_outcome, build_unlisted_outcome, record_differences,
};
use super::version_lookup::{LookupResult, VersionLookup};
use super::version_origin::{AbsenceTime, VersionOrigin};
use super::version_withdrawal::withdraw_version;
use sluicegate_platform::api::{Platform, PublishResponse};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::time::Duration;

/// Maximum number of uploads of a run.
const MAX_UPLOADS: u32 = 3;

/// Uploads the planned files and verifies the published version. The outcome contains the content hashes if the options
/// request them; if a file cannot be read for its hash, it contains the error instead.
pub async fn execute_plan(
    platform: &Platform,
    plan: &Plan,
    options: PublishOptions,
    control: Option<UploadControl>,
) -> Outcome {
    let execution = PlanExecution {
        platform,
        plan,
        options,
        hashes: options.needs_hashes.then(|| FileHashes::new(plan.files.len())),
        control,
    };
    let mut outcome = execution.execute().await;
    match execution.hashes.map(|hashes| hashes.collect_all_hashes(plan)) {
        Some(Ok(hashes)) => outcome.hashes = Some(hashes),
        Some(Err(error)) => outcome.hash_error = Some(error),
        None => {}
    }
    outcome
}

struct PlanExecution<'a> {
    platform: &'a Platform,
    plan: &'a Plan,
    options: PublishOptions,
    hashes: Option<FileHashes>,
    control: Option<UploadControl>,
}

/// The result of looking up an upload whose response was lost.
enum LostUpload {
    /// The platform does not list the version.
    NotFound(HttpError),
    Decided(Box<Outcome>),
}

impl PlanExecution<'_> {
    /// Looks up the version, and uploads the plan if the platform does not have it. An existing version is compared
    /// with the plan; if it is unknown whether the version exists, nothing is sent.
    async fn execute(&self) -> Outcome {
        match self.version_lookup().request_version().await {
            LookupResult::NotFound => {
                let absence_time = AbsenceTime::for_last_response(self.platform);
                self.upload_until_decided(absence_time).await
            }
            LookupResult::Found(details) => {
                assess_existing_version(self.plan, self.options.if_exists, &details)
            }
            LookupResult::Unclear(error) => assess_failed_lookup(error),
        }
    }

    /// Returns the lookup of the planned version.
    const fn version_lookup(&self) -> VersionLookup<'_> {
        VersionLookup {
            platform: self.platform,
            plan: self.plan,
            timeout: self.options.lookup_timeout,
        }
    }

    /// Returns whether the run is about to end, so that no further upload may begin.
    fn is_canceled(&self) -> bool {
        self.control.as_ref().is_some_and(UploadControl::is_canceled)
    }

    /// Uploads the plan, and returns the outcome. Looks up the version if no usable response arrives, or if an earlier
    /// attempt of this run may have caused the reported conflict. If the platform does not list the version, uploads
    /// the plan again, as often as the retries allow and up to [`MAX_UPLOADS`] times in total, or returns an unknown
    /// outcome if this would not help, or if a signal has canceled further uploads. After a 2xx response, the plan is
    /// never uploaded again. `absence_time` is that of the lookup before the first upload.
    async fn upload_until_decided(&self, absence_time: AbsenceTime) -> Outcome {
        // The error of the previous upload, whose response was lost; `None` at the first upload.
        let mut lost_error: Option<HttpError> = None;
        let mut remaining_uploads = self.options.retries.saturating_add(1).min(MAX_UPLOADS);
        loop {
            remaining_uploads -= 1;
            let upload = build_upload(self.plan, self.hashes.clone(), self.control.clone());
            let error = match self.platform.publish(upload).await {
                Err(error) if !is_upload_processed(&error) => error,
                // The platform processed the upload, even if its response could not be read.
                response => return self.finish_accepted_upload(response).await,
            };
            let is_conflict = error.kind() == ErrorKind::Conflict;
            let is_conflict_with_other_run =
                is_conflict && lost_error.is_none() && !may_be_own_conflict(&error);
            if is_conflict_with_other_run {
                return self.compare_with_existing_version(error).await;
            }
            let is_rejected = !is_conflict && !is_response_lost(&error);
            if is_rejected {
                return assess_rejected_upload(error, lost_error.as_ref());
            }
            tracing::info!("the upload got no usable response; looking up the version: {error}");
            match self.resolve_lost_upload(error, absence_time).await {
                LostUpload::Decided(outcome) => return *outcome,
                // Any other 2xx status may mean that the platform is still processing the upload.
                LostUpload::NotFound(error) if error.is_accepted() => return build_unlisted_outcome(error),
                // After a conflict, another upload would only cause the next conflict.
                LostUpload::NotFound(error)
                    if is_conflict
                        || remaining_uploads == 0
                        || !may_retry_upload(&error)
                        || self.is_canceled() =>
                {
                    return build_unknown_outcome("the platform does not list the version", error);
                }
                LostUpload::NotFound(error) => lost_error = Some(error),
            }
        }
    }

    /// Looks up the version after an upload without a usable response, and decides the outcome by who published the
    /// version: this run or another one. The outcome is unknown if the lookup does not show this. Returns
    /// [`LostUpload::NotFound`] if the platform does not list the version.
    async fn resolve_lost_upload(&self, lost_error: HttpError, absence_time: AbsenceTime) -> LostUpload {
        let details = match self.version_lookup().poll_until_found().await {
            LookupResult::NotFound => return LostUpload::NotFound(lost_error),
            LookupResult::Unclear(error) => {
                let reason = format!("the version could not be looked up: {error}");
                return LostUpload::Decided(Box::new(build_unknown_outcome(&reason, lost_error)));
            }
            LookupResult::Found(details) => details,
        };
        let outcome = match VersionOrigin::from_details(&details, self.plan, absence_time) {
            VersionOrigin::ThisRun => {
                let outcome = assess_lost_upload(self.plan, &details, lost_error);
                let is_suspect = outcome.kind != OutcomeKind::Published;
                self.disable_if_suspect(outcome, is_suspect).await
            }
            VersionOrigin::OtherRun(difference) => {
                assess_other_version(self.plan, self.options.if_exists, &details, difference)
            }
            VersionOrigin::Unclear(reason) => build_unclear_outcome(&reason, lost_error),
        };
        LostUpload::Decided(Box::new(outcome))
    }

    /// Returns the outcome of an upload that the platform accepted, after verifying the version if the options require
    /// that. If the version may be incomplete, disables it, as configured. The response is an
    /// error if it could not be read.
    async fn finish_accepted_upload(&self, response: Result<PublishResponse, HttpError>) -> Outcome {
        let AcceptedUpload {
            mut outcome,
            mut is_suspect,
        } = assess_accepted_upload(self.plan, response, self.options.on_ignored);
        if self.options.verify {
            let certainly_differs = self.record_version_differences(&mut outcome).await;
            is_suspect |= certainly_differs;
        }
        self.disable_if_suspect(outcome, is_suspect).await
    }

    /// Looks up the published version, and records in `outcome` how it differs from the plan. If the lookup fails,
    /// records the reason, and a published version becomes unverified. Returns true only if the version certainly
    /// differs: after a failed lookup, the version may be complete.
    async fn record_version_differences(&self, outcome: &mut Outcome) -> bool {
        let (problem, error) = match self.version_lookup().poll_until_processed().await {
            LookupResult::Found(details) => return record_differences(outcome, self.plan, &details),
            LookupResult::NotFound => (PublishProblem::NotListed, None),
            LookupResult::Unclear(error) => (
                PublishProblem::Other(format!("the version could not be looked up: {error}")),
                Some(error),
            ),
        };
        if outcome.kind == OutcomeKind::Published {
            outcome.kind = OutcomeKind::Unverified;
        }
        outcome.problems.push(problem);
        if outcome.error.is_none() {
            outcome.error = error;
        }
        false
    }

    /// Disables a version that may be incomplete, if the settings require it, so that consumers of \[Latest\] do not
    /// get it.
    async fn disable_if_suspect(&self, outcome: Outcome, is_suspect: bool) -> Outcome {
        if !is_suspect || self.options.on_ignored != OnIgnored::Disable {
            return outcome;
        }
        disable_version(self.platform, self.plan, self.options.lookup_timeout, outcome).await
    }

    /// Returns the outcome of an upload that the platform rejected because another run published the same version
    /// first. Unless `--if-exists` is `fail`, that version is compared with the plan.
    async fn compare_with_existing_version(&self, conflict: HttpError) -> Outcome {
        if self.options.if_exists == IfExists::Fail {
            return build_conflict_outcome(self.plan).with_error(conflict);
        }
        match self.version_lookup().poll_until_found().await {
            LookupResult::Found(details) => {
                assess_existing_version(self.plan, self.options.if_exists, &details)
            }
            LookupResult::NotFound => build_conflict_outcome(self.plan)
                .with_problem("could not compare the content: the platform reported a conflict but did not return the version")
                .with_error(conflict),
            LookupResult::Unclear(error) => build_conflict_outcome(self.plan)
                .with_problem(format!("could not compare the content: {error}"))
                .with_error(conflict),
        }
    }
}

/// Disables the version of the plan, so that consumers do not get it, and records the result in the outcome.
pub async fn disable_version(
    platform: &Platform,
    plan: &Plan,
    timeout: Duration,
    mut outcome: Outcome,
) -> Outcome {
    let (prefix, version_name) = (&plan.prefix, &plan.version_name);
    outcome.withdrawal = match withdraw_version(platform, prefix, version_name, timeout).await {
        Ok(latest) => Withdrawal::Disabled(latest),
        Err(failure) => {
            let adjective = match outcome.kind {
                OutcomeKind::Superseded => "older",
                OutcomeKind::Unverified | OutcomeKind::Unconfirmed => "unverified",
                _ => "incomplete",
            };
            Withdrawal::Failed(format!(
                "the {adjective} version could not be disabled, so consumers may use it: {}",
                failure.reason
            ))
        }
    };
    outcome
}

/// Returns whether the platform processed the upload although its response could not be read. The API document shows
/// only the statuses 200 and 201 for a finished publish.
fn is_upload_processed(error: &HttpError) -> bool {
    matches!(error.status(), Some(200 | 201))
}

/// Returns whether the conflict may be with an earlier attempt of the same upload that got a "retry later" response or
/// a redirect that was followed.
fn may_be_own_conflict(conflict: &HttpError) -> bool {
    conflict.tries() > 1 || conflict.is_maybe_processed()
}

/// Returns whether the upload may have been processed despite this error. A redirect or a "retry later" status may come
/// from a proxy, after the platform got the upload.
fn is_response_lost(error: &HttpError) -> bool {
    error.is_maybe_processed() || matches!(error.status(), Some(300..400 | 425 | 429 | 503))
}

/// Returns whether another upload may have another result: no after a 503 with `Retry-After`, because the HTTP client
/// already retried that often enough. A redirect that is not followed would only be repeated.
fn may_retry_upload(error: &HttpError) -> bool {
    let is_retried_by_client = error.status() == Some(503) && error.is_wait_requested();
    error.is_maybe_processed() && !is_retried_by_client && !matches!(error.status(), Some(300..400))
}
