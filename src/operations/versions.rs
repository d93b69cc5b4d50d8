//! Enables and disables versions, without accidentally leaving consumers without one.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{DisableArgs, OutputArgs, OutputFormat, PrefixArgs, PruneArgs, VersionArgs};
use crate::publish::{
    LatestVersion, RequestedState, find_newer_version, has_state, list_surplus_versions, poll_until,
    poll_until_state,
};
use crate::session::artifact_versions::{
    describe_latest_version, disable_command, list_versions, version_request_failure,
};
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Session};
use serde_json::{Value, json};
use sluicegate_base::text::{self, format_count};
use sluicegate_platform::api::{Artifact, Platform};
use sluicegate_platform::http::ErrorKind;
use std::time::Duration;

pub(crate) struct VersionSwitch<'a> {
    pub(super) session: &'a Session,
    pub(super) platform: &'a Platform,
    pub(super) prefix: String,
    /// Maximum time to wait until the platform shows the change of a version.
    lookup_timeout: Duration,
}

impl<'a> VersionSwitch<'a> {
    /// Creates the commands for the versions of this prefix.
    pub(crate) const fn new(
        session: &'a Session,
        platform: &'a Platform,
        prefix: String,
        lookup_timeout: Duration,
    ) -> Self {
        Self {
            session,
            platform,
            prefix,
            lookup_timeout,
        }
    }

    /// Enables a version, so that consumers can use it.
    pub(crate) async fn enable(self, args: &VersionArgs) -> CommandResult {
        let version = args.version.version_name();
        let response = self.set_state(version, RequestedState::Enabled).await?;
        let message = format!("enabled version {version} of {}", self.prefix);
        let message = self.add_latest_version(message).await;
        self.print_outcome(args.output, &response, &message)
    }

    /// Disables a version. Without `--force`, fails if it is the last enabled version, because consumers would then
    /// have none; with it, warns of that.
    pub(crate) async fn disable(self, args: &DisableArgs) -> CommandResult {
        let version = args.version.version.version_name();
        let is_required = !args.force && {
            let versions = list_versions(self.platform, &self.prefix).await?;
            self.reject_last_enabled(&versions, version).await?
        };
        let response = self.set_state(version, RequestedState::Disabled).await?;
        if is_required {
            self.require_successor(version).await?;
        } else {
            self.find_successor(version).await?;
        }
        let message = format!("disabled version {version} of {}", self.prefix);
        self.print_outcome(args.version.output, &response, &message)
    }

    /// Disables the latest version, which consumers of \[Latest\] get, and prints which version they get instead.
    /// Without `--force`, fails if no other version is enabled, or if it is unclear which version is the latest.
    pub(crate) async fn roll_back(self, args: &PrefixArgs) -> CommandResult {
        let (versions, version) = self.fetch_versions_and_latest(args.force).await?;
        if !args.force {
            self.reject_last_enabled(&versions, &version).await?;
        }
        if let Err(failure) = self.set_state(&version, RequestedState::Disabled).await {
            return Err(self.add_repetition_hint(failure, &version, args.force));
        }
        let latest_version = if args.force {
            self.find_successor(&version).await?
        } else {
            Some(self.require_successor(&version).await?)
        };
        let mut message = format!("disabled version {version} of {}", self.prefix);
        if let Some(version) = &latest_version {
            let latest = LatestVersion::Enabled(version.clone());
            message = format!("{message}: {}", describe_latest_version(&latest));
        }
        let document =
            json!({ "sharedPipelineIdPrefix": self.prefix, "disabled": version, "latest": latest_version });
        self.print_outcome(args.output, &document, &message)
    }

    /// Adds to the hint of a failed rollback how to repeat it: the version may be disabled already, and a second
    /// rollback would then disable the previous version, too.
    fn add_repetition_hint(&self, failure: Failure, version: &str, is_forced: bool) -> Failure {
        let flag = if is_forced { " --force" } else { "" };
        let repetition = format!(
            "to repeat the rollback, run `{}{flag}`, because another `rollback` may disable another version",
            disable_command(&self.prefix, version)
        );
        let hint = match failure.own_hint() {
            Some(hint) => format!("{hint}; {repetition}"),
            None => repetition,
        };
        failure.with_hint(hint)
    }

