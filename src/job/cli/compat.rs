//! The flags for changes that break consumers of shared pipelines.

use super::CompatMode;
use clap::Args;

/// Flags of every command that compares the interfaces of shared pipelines.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Verdict")]
pub struct CompatArgs {
    /// How to treat a change that breaks consumers of shared pipelines [env: SLUICEGATE_COMPAT] [default: warn]
    #[arg(long, value_name = "ACTION")]
    pub compat: Option<CompatMode>,
    /// Accept changes that break consumers, and record this reason [env: SLUICEGATE_ACCEPT_BREAKING]
    #[arg(long, value_name = "REASON")]
    pub accept_breaking: Option<String>,
}
