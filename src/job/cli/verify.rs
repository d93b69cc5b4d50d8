//! `sluicegate verify`.

use super::OutputArgs;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate verify receipt.json
  sluicegate verify --attestation publication.intoto.json
  sluicegate verify --attestation review.intoto.json

The program does not check signatures. Check them first, with `gh attestation verify` or
`cosign verify-blob-attestation`.";

/// Checks a published version against its receipt or its statement, or a review against its statement.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    /// Receipt that `publish --receipt` wrote [env: SLUICEGATE_RECEIPT]
    #[arg(value_name = "RECEIPT")]
    pub receipt: Option<PathBuf>,
    /// In-toto statement that `publish --attestation` or `review --attestation` wrote; it is compared with the platform
    /// and with the clone, but its signature is not checked
    #[arg(long, value_name = "FILE", conflicts_with = "receipt")]
    pub attestation: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}
