//! `sluicegate context`.

use super::{OutputArgs, SelectionArgs};
use clap::Args;

const EXAMPLES: &str = "Examples:
  sluicegate context
  sluicegate context -o json | jq .base
  sluicegate context --deepen";

/// Explains what was detected, and why.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct ContextArgs {
    /// Which pipelines.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// The branch name sent to the platform [env: SLUICEGATE_BRANCH] [default: detected]
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// How it is shown.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The same as -o json
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
}
