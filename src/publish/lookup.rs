//! Looks up a version: whether it exists, and whether this run published it.
//!
//! The details may lag behind an upload, so the lookup of a missing version is repeated, with growing waits, until
//! the time limit.

use super::{Plan, verify};
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
const LONGEST_WAIT: Duration = Duration::from_secs(8);

/// Maximum time by which the platform's clock may be behind ours.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(10);

/// Looks up the version of a plan.
pub(super) struct Lookup<'a> {
    pub platform: &'a Platform,
    pub plan: &'a Plan,
    /// Maximum time of waiting for a version to appear.
    pub patience: Duration,
}

pub(super) enum LookedUp {
    There(Box<ArtifactDetails>),
    NotThere,
    /// There was no usable response: the reason, and the call's error if there is one.
    Unclear(String, Option<HttpError>),
}

impl Lookup<'_> {
    /// Looks the version up once.
    pub(super) async fn once(&self) -> LookedUp {
        let (prefix, version) = (&self.plan.prefix, &self.plan.version_name);
        match self.platform.artifact_details(prefix, Some(version)).await {
            Ok(details) => match names_another(&details, self.plan) {
                None => LookedUp::There(Box::new(details)),
                Some(why) => LookedUp::Unclear(why, None),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => LookedUp::NotThere,
            Err(error) => LookedUp::Unclear(error.to_string(), Some(error)),
        }
    }

    /// Repeats the lookup until the version exists, the platform rejects the request, or the time is over.
    pub(super) async fn until_there(&self) -> LookedUp {
        let is_settled = |seen: &LookedUp| match seen {
            LookedUp::There(_) => true,
            LookedUp::NotThere => false,
            LookedUp::Unclear(_, error) => error.as_ref().is_some_and(is_refusal),
        };
        self.told(patiently(self.patience, || self.once(), is_settled))
            .await
    }

    /// Like [`Self::until_there`], but accepts any result other than "not there", as the platform has just accepted the
    /// version. Details without any shared pipeline are those of a version that the platform is still processing.
    pub(super) async fn until_shown(&self) -> LookedUp {
        let is_settled = |seen: &LookedUp| match seen {
            LookedUp::There(details) => !details.shared_pipelines.is_empty() || self.plan.shared.is_empty(),
            LookedUp::NotThere => false,
            LookedUp::Unclear(..) => true,
        };
        self.told(patiently(self.patience, || self.once(), is_settled))
            .await
    }

    async fn told<T>(&self, lookup: impl Future<Output = T>) -> T {
        let version = (self.plan.prefix.as_str(), self.plan.version_name.as_str());
        waiting(self.platform, lookup, version, self.patience).await
    }
}

/// Returns the outcome of a repeated lookup; reports the wait if it takes long.
async fn waiting<T>(
    platform: &Platform,
    lookup: impl Future<Output = T>,
    (prefix, version): (&str, &str),
    patience: Duration,
) -> T {
    let what = || {
        format!(
            "waiting until the platform shows the state of version `{version}` of `{prefix}`, at most {} s",
            patience.as_secs()
        )
    };
    platform.observer().waiting(lookup, what).await
}

/// Repeats a lookup with growing waits until it is settled or the time is over.
async fn patiently<T, F: Future<Output = T>>(
    patience: Duration,
    ask: impl Fn() -> F,
    is_settled: impl Fn(&T) -> bool,
) -> T {
    let end = Instant::now() + patience;
    let mut seen = ask().await;
    for wait in waits() {
        let left = end.saturating_duration_since(Instant::now());
        if is_settled(&seen) || left.is_zero() {
            break;
        }
        tokio::time::sleep(wait.min(left)).await;
        seen = ask().await;
    }
    seen
}

fn waits() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(FIRST_WAIT), |wait| Some((*wait * 2).min(LONGEST_WAIT)))
}

fn is_refusal(error: &HttpError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Unauthorized | ErrorKind::Forbidden | ErrorKind::Configuration | ErrorKind::Certificate
    )
}

/// Returns the mismatch if the details are those of another version than requested.
fn names_another(details: &ArtifactDetails, plan: &Plan) -> Option<String> {
    let artifact = &details.artifact;
    let named = [
        ("prefix", &artifact.shared_pipeline_id_prefix, &plan.prefix),
        ("version name", &artifact.version_name, &plan.version_name),
    ];
    named.into_iter().find_map(|(what, told, asked)| {
        let told = told.as_ref().filter(|told| *told != asked)?;
        Some(format!(
            "the request was for the {what} `{asked}`, but the platform returned `{told}`"
        ))
    })
}

/// Origin of a version that did not exist before an upload whose response was lost.
pub(super) enum Whose {
    Ours,
    /// Another run published it; contains the difference.
    Anothers(String),
    /// The origin is unknown; contains the reason.
    Unclear(String),
}

/// Determines the origin from commit and time; `since` is the time at which this run found no such version.
pub(super) fn whose(details: &ArtifactDetails, plan: &Plan, since: Timestamp) -> Whose {
    let artifact = &details.artifact;
    if artifact.commit_hash.is_none() {
        return Whose::Unclear("the platform reports no commit hash for the version".to_owned());
    }
    if let Some(difference) = verify::other_commit(artifact.commit_hash.as_deref(), &plan.commit_hash) {
        return Whose::Anothers(difference);
    }
    let told = artifact.created_at.as_deref().unwrap_or_default();
    match time(told) {
        None => Whose::Unclear(format!(
            "the version is from this commit, but the platform reports no valid creation time (`{told}`)"
        )),
        Some(made) if made < since.saturating_sub(CLOCK_SKEW).unwrap_or(since) => Whose::Anothers(format!(
            "the version was created at {told}, before this run started"
        )),
        Some(_) => Whose::Ours,
    }
}

/// Parses an ISO 8601 time; without an offset it is in UTC.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    let local = || {
        text.parse::<DateTime>()
            .ok()?
            .to_zoned_datetime(TimeZone::UTC)
            .ok()
    };
    text.parse().ok().or_else(|| Some(local()?.timestamp()))
}

/// The version that consumers with \[Latest\] get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Latest {
    Version(String),
    /// No version is enabled.
    Nothing,
    /// The lookup failed; contains the reason.
    Unknown(String),
}

/// Returns the version that \[Latest\] means once `gone` is disabled; repeats the lookup, as the details may lag.
pub async fn latest_without(platform: &Platform, prefix: &str, gone: &str, patience: Duration) -> Latest {
    let still = |latest: &Latest| matches!(latest, Latest::Version(version) if version == gone);
    let lookup = patiently(patience, || latest(platform, prefix), |seen| !still(seen));
    match waiting(platform, lookup, (prefix, gone), patience).await {
        seen if still(&seen) => Latest::Unknown(format!("the platform still returns {gone}")),
        seen => seen,
    }
}

async fn latest(platform: &Platform, prefix: &str) -> Latest {
    match platform.artifact_details(prefix, None).await {
        Ok(details) => match details.artifact.version_name {
            Some(version) => Latest::Version(version),
            None => Latest::Unknown("the platform returns no version".to_owned()),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Latest::Nothing,
        Err(error) => Latest::Unknown(error.to_string()),
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
            assert_eq!(time(text), Some(expected), "{text}");
        }
        for text in ["", "yesterday", "2026-13-01T00:00:00Z"] {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn waits_grow_up_to_longest() {
        let waits: Vec<u128> = waits().take(8).map(|wait| wait.as_millis()).collect();
        assert_eq!(waits, [250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
    }
}
