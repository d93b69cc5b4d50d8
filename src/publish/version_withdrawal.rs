//! Disables a version, so that consumers of \[Latest\] get the previous one, and makes sure that the platform did it.

use super::latest_version::{LatestVersion, poll_latest_after_disabling};
use super::version_lookup::poll_until;
use serde_json::Value;
use sluicegate_platform::api::Platform;
use std::time::Duration;

/// The state of a version that a request sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedState {
    Enabled,
    Disabled,
}

impl RequestedState {
    /// Returns whether consumers can use a version in this state.
    pub const fn is_enabled(self) -> bool {
        matches!(self, Self::Enabled)
    }

    /// Returns the other state, which the version has before the request.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Enabled => Self::Disabled,
            Self::Disabled => Self::Enabled,
        }
    }

    /// Returns the state for a message.
    pub const fn adjective(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
        }
    }
}

/// The reason why a version may not have the requested state.
#[derive(Debug)]
pub struct WithdrawalError {
    pub reason: String,
}

impl WithdrawalError {
    fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}

/// Withdraws a version from consumers by disabling it, and returns the version that \[Latest\] means then. Another
/// latest version alone proves nothing, because another job may have published it. Therefore, the details of the
/// version must show that it is disabled, unless the response to the request shows it or no version is enabled.
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
        poll_until_state(platform, prefix, version_name, RequestedState::Disabled, timeout).await?;
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
    let state = RequestedState::Disabled;
    match platform
        .set_artifact_enabled(prefix, version_name, state.is_enabled())
        .await
    {
        Ok(response) if has_state(&response, state.opposite()) => Err(WithdrawalError::new(
            "according to the platform's response, the version is still enabled",
        )),
        Ok(response) => Ok(has_state(&response, state)),
        Err(error) => Err(WithdrawalError::new(error.to_string())),
    }
}

/// Returns whether the response to a request to enable or disable a version shows this state.
pub fn has_state(response: &Value, state: RequestedState) -> bool {
    response.get("enabled") == Some(&Value::Bool(state.is_enabled()))
}

/// Fails if the details of the version do not show this state within the timeout.
pub async fn poll_until_state(
    platform: &Platform,
    prefix: &str,
    version_name: &str,
    state: RequestedState,
    timeout: Duration,
) -> Result<(), WithdrawalError> {
    let details = poll_until(
        timeout,
        || platform.fetch_artifact_details(prefix, Some(version_name)),
        |details| {
            details
                .as_ref()
                .is_ok_and(|details| details.artifact.enabled == Some(state.is_enabled()))
        },
    );
    let adjective = state.adjective();
    match details.await {
        Ok(details) if details.artifact.enabled == Some(state.is_enabled()) => Ok(()),
        Ok(_) => Err(WithdrawalError::new(format!(
            "the platform accepted the request, but does not show the version as {adjective}"
        ))),
        Err(error) => Err(WithdrawalError::new(format!(
            "the platform accepted the request, but it is unknown whether the version is {adjective}: {error}"
        ))),
    }
}
