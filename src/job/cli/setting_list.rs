//! `sluicegate settings`.

use super::OutputArgs;
use clap::Args;

const EXAMPLES: &str = "Examples:
  sluicegate settings
  sluicegate settings fail-on timeout
  sluicegate settings -o json | jq '.settings[] | select(.origin != \"default\")'";

/// Lists the effective settings with their origins.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct SettingsArgs {
    /// List only settings whose names contain one of these texts [default: all settings]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    #[command(flatten)]
    pub output: OutputArgs,
}
