//! Looks a version up: whether it is there, and whether it is ours.
//!
//! The details may lag behind an upload, so what is not there is asked for again, with growing waits, until the
//! patience is at its end.

use super::{Plan, verify};
use crate::platform::api::{ArtifactDetails, Platform};
use crate::platform::http::{ErrorKind, HttpError};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;
use tokio::time::Instant;

/// The first wait between two lookups; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// The longest wait between two lookups.
const LONGEST_WAIT: Duration = Duration::from_secs(8);

/// How far the platform's clock may be behind ours.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(10);

/// Asks for the version of a plan.
pub(super) struct Lookup<'a> {
    pub platform: &'a Platform,
    pub plan: &'a Plan,
    /// How long what may still appear is asked for.
    pub patience: Duration,
}

pub(super) enum LookedUp {
    There(Box<ArtifactDetails>),
    NotThere,
    /// No usable answer: why, and the call's error if there is one.
    Unclear(String, Option<HttpError>),
}

impl Lookup<'_> {
    /// Asks once.
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

    /// Asks until the version is there, the answer is a refusal, or the patience is at its end.
    pub(super) async fn until_there(&self) -> LookedUp {
        let is_settled = |seen: &LookedUp| match seen {
            LookedUp::There(_) => true,
            LookedUp::NotThere => false,
            LookedUp::Unclear(_, error) => error.as_ref().is_some_and(is_refusal),
        };
        self.told(patiently(self.patience, || self.once(), is_settled))
            .await
    }

    /// The same, but any answer other than "not there" is taken: the platform has just said that it is there.
    pub(super) async fn until_shown(&self) -> LookedUp {
        let is_settled = |seen: &LookedUp| !matches!(seen, LookedUp::NotThere);
        self.told(patiently(self.patience, || self.once(), is_settled))
            .await
    }

    async fn told<T>(&self, lookup: impl Future<Output = T>) -> T {
        let version = (self.plan.prefix.as_str(), self.plan.version_name.as_str());
        waiting(self.platform, lookup, version, self.patience).await
    }
}

/// The outcome of a lookup that may be repeated; says what is looked for where it takes long.
async fn waiting<T>(
    platform: &Platform,
    lookup: impl Future<Output = T>,
    (prefix, version): (&str, &str),
    patience: Duration,
) -> T {
    let what = || {
        format!(
            "the platform is asked for the version `{version}` of `{prefix}` until it shows what became of it, for {} s at most",
            patience.as_secs()
        )
    };
    platform.observer().waiting(lookup, what).await
}

/// Repeats a lookup with growing waits until it is settled or the patience is at its end.
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

/// Why the details are not those that were asked for.
fn names_another(details: &ArtifactDetails, plan: &Plan) -> Option<String> {
    let artifact = &details.artifact;
    let named = [
        ("prefix", &artifact.shared_pipeline_id_prefix, &plan.prefix),
        ("version name", &artifact.version_name, &plan.version_name),
    ];
    named.into_iter().find_map(|(what, told, asked)| {
        let told = told.as_ref().filter(|told| *told != asked)?;
        Some(format!(
            "the platform was asked for the {what} `{asked}` and told of `{told}`"
        ))
    })
}

/// Whose a version is that was not there before an upload whose answer was lost.
pub(super) enum Whose {
    Ours,
    /// By what it is told.
    Anothers(String),
    /// What keeps it from being told.
    Unclear(String),
}

/// Tells by commit and time; `since` is when this run looked and the version was not there.
pub(super) fn whose(details: &ArtifactDetails, plan: &Plan, since: Timestamp) -> Whose {
    let artifact = &details.artifact;
    if artifact.commit_hash.is_none() {
        return Whose::Unclear("a version is there, and the platform tells no commit hash for it".to_owned());
    }
    if let Some(difference) = verify::other_commit(artifact.commit_hash.as_deref(), &plan.commit_hash) {
        return Whose::Anothers(difference);
    }
    let told = artifact.created_at.as_deref().unwrap_or_default();
    match time(told) {
        None => Whose::Unclear(format!(
            "a version of this commit is there, and the platform does not tell when it was made (`{told}`)"
        )),
        Some(made) if made < since.saturating_sub(CLOCK_SKEW).unwrap_or(since) => {
            Whose::Anothers(format!("it was made at {told}, before this run began"))
        }
        Some(_) => Whose::Ours,
    }
}

/// An ISO 8601 time; one without an offset is taken for UTC.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    let local = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
    text.parse().ok().or_else(|| Some(local()?.timestamp()))
}

/// What consumers that ask for \[Latest\] get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Latest {
    Version(String),
    /// Nothing: no version is enabled.
    Nothing,
    /// It could not be looked up: why.
    Unknown(String),
}

/// What \[Latest\] of a prefix means once `gone` is disabled; the details may lag, so they are asked with patience.
pub async fn latest_without(platform: &Platform, prefix: &str, gone: &str, patience: Duration) -> Latest {
    let still = |latest: &Latest| matches!(latest, Latest::Version(version) if version == gone);
    let lookup = patiently(patience, || latest(platform, prefix), |seen| !still(seen));
    match waiting(platform, lookup, (prefix, gone), patience).await {
        seen if still(&seen) => Latest::Unknown(format!("the platform still names {gone}")),
        seen => seen,
    }
}

async fn latest(platform: &Platform, prefix: &str) -> Latest {
    match platform.artifact_details(prefix, None).await {
        Ok(details) => match details.artifact.version_name {
            Some(version) => Latest::Version(version),
            None => Latest::Unknown("the platform names no version".to_owned()),
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
    fn the_waits_grow_up_to_the_longest() {
        let waits: Vec<u128> = waits().take(8).map(|wait| wait.as_millis()).collect();
        assert_eq!(waits, [250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
    }
}
