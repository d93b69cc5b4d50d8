//! Looks up a version: whether it exists, and whether this run published it.
//!
//! The details may lag behind an upload, so the lookup of a missing version is repeated, with growing waits, until
//! the time limit.

use super::{Plan, version_differences};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use sluicegate_platform::api::{ArtifactDetails, Platform};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::time::Duration;
use tokio::time::Instant;

/// First wait between two lookups; doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// Maximum wait between two lookups.
const MAX_WAIT: Duration = Duration::from_secs(8);

/// Maximum time by which the platform's clock may be behind ours.
const MAX_CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(10);

/// Looks up the version of a plan.
pub(super) struct VersionLookup<'a> {
    pub platform: &'a Platform,
    pub plan: &'a Plan,
    /// Maximum time of waiting for a version to appear.
    pub timeout: Duration,
}

pub(super) enum LookupResult {
    Found(Box<ArtifactDetails>),
    NotFound,
    /// There was no usable response: the reason, and the call's error if there is one.
    Unclear(String, Option<HttpError>),
}

impl VersionLookup<'_> {
    /// Looks the version up once.
    pub(super) async fn look_up(&self) -> LookupResult {
        let (prefix, version) = (&self.plan.prefix, &self.plan.version_name);
        match self.platform.artifact_details(prefix, Some(version)).await {
            Ok(details) => match find_version_mismatch(&details, self.plan) {
                None => LookupResult::Found(Box::new(details)),
                Some(reason) => LookupResult::Unclear(reason, None),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => LookupResult::NotFound,
            Err(error) => LookupResult::Unclear(error.to_string(), Some(error)),
        }
    }

    /// Repeats the lookup until the version exists, the platform rejects the request, or the time is over.
    pub(super) async fn poll_until_found(&self) -> LookupResult {
        let is_settled = |result: &LookupResult| match result {
            LookupResult::Found(_) => true,
            LookupResult::NotFound => false,
            LookupResult::Unclear(_, error) => error.as_ref().is_some_and(is_rejection),
        };
        self.report_wait(poll(self.timeout, || self.look_up(), is_settled))
            .await
    }

    /// Like [`Self::until_there`], but accepts any result other than "not there", as the platform has just accepted the
    /// version. Details without any shared pipeline are those of a version that the platform is still processing.
    pub(super) async fn poll_until_processed(&self) -> LookupResult {
        let is_settled = |result: &LookupResult| match result {
            LookupResult::Found(details) => {
                !details.shared_pipelines.is_empty() || self.plan.shared_pipelines.is_empty()
            }
            LookupResult::NotFound => false,
            LookupResult::Unclear(..) => true,
        };
        self.report_wait(poll(self.timeout, || self.look_up(), is_settled))
            .await
    }

    async fn report_wait<T>(&self, lookup: impl Future<Output = T>) -> T {
        let version = (self.plan.prefix.as_str(), self.plan.version_name.as_str());
        report_wait(self.platform, lookup, version, self.timeout).await
    }
}

/// Returns the outcome of a repeated lookup; reports the wait if it takes long.
async fn report_wait<T>(
    platform: &Platform,
    lookup: impl Future<Output = T>,
    (prefix, version): (&str, &str),
    timeout: Duration,
) -> T {
    let what = || {
        format!(
            "waiting until the platform shows the state of version `{version}` of `{prefix}`, at most {} s",
            timeout.as_secs()
        )
    };
    platform.observer().waiting(lookup, what).await
}

/// Repeats a lookup with growing waits until it is settled or the time is over.
async fn poll<T, F: Future<Output = T>>(
    timeout: Duration,
    request: impl Fn() -> F,
    is_settled: impl Fn(&T) -> bool,
) -> T {
    let deadline = Instant::now() + timeout;
    let mut result = request().await;
    for wait in poll_intervals() {
        let remaining_time = deadline.saturating_duration_since(Instant::now());
        if is_settled(&result) || remaining_time.is_zero() {
            break;
        }
        tokio::time::sleep(wait.min(remaining_time)).await;
        result = request().await;
    }
    result
}

fn poll_intervals() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(FIRST_WAIT), |wait| Some((*wait * 2).min(MAX_WAIT)))
}

fn is_rejection(error: &HttpError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Unauthorized | ErrorKind::Forbidden | ErrorKind::Configuration | ErrorKind::Certificate
    )
}

