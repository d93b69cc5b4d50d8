//! Keeps at least one version of a prefix enabled.
//!
//! The list of versions is read before a version is disabled, and another command may disable the others in between.
//! Therefore, the commands look again afterwards: of several commands, the last one then sees that no version is enabled.

use super::versions::{MAX_DELAY, VersionSwitch};
use crate::error::Failure;
use crate::publish::{LatestVersion, RequestedState, is_last_enabled_version, poll_latest_after_disabling};
use crate::session::artifact_versions::{
    describe_latest_version, enable_command, list_command, list_versions, may_be_enabled,
    version_request_failure,
};

impl VersionSwitch<'_> {
    /// Fails if no other version of the prefix is enabled, and this one is enabled or missing. Returns whether this
    /// version may be enabled.
    pub(super) async fn reject_last_enabled(&self, version: &str) -> Result<bool, Failure> {
        let versions = list_versions(self.platform, &self.prefix).await?;
        // The list may be older than the version.
        let listed_version = versions
            .iter()
            .find(|artifact| artifact.version_name.as_deref() == Some(version));
        if !is_last_enabled_version(&versions, version) {
            return Ok(listed_version.is_none_or(may_be_enabled));
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

    /// Fails if no version is enabled after `disabled_version` and older ones were disabled. Enables it again then.
    pub(super) async fn require_enabled_version(
        &self,
        disabled_version: Option<&str>,
    ) -> Result<(), Failure> {
        let Some(version) = disabled_version else {
            return Ok(());
        };
        match poll_latest_after_disabling(self.platform, &self.prefix, version, MAX_DELAY).await {
            LatestVersion::NoneEnabled => Err(self.enable_again(version).await),
            LatestVersion::Enabled(_) | LatestVersion::Unknown(_) => Ok(()),
        }
    }

    /// Enables a version again that this command disabled, because no version is enabled: another command disabled the
    /// others at the same time. Returns the failure of this command.
    pub(super) async fn enable_again(&self, version: &str) -> Failure {
        let prefix = &self.prefix;
        if let Err(failure) = self.set_state(version, RequestedState::Enabled).await {
            let hint = format!("run `{}` now", enable_command(prefix, version));
            return failure
                .context(describe_latest_version(&LatestVersion::NoneEnabled))
                .with_hint(hint);
        }
        let message = format!(
            "version {version} of {prefix} was enabled again: the other versions were disabled meanwhile, and \
             without an enabled version, consumers fail when they run"
        );
        Failure::usage(message).with_hint(format!(
            "run `{}` to see the enabled versions",
            list_command(prefix)
        ))
    }
}
