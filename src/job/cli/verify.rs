//! `sluicegate verify`.

use super::OutputArgs;
use clap::Args;
use std::path::PathBuf;

/// Proves that what is published is what a receipt says.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  sluicegate verify receipt.json")]
pub struct VerifyArgs {
    /// The receipt that a publish wrote
    #[arg(value_name = "RECEIPT")]
    pub receipt: PathBuf,
    /// How to show it.
    #[command(flatten)]
    pub output: OutputArgs,
}
