//! Settings of what goes on remotely: how to wait and where to run.

use super::platform::within;
use super::{SettingsError, Sources};
use crate::cli::PaceArgs;
use crate::env;
use std::time::Duration;

const LONGEST: u64 = 30 * 24 * 60 * 60;

/// How long and how often to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// Between the first looks.
    pub first: Duration,
    /// In all.
    pub limit: Duration,
}

impl Sources<'_> {
    /// How to wait, where nothing is said for `default` seconds.
    pub fn waiting(&self, args: &PaceArgs, default: u64) -> Result<Waiting, SettingsError> {
        let parse = |text: &str| {
            text.trim()
                .parse::<f64>()
                .map_err(|_| format!("{text:?} is no number"))
        };
        let first = self.layers().pick(
            args.poll_interval,
            env::POLL_INTERVAL,
            parse,
            self.file.poll_interval,
        )?;
        let first = within(first, 1.0, 0.001, 3600.0, "poll interval")?;
        let limit = within(args.timeout, default, 0, LONGEST, "timeout")?;
        Ok(Waiting {
            first: Duration::from_secs_f64(first),
            limit: Duration::from_secs(limit),
        })
    }

    /// The environment that pipelines run in.
    pub fn environment(&self, flag: Option<String>) -> Result<String, SettingsError> {
        let file = self.file.environment.clone();
        self.layers().text(flag, env::ENVIRONMENT, file).ok_or_else(|| {
            let hint = format!("give --environment or set {}", env::ENVIRONMENT);
            SettingsError::new("the environment is not set").with_hint(hint)
        })
    }

    /// The status that terminates an execution; the API document leaves it open.
    pub fn cancel_status(&self, flag: Option<String>) -> String {
        let file = self.file.cancel_status.clone();
        self.layers()
            .text(flag, env::CANCEL_STATUS, file)
            .unwrap_or_else(|| "CANCELLED".to_owned())
    }
}
