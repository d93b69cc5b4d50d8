//! Disables a version, so that consumers of \[Latest\] get the previous one, and makes sure that the platform did it.

use super::latest_version::{LatestVersion, poll_latest_after_disabling};
use super::version_lookup::poll_until;
use serde_json::Value;
use sluicegate_platform::api::Platform;
use sluicegate_platform::http::HttpError;
use std::time::Duration;

/// The reason why a version may not have the requested state.
#[derive(Debug)]
pub struct WithdrawalError {
    pub reason: String,
    /// The error of the failed request, if there is one.
    pub error: Option<HttpError>,
}

impl WithdrawalError {
    fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            error: None,
        }
    }
}

/// Withdraws a version from consumers by disabling it, and returns the version that \[Latest\] means then. Another
/// latest version alone proves nothing, because another job may have published it. Therefore, the details of the version
/// must show that it is disabled, unless the response to the request shows it or no version is enabled.
pub async fn withdraw_version(
    platform: &Platform,
    prefix: &str,
    version_name: &str,
    timeout: Duration,
) -> Result<LatestVersion, WithdrawalError> {
    let is_confirmed = request_withdrawal(platform, prefix, version_name).await?;
    let latest = poll_latest_after_disabling(platform, prefix, version_name, timeout).await;
    let is_proved = match latest {
        LatestVersion::NoneEnabled => true,
        LatestVersion::Enabled(_) => is_confirmed,
        LatestVersion::Unknown(_) => false,
    };
    if !is_proved {
        let is_enabled = false;
        poll_until_state(platform, prefix, version_name, is_enabled, timeout).await?;
    }
    Ok(latest)
}

/// Requests the platform to disable a version. Returns whether the response shows the version as disabled. Fails if the
/// request fails, or the response shows that the version is still enabled.
async fn request_withdrawal(
    platform: &Platform,
    prefix: &str,
    version_name: &str,
) -> Result<bool, WithdrawalError> {
    let is_enabled = false;
    match platform
        .set_artifact_enabled(prefix, version_name, is_enabled)
        .await
    {
        Ok(response) if has_other_state(&response, is_enabled) => Err(WithdrawalError::new(
            "according to the platform's response, the version is still enabled",
        )),
        Ok(response) => Ok(has_state(&response, is_enabled)),
        Err(error) => Err(WithdrawalError {
            reason: error.to_string(),
            error: Some(error),
        }),
    }
}

/// Returns whether the response to a request to enable or disable a version shows the requested state.
pub fn has_state(response: &Value, is_enabled: bool) -> bool {
    response.get("enabled") == Some(&Value::Bool(is_enabled))
}

/// Returns whether the response to a request to enable or disable a version shows the opposite of the requested state.
pub fn has_other_state(response: &Value, is_enabled: bool) -> bool {
    response
        .get("enabled")
        .is_some_and(|state| *state == Value::Bool(!is_enabled))
}

/// Fails if the details of the version do not show, within the timeout, that it is enabled or disabled.
pub async fn poll_until_state(
    platform: &Platform,
    prefix: &str,
    version_name: &str,
    is_enabled: bool,
    timeout: Duration,
) -> Result<(), WithdrawalError> {
    let details = poll_until(
        timeout,
        || platform.fetch_artifact_details(prefix, Some(version_name)),
        |details| {
            details
                .as_ref()
                .is_ok_and(|details| details.artifact.enabled == Some(is_enabled))
        },
    );
    let state = if is_enabled { "enabled" } else { "disabled" };
    match details.await {
        Ok(details) if details.artifact.enabled == Some(is_enabled) => Ok(()),
        Ok(_) => Err(WithdrawalError::new(format!(
            "the platform accepted the request, but does not show the version as {state}"
        ))),
        Err(error) => Err(WithdrawalError::new(format!(
            "the platform accepted the request, but it is unknown whether the version is {state}: {error}"
        ))),
    }
}
