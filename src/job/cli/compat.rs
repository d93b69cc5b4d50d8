//! What a break of consumers means, for every command that compares.

use super::Compat;
use clap::Args;

/// What it means that consumers of shared pipelines would break: the flags of every command that compares.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Verdict")]
pub struct CompatArgs {
    /// What it means that consumers of shared pipelines would break [env: SLUICEGATE_COMPAT] [default: warn]
    #[arg(long, value_name = "ACTION")]
    pub compat: Option<Compat>,
    /// Let consumers break, for this reason, which is recorded [env: SLUICEGATE_ACCEPT_BREAKING]
    #[arg(long, value_name = "REASON")]
    pub accept_breaking: Option<String>,
}
