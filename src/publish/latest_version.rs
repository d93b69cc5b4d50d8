//! Looks up the version that consumers with \[Latest\] get.

use super::version_lookup::{await_lookup_with_report, poll_until};
use sluicegate_platform::api::Platform;
use std::time::Duration;

/// The version that consumers with \[Latest\] get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LatestVersion {
    Enabled(String),
    /// No version is enabled.
    NoneEnabled,
    /// The lookup failed; contains the reason.
    Unknown(String),
}

/// Returns the version that \[Latest\] means after `disabled_version` was disabled. Repeats the lookup, because
/// the platform may still return the disabled version for a while. If it does so until `timeout`, the result is
/// unknown.
pub async fn poll_latest_after_disabling(
    platform: &Platform,
    prefix: &str,
    disabled_version: &str,
    timeout: Duration,
) -> LatestVersion {
    let is_still_latest =
        |latest: &LatestVersion| *latest == LatestVersion::Enabled(disabled_version.to_owned());
    let lookup = poll_until(
        timeout,
        || request_latest_version(platform, prefix),
        |latest| !is_still_latest(latest),
    );
    match await_lookup_with_report(platform, lookup, prefix, disabled_version, timeout).await {
        latest if is_still_latest(&latest) => {
            LatestVersion::Unknown(format!("the platform still returns {disabled_version}"))
        }
        latest => latest,
    }
}

/// Returns the version that \[Latest\] means. Repeats the lookup until it is `version` or the time is over, because the
/// platform may show a new version only after a while.
pub async fn poll_latest_until_version(
    platform: &Platform,
    prefix: &str,
    version: &str,
    timeout: Duration,
) -> LatestVersion {
    let lookup = poll_until(
        timeout,
        || request_latest_version(platform, prefix),
        |latest| *latest == LatestVersion::Enabled(version.to_owned()),
    );
    await_lookup_with_report(platform, lookup, prefix, version, timeout).await
}

/// Requests once the version that \[Latest\] means now. An error is part of the result.
pub async fn request_latest_version(platform: &Platform, prefix: &str) -> LatestVersion {
    match platform.find_latest_artifact(prefix).await {
        Ok(Some(details)) => match details.artifact.version_name {
            Some(version) => LatestVersion::Enabled(version),
            None => LatestVersion::Unknown("the platform did not return a version".to_owned()),
        },
        Ok(None) => LatestVersion::NoneEnabled,
        Err(error) => LatestVersion::Unknown(error.to_string()),
    }
}
