//! Runs `sluicegate artifacts`.

use super::{artifacts_diff, artifacts_impact};
use crate::error::Failure;
use crate::job::cli::ArtifactsVerb;
use crate::job::settings::SettingSources;
use crate::operations::artifacts::{print_artifact, print_artifacts};
use crate::operations::versions::VersionSwitch;
use crate::session::{CommandResult, Session};
use sluicegate_platform::api::Platform;
use std::time::Duration;

/// Runs `sluicegate artifacts`: lists, shows, enables, disables, rolls back and prunes published versions, compares
/// them, and finds the pipelines that use them.
pub(crate) fn run(session: &Session, verb: ArtifactsVerb) -> CommandResult {
    match verb {
        ArtifactsVerb::Diff(args) => artifacts_diff::run(session, &args),
        ArtifactsVerb::Impact(args) => artifacts_impact::run(session, &args),
        ArtifactsVerb::List { prefix, output } => {
            let client = VersionClient::connect(session)?;
            let prefix = client.sources.resolve_optional_prefix(prefix)?;
            session.block_on(print_artifacts(session, client.platform, prefix, output))?
        }
        ArtifactsVerb::Show {
            version,
            prefix,
            version_name,
            output,
        } => {
            let client = VersionClient::connect(session)?;
            let prefix = client.sources.resolve_prefix(prefix)?;
            // The user passes the version as an argument or with the flag `--version-name`.
            let version = version.or(version_name);
            client
                .sources
                .require_expanded_version(version.as_deref().unwrap_or_default())?;
            session.block_on(print_artifact(session, client.platform, prefix, version, output))?
        }
        ArtifactsVerb::Enable(args) => {
            let client = VersionClient::connect(session)?;
            client
                .sources
                .require_expanded_version(args.version.version_name())?;
            session.block_on(client.create_switch(args.prefix.clone())?.enable(&args))?
        }
        ArtifactsVerb::Disable(args) => {
            let client = VersionClient::connect(session)?;
            client
                .sources
                .require_expanded_version(args.version.version.version_name())?;
            session.block_on(client.create_switch(args.version.prefix.clone())?.disable(&args))?
        }
        ArtifactsVerb::Rollback(args) => {
            let client = VersionClient::connect(session)?;
            session.block_on(client.create_switch(args.prefix.clone())?.roll_back(&args))?
        }
        ArtifactsVerb::Prune(args) => {
            let client = VersionClient::connect(session)?;
            session.block_on(client.create_switch(args.prefix.clone())?.prune_versions(&args))?
        }
    }
}

/// The platform whose versions a command reads or changes.
struct VersionClient<'r> {
    session: &'r Session,
    sources: SettingSources<'r>,
    platform: Platform,
    /// Maximum time to wait until the platform shows the change of a version.
    lookup_timeout: Duration,
}

impl<'r> VersionClient<'r> {
    fn connect(session: &'r Session) -> Result<Self, Failure> {
        let sources = session.read_setting_sources()?;
        let platform =
            session.create_platform_client(&sources.resolve_account_connection(&session.global)?)?;
        // No command has a flag for the timeout.
        let lookup_timeout = sources.resolve_lookup_timeout(None)?;
        Ok(Self {
            session,
            sources,
            platform,
            lookup_timeout,
        })
    }

    /// Returns the operations on the versions of the prefix, which is resolved from the flag and the settings.
    fn create_switch(&self, prefix: Option<String>) -> Result<VersionSwitch<'_>, Failure> {
        let prefix = self.sources.resolve_prefix(prefix)?;
        Ok(VersionSwitch::new(
            self.session,
            &self.platform,
            prefix,
            self.lookup_timeout,
        ))
    }
}
