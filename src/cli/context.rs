//! `sluicegate context`.

use super::SelectionArgs;
use clap::Args;

const EXAMPLES: &str = "Examples:
  sluicegate context
  sluicegate context --json | jq .base
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
    /// One JSON document instead of text
    #[arg(long)]
    pub json: bool,
}
