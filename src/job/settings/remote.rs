//! Settings for commands of the platform: how to wait, the environment, and the real names behind the neutral names of
//! the API document.

use super::layers::within;
use super::look::Look;
use super::table::{by_variable, variable};
use super::{SettingsError, Sources};
use crate::job::cli::{PaceArgs, VocabularyArgs, parse_seconds};
use sluicegate_platform::desired::provision::KnownNames;
use std::time::Duration;

const LONGEST: u64 = 30 * 24 * 60 * 60;

/// How long to wait and how often to poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    pub first: Duration,
    /// Maximum time of the complete wait.
    pub limit: Duration,
}

impl Sources<'_> {
    /// Returns how long to wait and how often to poll. The default of the limit is `default` seconds.
    pub fn waiting(&self, args: &PaceArgs, default: u64) -> Result<Waiting, SettingsError> {
        let first = self.layers().pick(
            args.poll_interval,
            variable::POLL_INTERVAL,
            parse_seconds,
            self.file.poll_interval,
        )?;
        let first = match by_variable(variable::POLL_INTERVAL).map(|setting| setting.look) {
            Some(Look::Seconds { least, most, default }) => {
                within(first, default, least, most, "poll interval")?
            }
            _ => first.unwrap_or_default(),
        };
        let limit = within(args.timeout, default, 0, LONGEST, "timeout")?;
        Ok(Waiting {
            first: Duration::from_secs_f64(first),
            limit: Duration::from_secs(limit),
        })
    }

    /// Returns the environment to run pipelines in.
    pub fn environment(&self, flag: Option<String>) -> Result<String, SettingsError> {
        let file = self.file.environment.clone();
        self.layers()
            .expanded_text(flag, variable::ENVIRONMENT, file)?
            .ok_or_else(|| {
                let hint = format!("pass --environment or set {}", variable::ENVIRONMENT);
                SettingsError::new("the environment is not set").with_hint(hint)
            })
    }

    /// Returns the status that terminates an execution, which the API document does not define.
    pub fn cancel_status(&self, flag: Option<String>) -> String {
        let file = self.file.cancel_status.clone();
        self.layers().name(flag, variable::CANCEL_STATUS, file)
    }

    /// Returns the real names behind the neutral names of the API document, which are the defaults.
    pub fn vocabulary(&self, args: &VocabularyArgs) -> KnownNames {
        let file = &self.file.vocabulary;
        let name = |flag: &Option<String>, variable, file: &Option<String>| {
            self.layers().name(flag.clone(), variable, file.clone())
        };
        KnownNames {
            key_pair_warehouse: name(&args.warehouse_a, variable::WAREHOUSE_A, &file.warehouse_a),
            password_warehouse: name(&args.warehouse_b, variable::WAREHOUSE_B, &file.warehouse_b),
            git_provider: name(&args.git_provider, variable::GIT_PROVIDER, &file.git_provider),
        }
    }

    /// Returns the secret type of the cloud secrets manager.
    pub fn key_vault(&self, flag: Option<String>) -> String {
        let file = self.file.vocabulary.key_vault.clone();
        self.layers().name(flag, variable::KEY_VAULT, file)
    }
}
