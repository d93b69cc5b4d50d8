//! Settings for commands of the platform: how to wait, the environment, and the real names behind the neutral names of
//! the API document.

use super::layers::require_value_in_range;
use super::setting_table::variable;
use super::{SettingSources, SettingsError};
use crate::job::cli::{PaceArgs, VocabularyArgs};
use sluicegate_platform::definitions::provision::PlatformNames;
use std::time::Duration;

const MAX_TIMEOUT_SECONDS: u64 = 30 * 24 * 60 * 60;

/// How long to wait and how often to poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollSettings {
    pub first_interval: Duration,
    /// Maximum time of the complete wait.
    pub time_limit: Duration,
}

impl SettingSources<'_> {
    /// Resolves how long to wait for the platform, and how often to poll. Without `--timeout`, the time limit is
    /// `default_limit`, in seconds.
    pub fn resolve_poll_settings(
        &self,
        args: &PaceArgs,
        default_limit: u64,
    ) -> Result<PollSettings, SettingsError> {
        let interval = self.layers().resolve_seconds(
            args.poll_interval,
            variable::POLL_INTERVAL,
            self.file.poll_interval,
            "poll interval",
        )?;
        let limit = require_value_in_range(args.timeout, default_limit, 0, MAX_TIMEOUT_SECONDS, "timeout")?;
        Ok(PollSettings {
            first_interval: Duration::from_secs_f64(interval),
            time_limit: Duration::from_secs(limit),
        })
    }

    /// Resolves the name of the environment to run pipelines in. Fails if it is not set.
    pub fn resolve_environment(&self, flag: Option<String>) -> Result<String, SettingsError> {
        let file = self.file.environment.clone();
        self.layers()
            .resolve_filled_text(flag, variable::ENVIRONMENT, file)?
            .ok_or_else(|| {
                let hint = format!(
                    "pass --environment, set {}, or set `environment` in the configuration file",
                    variable::ENVIRONMENT
                );
                SettingsError::new("the environment is not set").with_hint(hint)
            })
    }

    /// Resolves the status value that terminates an execution. It is a setting because the API document does not define
    /// it.
    pub fn resolve_cancel_status(&self, flag: Option<String>) -> Result<String, SettingsError> {
        let file = self.file.cancel_status.clone();
        self.layers().resolve_name(flag, variable::CANCEL_STATUS, file)
    }

    /// Resolves the names that the platform uses for warehouses and the git provider. They are settings because the API
    /// document replaces them with neutral names, which are the defaults. The document has the git provider in lower
    /// case.
    pub fn resolve_platform_names(&self, args: &VocabularyArgs) -> Result<PlatformNames, SettingsError> {
        let (layers, file) = (self.layers(), self.file.vocabulary.clone());
        Ok(PlatformNames {
            key_pair_warehouse: layers.resolve_name(
                args.warehouse_a.clone(),
                variable::WAREHOUSE_A,
                file.warehouse_a,
            )?,
            password_warehouse: layers.resolve_name(
                args.warehouse_b.clone(),
                variable::WAREHOUSE_B,
                file.warehouse_b,
            )?,
            git_provider: layers
                .resolve_name(
                    args.git_provider.clone(),
                    variable::GIT_PROVIDER,
                    file.git_provider,
                )?
                .to_lowercase(),
        })
    }

    /// Resolves the `secretType` of references to secrets that are stored in the cloud's key vault: `--key-vault`, or
    /// else the variable or the configuration file, in upper case as in the API document. References with a
    /// `secretType` of their own do not need it.
    pub fn resolve_secret_type(&self, flag: Option<String>) -> Result<String, SettingsError> {
        let file = self.file.vocabulary.key_vault.clone();
        let name = self.layers().resolve_name(flag, variable::KEY_VAULT, file)?;
        Ok(name.to_uppercase())
    }
}
