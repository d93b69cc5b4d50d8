//! The flags of the smoke runs that follow a publish.

use super::OnSmokeFailure;
use clap::Args;

/// Flags of the smoke runs of a published version.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Publish")]
pub struct SmokeFlags {
    /// Run this published pipeline after publishing. If it does not end in SUCCESS, disable the new version and exit
    /// with code 8 (repeatable) [env: SLUICEGATE_SMOKE, one per line]
    #[arg(long, value_name = "PIPELINE")]
    pub smoke: Vec<String>,
    /// UUID of the project for the smoke runs: one UUID for all runs, or one UUID for each run (repeatable)
    /// [env: SLUICEGATE_SMOKE_PROJECT, one per line]
    #[arg(long, value_name = "ID")]
    pub smoke_project: Vec<String>,
    /// Environment for the smoke runs: one environment for all runs, or one environment for each run (repeatable)
    /// [env: SLUICEGATE_SMOKE_ENVIRONMENT, one per line]
    #[arg(long, value_name = "NAME")]
    pub smoke_environment: Vec<String>,
    /// Maximum time to wait for all smoke runs together, in seconds [env: SLUICEGATE_SMOKE_TIMEOUT] [default: 1800]
    #[arg(long, value_name = "SECONDS")]
    pub smoke_timeout: Option<u64>,
    /// Action to take on the version if a smoke run does not succeed [env: SLUICEGATE_ON_SMOKE_FAILURE]
    /// [default: disable]
    #[arg(long, value_name = "ACTION")]
    pub on_smoke_failure: Option<OnSmokeFailure>,
}