    /// Disables all enabled versions except the newest ones; `--keep` sets how many remain. Without `--yes`, only lists
    /// the versions to disable.
    pub(crate) async fn prune_versions(self, args: &PruneArgs) -> CommandResult {
        let is_forced = false;
        let (versions, latest) = self.fetch_versions_and_latest(is_forced).await?;
        let kept_count = usize::try_from(args.keep).unwrap_or(usize::MAX);
        let old_versions = list_surplus_versions(&versions, &latest, kept_count).map_err(|error| {
            Failure::new(ExitStatus::Undecided, error).with_hint("disable the versions one by one")
        })?;
        let mut latest_result = Ok(());
        let (disabled_versions, unconfirmed_versions) = if args.yes {
            let newest_version = old_versions.first().cloned();
            let result = self.disable_versions(old_versions).await?;
            if let Some(version) = newest_version {
                latest_result = self.require_successor(&version).await.map(|_| ());
            }
            result
        } else {
            (old_versions, Vec::new())
        };
        let mut document = json!({
            "sharedPipelineIdPrefix": self.prefix, "latest": latest, "disabled": disabled_versions, "done": args.yes,
        });
        let message = self.describe_prune(&disabled_versions, kept_count, args.yes);
        if unconfirmed_versions.is_empty() {
            let status = self.print_outcome(args.output, &document, &message)?;
            return latest_result.map(|()| status);
        }
        document["unconfirmed"] = json!(unconfirmed_versions);
        // `describe_prune` describes an empty list as that of a prefix without old versions.
        let message = if disabled_versions.is_empty() {
            format!("confirmed no version of {} as disabled", self.prefix)
        } else {
            message
        };
        self.print_outcome(args.output, &document, &message)?;
        latest_result?;
        Err(self.unconfirmed_failure(&unconfirmed_versions))
    }

    /// Creates the failure of a prune after which the platform does not show these versions as disabled.
    fn unconfirmed_failure(&self, versions: &[String]) -> Failure {
        let message = format!(
            "could not check whether {} of {} {} disabled: {}",
            format_count(versions.len(), "version"),
            self.prefix,
            if versions.len() == 1 { "is" } else { "are" },
            versions.join(", ")
        );
        self.undecided_failure(message)
    }

    /// Disables these versions one after the other. Stops at the first failure, which then names the versions that were
    /// disabled before it; if no version is enabled then, enables the newest of them again. Returns the disabled
    /// versions, and those whose state the platform does not show, of which it also warns.
    async fn disable_versions(&self, versions: Vec<String>) -> Result<(Vec<String>, Vec<String>), Failure> {
        let (mut disabled_versions, mut unconfirmed_versions) = (Vec::new(), Vec::new());
        let total_count = versions.len();
        let mut timeout = self.lookup_timeout;
        let mut newest_requested_version: Option<String> = None;
        for version in versions {
            let response = match self.request_state(&version, RequestedState::Disabled).await {
                Ok(response) => response,
                Err(failure) => {
                    if let Some(newest_version) = &newest_requested_version
                        && let Err(latest_failure) = self.require_successor(newest_version).await
                    {
                        self.session.ui.warn_of_failure("", &latest_failure);
                    }
                    return Err(self.add_prune_progress(
                        failure,
                        &disabled_versions,
                        &unconfirmed_versions,
                        total_count,
                    ));
                }
            };
            newest_requested_version.get_or_insert_with(|| version.clone());
            match self
                .confirm_state(&response, &version, RequestedState::Disabled, timeout)
                .await
            {
                Ok(()) => {
                    let message = format!("disabled version {version} of {}", self.prefix);
                    self.session.ui.say(&message);
                    disabled_versions.push(version);
                }
                Err(failure) => {
                    self.session.ui.warn_of_failure("", &failure);
                    unconfirmed_versions.push(version);
                    // The platform will hardly show the state of the next versions either.
                    timeout = Duration::ZERO;
                }
            }
        }
        Ok((disabled_versions, unconfirmed_versions))
    }

    /// Describes which versions were disabled or, unless `is_done` is set, would be disabled.
    fn describe_prune(&self, old_versions: &[String], kept_count: usize, is_done: bool) -> String {
        if old_versions.is_empty() {
            let newest_versions = match kept_count {
                1 => "newest".to_owned(),
                _ => format!("{kept_count} newest"),
            };
            return format!(
                "no version to disable: {} has no enabled version besides the {newest_versions}",
                self.prefix
            );
        }
        let version_count = format_count(old_versions.len(), "version");
        if is_done {
            format!(
                "disabled {version_count} of {}: {}",
                self.prefix,
                old_versions.join(", ")
            )
        } else {
            format!(
                "would disable {version_count} of {}: {}; pass --yes to disable them",
                self.prefix,
                old_versions.join(", ")
            )
        }
    }

    /// Adds to a failure which versions were disabled before it, and for which the platform did not show this.
    fn add_prune_progress(
        &self,
        failure: Failure,
        disabled_versions: &[String],
        unconfirmed_versions: &[String],
        total_count: usize,
    ) -> Failure {
        let mut progress = match disabled_versions {
            [] => "no version was disabled before that".to_owned(),
            versions => format!("disabled before that: {}", versions.join(", ")),
        };
        if !unconfirmed_versions.is_empty() {
            progress = format!("{progress}; not confirmed: {}", unconfirmed_versions.join(", "));
        }
        let done_count = disabled_versions.len() + unconfirmed_versions.len();
        failure.context(format!(
            "stopped after {done_count} of {total_count} versions of {} ({progress})",
            self.prefix
        ))
    }

