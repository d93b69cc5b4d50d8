//! Keeps at least one version of a prefix enabled.
//!
//! The list of versions is read before a version is disabled, and another command may disable the others in between.
//! Therefore, the commands look again afterwards: of several commands, the last one then sees that no version is
//! enabled.

use super::versions::VersionSwitch;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publish::{
    LatestVersion, RequestedState, is_last_enabled_version, poll_latest_after_disabling,
    request_latest_version,
};
use crate::session::artifact_versions::{
    describe_latest_version, enable_command, list_command, list_versions, version_request_failure,
};
use sluicegate_platform::api::Artifact;
use std::time::Duration;

/// Maximum time to wait until the platform shows the change of the latest version.
const MAX_DELAY: Duration = Duration::from_secs(5);

impl VersionSwitch<'_> {
    /// Fails if no other one of the listed versions of the prefix is enabled, and this one is enabled or missing.
    /// Returns whether this version may be enabled.
    pub(super) async fn reject_last_enabled(
        &self,
        versions: &[Artifact],
        version: &str,
    ) -> Result<bool, Failure> {
        // The list may be older than the version.
        let listed_version = versions
            .iter()
            .find(|artifact| artifact.version_name.as_deref() == Some(version));
        if !is_last_enabled_version(versions, version) {
            return Ok(listed_version.is_none_or(Artifact::may_be_enabled));
        }
        if listed_version.is_none() {
            let version = Some(version);
            let details = self.platform.fetch_artifact_details(&self.prefix, version).await;
            if let Err(error) = details {
                return Err(version_request_failure(self.platform, &self.prefix, version, error).await);
            }
        }
        let message = format!(
            "version {version} is the last enabled version of {}: without it, consumers fail when they run",
            self.prefix
        );
        Err(Failure::usage(message).with_hint("publish or enable another version first, or pass --force"))
    }

    /// Returns the version that consumers get after this one was disabled. Fails if it is unknown. If no version is
    /// enabled, fails after enabling this one again.
    pub(super) async fn require_successor(&self, version: &str) -> Result<String, Failure> {
        match self.poll_successor(version).await? {
            Some(latest) => Ok(latest),
            None => Err(self.enable_again(version).await),
        }
    }

    /// Returns the version that consumers get after this one was disabled. Fails if it is unknown. If no version is
    /// enabled, warns and returns `None`.
    pub(super) async fn find_successor(&self, version: &str) -> Result<Option<String>, Failure> {
        let latest = self.poll_successor(version).await?;
        if latest.is_none() {
            self.session
                .ui
                .warn(&describe_latest_version(&LatestVersion::NoneEnabled));
        }
        Ok(latest)
    }

    /// Adds to a message which version consumers get after a version was enabled. If that is unknown, warns instead.
    pub(super) async fn add_latest_version(&self, message: String) -> String {
        let latest = match request_latest_version(self.platform, &self.prefix).await {
            LatestVersion::NoneEnabled => {
                LatestVersion::Unknown("the platform does not show an enabled version yet".to_owned())
            }
            latest => latest,
        };
        let description = describe_latest_version(&latest);
        if matches!(latest, LatestVersion::Enabled(_)) {
            return format!("{message}: {description}");
        }
        self.session.ui.warn(&description);
        message
    }

    /// Polls until the platform shows the latest version without the disabled one; `None` if no version is enabled.
    async fn poll_successor(&self, version: &str) -> Result<Option<String>, Failure> {
        // The platform may report the old latest version for a moment.
        let latest = poll_latest_after_disabling(self.platform, &self.prefix, version, MAX_DELAY).await;
        match latest {
            LatestVersion::Enabled(version) => Ok(Some(version)),
            LatestVersion::NoneEnabled => Ok(None),
            LatestVersion::Unknown(_) => {
                let message = format!(
                    "requested to disable version {version} of {}, but {}",
                    self.prefix,
                    describe_latest_version(&latest)
                );
                Err(self.undecided_failure(message))
            }
        }
    }

    /// Enables a version again that this command disabled, because no version is enabled: another command disabled the
    /// others at the same time. Returns the failure of this command. Enables nothing if the list of versions does not
    /// show that all are disabled, because the platform may only have failed to find the latest version.
    async fn enable_again(&self, version: &str) -> Failure {
        let prefix = &self.prefix;
        let reason = match list_versions(self.platform, prefix).await {
            Ok(versions) if !versions.is_empty() && !versions.iter().any(Artifact::may_be_enabled) => None,
            Ok(_) => Some("the list of versions does not show that all are disabled".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(reason) = reason {
            return self.undecided_failure(format!(
                "requested to disable version {version} of {prefix}, but could not determine whether another version \
                 is enabled: the platform found no latest version; {reason}"
            ));
        }
        if let Err(failure) = self.set_state(version, RequestedState::Enabled).await {
            let hint = format!("run `{}` now", enable_command(prefix, version));
            return failure
                .context(describe_latest_version(&LatestVersion::NoneEnabled))
                .with_hint(hint);
        }
        self.undecided_failure(format!(
            "version {version} of {prefix} was enabled again: the other versions were disabled meanwhile, and \
             without an enabled version, consumers fail when they run"
        ))
    }

    /// Creates a failure after which the user must look at the enabled versions.
    pub(super) fn undecided_failure(&self, message: String) -> Failure {
        let hint = format!("run `{}` to see the enabled versions", list_command(&self.prefix));
        Failure::from_message(ExitStatus::Undecided, message).with_hint(hint)
    }
}
