//! Looks up whether a version exists.
//!
//! The details may lag behind an upload, so the lookup of a missing version is repeated, with growing waits, until
//! the time limit.

use super::Plan;
use sluicegate_platform::api::{ArtifactDetails, Platform};
use sluicegate_platform::http::HttpError;
use std::time::Duration;
use tokio::time::Instant;

/// First wait between two lookups; doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// Maximum wait between two lookups.
const MAX_WAIT: Duration = Duration::from_secs(8);

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
    /// There was no usable response.
    Unclear(HttpError),
}

impl VersionLookup<'_> {
    /// Requests the version once. The result is unclear if the request fails or returns another version.
    pub(super) async fn request_version(&self) -> LookupResult {
        let (prefix, version_name) = (&self.plan.prefix, &self.plan.version_name);
        match self.platform.find_artifact(prefix, version_name).await {
            Ok(Some(details)) => LookupResult::Found(Box::new(details)),
            Ok(None) => LookupResult::NotFound,
            Err(error) => LookupResult::Unclear(error),
        }
    }

    /// Repeats the lookup until the version exists, the request fails permanently, or the time is over.
    pub(super) async fn poll_until_found(&self) -> LookupResult {
        let lookup = poll_until(
            self.timeout,
            || self.request_version(),
            |result| match result {
                LookupResult::Found(_) => true,
                LookupResult::NotFound => false,
                LookupResult::Unclear(error) => error.kind().is_permanent(),
            },
        );
        self.wait_for_lookup(lookup).await
    }

    /// Repeats the lookup of a version that the platform has just accepted, until its details list shared pipelines:
    /// before that, the platform is still processing it. If the plan offers none, the version only has to exist. An
    /// unclear result ends the wait; the outcome then says that the version could not be looked up.
    pub(super) async fn poll_until_processed(&self) -> LookupResult {
        let lookup = poll_until(
            self.timeout,
            || self.request_version(),
            |result| match result {
                LookupResult::Found(details) => {
                    !details.shared_pipelines.is_empty() || self.plan.shared_pipelines.is_empty()
                }
                LookupResult::NotFound => false,
                LookupResult::Unclear(..) => true,
            },
        );
        self.wait_for_lookup(lookup).await
    }

    /// Waits for a lookup of the planned version, and reports the wait if it takes long.
    async fn wait_for_lookup(&self, lookup: impl Future<Output = LookupResult>) -> LookupResult {
        let (prefix, version_name) = (&self.plan.prefix, &self.plan.version_name);
        await_lookup_with_report(self.platform, lookup, prefix, version_name, self.timeout).await
    }
}

/// Waits for a lookup and returns its result. Reports the wait to the user if it takes long.
pub(super) async fn await_lookup_with_report<T>(
    platform: &Platform,
    lookup: impl Future<Output = T>,
    prefix: &str,
    version_name: &str,
    timeout: Duration,
) -> T {
    platform
        .observer()
        .await_with_report(lookup, || {
            format!(
                "waiting for the platform to update version `{version_name}` of `{prefix}`, at most {} s",
                timeout.as_secs()
            )
        })
        .await
}

/// Repeats a request with growing pauses until `is_final` accepts the result or the time is over. Returns the last
/// result.
pub async fn poll_until<T, F: Future<Output = T>>(
    timeout: Duration,
    request: impl Fn() -> F,
    is_final: impl Fn(&T) -> bool,
) -> T {
    let deadline = Instant::now() + timeout;
    let mut result = request().await;
    for wait in poll_intervals() {
        let remaining_time = deadline.saturating_duration_since(Instant::now());
        if is_final(&result) || remaining_time.is_zero() {
            break;
        }
        tokio::time::sleep(wait.min(remaining_time)).await;
        result = request().await;
    }
    result
}

/// Returns the waits between lookups, without end: the first is [`FIRST_WAIT`], each further one twice as long, up to
/// [`MAX_WAIT`].
fn poll_intervals() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(FIRST_WAIT), |wait| Some((*wait * 2).min(MAX_WAIT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_maximum() {
        let waits: Vec<u128> = poll_intervals().take(8).map(|wait| wait.as_millis()).collect();
        assert_eq!(waits, [250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
    }
}