    /// Requests the platform to enable or disable a version. Fails if the response shows the old state, or if it shows
    /// none and the details of the version do not show the new state either.
    pub(super) async fn set_state(&self, version: &str, state: RequestedState) -> Result<Value, Failure> {
        let response = self.request_state(version, state).await?;
        self.confirm_state(&response, version, state, self.lookup_timeout)
            .await?;
        Ok(response)
    }

    /// Requests the platform to enable or disable a version. Fails if the response shows the old state.
    async fn request_state(&self, version: &str, state: RequestedState) -> Result<Value, Failure> {
        let result = self
            .platform
            .set_artifact_enabled(&self.prefix, version, state.is_enabled())
            .await;
        match result {
            Ok(response) if has_state(&response, state.opposite()) => {
                let message = format!(
                    "according to the platform's response, version {version} is still {}",
                    state.opposite().adjective()
                );
                Err(Failure::from_message(ExitStatus::Undecided, message))
            }
            Ok(response) => Ok(response),
            Err(error) => {
                let is_missing = error.kind() == ErrorKind::NotFound;
                let is_maybe_processed = error.is_maybe_processed();
                let failure =
                    version_request_failure(self.platform, &self.prefix, Some(version), error).await;
                // This failure already says what is missing.
                if is_missing {
                    return Err(failure);
                }
                let version = format!("version {version} of {}", self.prefix);
                Err(failure.context(match state {
                    _ if is_maybe_processed => {
                        format!("could not determine whether {version} was {}", state.adjective())
                    }
                    RequestedState::Enabled => format!("could not enable {version}"),
                    RequestedState::Disabled => format!("could not disable {version}"),
                }))
            }
        }
    }

    /// Fails if neither the response nor, within the timeout, the details of the version show this state.
    /// The API document does not define the response, so it need not show the state.
    async fn confirm_state(
        &self,
        response: &Value,
        version: &str,
        state: RequestedState,
        timeout: Duration,
    ) -> Result<(), Failure> {
        if has_state(response, state) {
            return Ok(());
        }
        let prefix = &self.prefix;
        let result = poll_until_state(self.platform, prefix, version, state, timeout).await;
        let Err(error) = result else {
            return Ok(());
        };
        let message = format!(
            "could not check whether version {version} of {prefix} is {}: {}",
            state.adjective(),
            error.reason
        );
        Err(self.undecided_failure(message))
    }

    /// Returns the versions of the prefix, and the name of the latest one. Requests both again while an enabled version
    /// is newer than the latest one, because one of the responses may then be old. If it is still newer after the
    /// timeout, warns if `is_forced` is set, otherwise fails.
    async fn fetch_versions_and_latest(&self, is_forced: bool) -> Result<(Vec<Artifact>, String), Failure> {
        let responses = poll_until(
            self.lookup_timeout,
            async || {
                let versions = list_versions(self.platform, &self.prefix).await?;
                Ok::<_, Failure>((versions, self.fetch_latest().await?))
            },
            |result| {
                result.as_ref().map_or(true, |(versions, latest)| {
                    find_newer_version(versions, latest).is_none()
                })
            },
        );
        let (versions, latest) = responses.await?;
        let name = latest.display_name();
        if let Some(newer_version) = find_newer_version(&versions, &latest) {
            let prefix = &self.prefix;
            let reason = format!(
                "the platform reports version {name}, but lists the newer version {newer_version} as enabled"
            );
            if !is_forced {
                let message = format!("could not determine the latest version of {prefix}: {reason}");
                let hint = format!(
                    "repeat the command later; to disable one of these versions now, run `{}` or `{}`",
                    disable_command(prefix, name),
                    disable_command(prefix, newer_version)
                );
                return Err(Failure::from_message(ExitStatus::Undecided, message).with_hint(hint));
            }
            let warning = format!("version {name} may not be the latest version of {prefix}: {reason}");
            self.session.ui.warn(&warning);
        }
        let name = name.to_owned();
        Ok((versions, name))
    }

    /// Requests the latest version. Fails if the response does not contain its name.
    async fn fetch_latest(&self) -> Result<Artifact, Failure> {
        // The platform returns the latest version if no name is given.
        let version = None;
        let details = match self.platform.fetch_artifact_details(&self.prefix, version).await {
            Ok(details) => details,
            Err(error) => {
                return Err(version_request_failure(self.platform, &self.prefix, version, error).await);
            }
        };
        if details.artifact.version_name.is_none() {
            let message = format!("the platform reports no latest version of {}", self.prefix);
            return Err(Failure::from_message(ExitStatus::Undecided, message));
        }
        Ok(details.artifact)
    }

    /// Prints the document for `--output json`, otherwise the message.
    fn print_outcome(&self, output: OutputArgs, document: &Value, message: &str) -> CommandResult {
        let text = match output.output {
            OutputFormat::Json => format_json(document),
            OutputFormat::Text => text::escape_line(message) + "\n",
        };
        self.session.ui.print_result(&text)?;
        Ok(ExitStatus::Success)
    }
}
