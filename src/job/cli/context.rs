//! `sluicegate context`.

use super::{OutputArgs, SelectionArgs};
use clap::Args;

const EXAMPLES: &str = "Examples:
  sluicegate context
  sluicegate context -o json | jq .base
  sluicegate context --deepen";

/// Explains the detected commit, branch and base.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct ContextArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Branch name to send to the platform [env: SLUICEGATE_BRANCH] [default: detected]
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Print JSON, as -o json does
    #[arg(long, conflicts_with = "output", hide = true)]
    pub json: bool,
}
