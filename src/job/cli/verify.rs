//! `sluicegate verify`.

use super::OutputArgs;
use clap::Args;
use std::path::PathBuf;

/// Checks a published version against its receipt.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  sluicegate verify receipt.json")]
pub struct VerifyArgs {
    /// Receipt that `publish --receipt` wrote
    #[arg(value_name = "RECEIPT")]
    pub receipt: PathBuf,
    #[command(flatten)]
    pub output: OutputArgs,
}