/// Returns the mismatch if the details are those of another version than requested.
fn find_version_mismatch(details: &ArtifactDetails, plan: &Plan) -> Option<String> {
    let artifact = &details.artifact;
    let values = [
        ("prefix", &artifact.shared_pipeline_id_prefix, &plan.prefix),
        ("version name", &artifact.version_name, &plan.version_name),
    ];
    values.into_iter().find_map(|(what, told, asked)| {
        let told = told.as_ref().filter(|told| *told != asked)?;
        Some(format!(
            "the request was for the {what} `{asked}`, but the platform returned `{told}`"
        ))
    })
}

/// Origin of a version that did not exist before an upload whose response was lost.
pub(super) enum VersionOrigin {
    ThisRun,
    /// Another run published it; contains the difference.
    OtherRun(String),
    /// The origin is unknown; contains the reason.
    Unclear(String),
}

/// Determines the origin from commit and time; `since` is the time at which this run found no such version.
pub(super) fn find_version_origin(
    details: &ArtifactDetails,
    plan: &Plan,
    not_found_at: Timestamp,
) -> VersionOrigin {
    let artifact = &details.artifact;
    if artifact.commit_hash.is_none() {
        return VersionOrigin::Unclear("the platform reports no commit hash for the version".to_owned());
    }
    if let Some(difference) =
        version_differences::compare_commits(artifact.commit_hash.as_deref(), &plan.commit_hash)
    {
        return VersionOrigin::OtherRun(difference);
    }
    let created_at = artifact.created_at.as_deref().unwrap_or_default();
    match parse_platform_time(created_at) {
        None => VersionOrigin::Unclear(format!(
            "the version is from this commit, but the platform reports no valid creation time (`{created_at}`)"
        )),
        Some(creation_time)
            if creation_time
                < not_found_at
                    .saturating_sub(MAX_CLOCK_SKEW)
                    .unwrap_or(not_found_at) =>
        {
            VersionOrigin::OtherRun(format!(
                "the version was created at {created_at}, before this run started"
            ))
        }
        Some(_) => VersionOrigin::ThisRun,
    }
}

/// Parses an ISO 8601 time; without an offset it is in UTC.
pub(super) fn parse_platform_time(text: &str) -> Option<Timestamp> {
    let parse_without_offset = || {
        text.parse::<DateTime>()
            .ok()?
            .to_zoned_datetime(TimeZone::UTC)
            .ok()
    };
    text.parse()
        .ok()
        .or_else(|| Some(parse_without_offset()?.timestamp()))
}

/// The version that consumers with \[Latest\] get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LatestVersion {
    Enabled(String),
    /// No version is enabled.
    NoneEnabled,
    /// The lookup failed; contains the reason.
    Unknown(String),
}

/// Returns the version that \[Latest\] means once `gone` is disabled; repeats the lookup, as the details may lag.
pub async fn look_up_latest_without(
    platform: &Platform,
    prefix: &str,
    disabled_version: &str,
    timeout: Duration,
) -> LatestVersion {
    let is_disabled_version = |latest: &LatestVersion| matches!(latest, LatestVersion::Enabled(version) if version == disabled_version);
    let lookup = poll(
        timeout,
        || look_up_latest(platform, prefix),
        |latest| !is_disabled_version(latest),
    );
    match report_wait(platform, lookup, (prefix, disabled_version), timeout).await {
        latest if is_disabled_version(&latest) => {
            LatestVersion::Unknown(format!("the platform still returns {disabled_version}"))
        }
        latest => latest,
    }
}

async fn look_up_latest(platform: &Platform, prefix: &str) -> LatestVersion {
    match platform.artifact_details(prefix, None).await {
        Ok(details) => match details.artifact.version_name {
            Some(version) => LatestVersion::Enabled(version),
            None => LatestVersion::Unknown("the platform returns no version".to_owned()),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => LatestVersion::NoneEnabled,
        Err(error) => LatestVersion::Unknown(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_an_offset() {
        let expected: Timestamp = "2026-11-20T09:30:00Z".parse().unwrap();
        for text in [
            "2026-11-20T09:30:00Z",
            "2026-11-20T10:30:00+01:00",
            "2026-11-20T09:30:00.000",
        ] {
            assert_eq!(parse_platform_time(text), Some(expected), "{text}");
        }
        for text in ["", "yesterday", "2026-13-01T00:00:00Z"] {
            assert_eq!(parse_platform_time(text), None, "{text}");
        }
    }

    #[test]
    fn the_waits_grow_up_to_the_longest() {
        let waits: Vec<u128> = poll_intervals().take(8).map(|wait| wait.as_millis()).collect();
        assert_eq!(waits, [250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
    }
}
